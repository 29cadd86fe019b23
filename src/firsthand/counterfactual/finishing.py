"""What a finished run leaves in its folder: the one place where investigations become files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.running import Ran
from firsthand.progress import Progress
from firsthand.trials.files import write_atomic, write_json
from firsthand.version import __version__

SCHEMA: Final = 1


@dataclass(frozen=True)
class Left:
    """The files of a finished run.

    Attributes:
        result: What was found, as JSON.
        investigations: Every investigation, one a line.
    """

    result: Path
    investigations: Path


def finish(ran: Ran, folder: Path, target: dict[str, Any], progress: Progress) -> Left:
    """Write everything that a run found.

    Args:
        ran: What was found.
        folder: The run's folder.
        target: What identifies the target, for a reader.
        progress: Who is told.

    Returns:
        Where it lies.

    Raises:
        TraceError: If something cannot be written.
    """
    progress.say("writing the result")
    left = Left(folder / "result.json", folder / "investigations.jsonl")
    lines = [one.model_dump_json() + "\n" for one in ran.investigations]
    write_atomic(left.investigations, "".join(lines).encode())
    write_json(left.result, document(ran, target))
    return left


def document(ran: Ran, target: dict[str, Any]) -> dict[str, Any]:
    """What a run found, as plain JSON values."""
    return {
        "schema_version": SCHEMA,
        "package_version": __version__,
        "target": {"identity": ran.target, **target},
        "settings": ran.settings.model_dump(mode="json"),
        "prompts": len(ran.prompts) + ran.repeated,
        "accounts": ran.accounts(),
        "spent": ran.spent._asdict(),
        "screened": [one.model_dump(mode="json") for one in ran.screening.screened],
        "nothing": [{"prompt": prompt.id, "place": prompt.place, "why": why} for prompt, why in ran.screening.nothing],
        "investigations": [one.model_dump(mode="json") for one in ran.investigations],
    }
