"""In how many runs a sample's calls were lost: what fails in every one of them is its own outcome in the end."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from firsthand.errors import FirsthandError
from firsthand.trials.files import read_json, write_json

MOST: Final = 3
"""Runs in which a sample's calls are lost, after which that is recorded."""

_NAME: Final = "attempts.json"


def attempts_in(folder: Path, stage: str) -> dict[str, int]:
    """Runs before this one in which a call of a sample was lost, by sample."""
    return _read(folder).get(stage, {})


def note_attempts(folder: Path, stage: str, waiting: Iterable[str]) -> None:
    """Count one more run for samples whose call was lost; runs that an outage ended are not counted.

    Args:
        folder: The run's folder.
        stage: The stage.
        waiting: The samples.
    """
    names = sorted(waiting)
    if names:
        held = _read(folder)
        of = held.setdefault(stage, {})
        of.update({name: of.get(name, 0) + 1 for name in names})
        write_json(folder / _NAME, held)


def _read(folder: Path) -> dict[str, dict[str, int]]:
    try:
        held = read_json(folder / _NAME) if (folder / _NAME).exists() else {}
    except FirsthandError:  # a count that is lost only makes a sample wait longer
        return {}
    return held if isinstance(held, dict) else {}
