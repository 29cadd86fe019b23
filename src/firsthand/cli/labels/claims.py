"""Claims of label studies on the command line: from a file, from options, and the standard one of a study."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from firsthand.claims import lock_path, read_frozen
from firsthand.claims.files import listed, read_claim_as
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import LabelsClaim
from firsthand.claims.studies import LABEL_STUDIES, command_of
from firsthand.errors import ClaimError

C = TypeVar("C", bound=BaseModel)


def claim_from(path: Path | None, fields: Mapping[str, Any], kind: type[C]) -> tuple[C, FrozenLabels | None]:
    """The claim to be run: one from a file, frozen or not, or one made of options.

    Args:
        path: A claim in YAML, its frozen form, or nothing.
        fields: Fields of the claim that options gave; ``None`` where an option said nothing.
        kind: The study's claim.

    Returns:
        The claim, and its frozen form where there is one: before the run, it has to be compared with the model
        (:meth:`~firsthand.claims.freeze.Frozen.refuse_if_changed`).

    Raises:
        ClaimError: If a file is missing or holds another claim, the claim was changed after it was frozen, options
            stand beside a file, or they do not fit.
    """
    given = {name: value for name, value in fields.items() if value is not None}
    if path is None:
        return _made(given, kind), None
    if given:
        raise ClaimError(
            f"--claim holds all settings; {', '.join(sorted(given))} would change it.",
            "Put them into the claim and leave the options out.",
        )
    if path.name.endswith(".frozen.json"):
        return _of_kind(read_frozen(path, FrozenLabels), kind, path)
    claim, lock = read_claim_as(path, kind), lock_path(path)
    return claim, read_frozen(lock, FrozenLabels) if lock.exists() else None


def standard_claim(study: str, model: str, data: Path | None) -> LabelsClaim:
    """The standard claim of a label study.

    Args:
        study: Its name.
        model: The model that is judged.
        data: The data that it is made on.

    Raises:
        ClaimError: If the study needs data and none are given, or the other way round.
        LabelsError: If the data cannot be read.
    """
    kind = LABEL_STUDIES[study]
    fields: dict[str, Any] = {"model": model} if "model" in kind.model_fields else {}
    if study in FROM_DATA:
        fields |= FROM_DATA[study](data, model)
    needed = sorted(name for name, field in kind.model_fields.items() if field.is_required() and name not in fields)
    if needed:
        raise ClaimError(
            f"A claim of the study {study} needs {', '.join(needed)}, which cannot be told from here.",
            f"Run the study with options instead: firsthand {command_of(study)} --help.",
        )
    return _made(fields, kind)  # type: ignore[return-value]


def _made(fields: Mapping[str, Any], kind: type[C]) -> C:
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise ClaimError(f"The options do not fit:\n{listed(error)}\n", "Correct them.") from error


def _of_kind(frozen: FrozenLabels, kind: type[C], path: Path) -> tuple[C, FrozenLabels]:
    if not isinstance(frozen.claim, kind):
        raise ClaimError(
            f"{path} holds a claim of the study {frozen.claim.study}.",
            f"Run it with: firsthand {command_of(frozen.claim.study)} --claim {path}",
        )
    return frozen.claim, frozen


def _biofeedback(data: Path | None, model: str) -> dict[str, Any]:
    from firsthand.cli.labels.biofeedback import from_data

    return from_data(data, model)


FROM_DATA: Final[dict[str, Callable[[Path | None, str], dict[str, Any]]]] = {"biofeedback": _biofeedback}
"""For each study on data, what the data give its claim: their hash, under the name of its field.

A study whose data come with the package takes ``None`` for them.
"""
