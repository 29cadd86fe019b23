"""Claims of label studies on the command line: from a file, or from options and data."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from firsthand.auditing.running import bindings_of
from firsthand.claims import lock_path, read_frozen
from firsthand.claims.files import listed, read_claim_as
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.studies import command_of
from firsthand.engine import LoadedModel
from firsthand.errors import ClaimError

C = TypeVar("C", bound=BaseModel)
NOTHING: Final = object()
"""The value of an option that leaves something out, where ``None`` means that the option was not given."""
HASH: Final = "_sha256"
"""Ends the names of fields that say which data a claim is made on."""


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


@dataclass(frozen=True)
class Draft(Generic[C]):
    """A claim before the data are read: a file holds it, or options and data will make it.

    Attributes:
        kind: The study's claim.
        fields: Fields that options gave.
        held: What a file holds: the claim, and its frozen form where there is one.
    """

    kind: type[C]
    fields: Mapping[str, Any]
    held: tuple[C, FrozenLabels | None] | None

    @classmethod
    def of(cls, path: Path | None, fields: Mapping[str, Any], kind: type[C]) -> "Draft[C]":
        """Take up a claim; for what is raised see :func:`claim_from`."""
        return cls(kind, fields, None if path is None else claim_from(path, fields, kind))

    def value(self, name: str) -> Any:
        """What the claim will say of a field that the data say nothing of; ``None`` where it is not known yet."""
        if self.held is not None:
            return getattr(self.held[0], name)
        given, field = self.fields.get(name), self.kind.model_fields[name]
        if given is None and not field.is_required():
            given = field.default
        return given

    def settled(self, found: Mapping[str, Any]) -> C:
        """The claim.

        Args:
            found: What the data give: their hash, under the name of its field, and what options may say otherwise.

        Raises:
            ClaimError: If the options do not fit, or the file's claim is about other data.
        """
        if self.held is None:
            given = {name: value for name, value in self.fields.items() if value is not None}
            return claim_from(None, {**found, **given}, self.kind)[0]
        claim = self.held[0]
        changed = [name for name, now in found.items() if name.endswith(HASH) and getattr(claim, name) != now]
        if changed:
            raise ClaimError(
                "The data are not those that the claim names: "
                + "; ".join(f"{name} is {found[name]}, and the claim has {getattr(claim, name)}" for name in changed)
                + ".",
                "Give the same data with the same options for reading them, or make a new claim.",
            )
        return claim

    def bound_to(self, claim: C, loaded: LoadedModel) -> None:
        """Compare a frozen claim with what is about to be run.

        Raises:
            ClaimError: If the claim, the model, its tokenizer or the package changed after it was frozen.
        """
        if self.held is not None and self.held[1] is not None:
            self.held[1].refuse_if_changed(claim, bindings_of(loaded))


def _made(fields: Mapping[str, Any], kind: type[C]) -> C:
    try:
        return kind.model_validate({name: None if value is NOTHING else value for name, value in fields.items()})
    except ValidationError as error:
        raise ClaimError(f"The options do not fit:\n{listed(error)}\n", "Correct them.") from error


def _of_kind(frozen: FrozenLabels, kind: type[C], path: Path) -> tuple[C, FrozenLabels]:
    if not isinstance(frozen.claim, kind):
        raise ClaimError(
            f"{path} holds a claim of the study {frozen.claim.study}.",
            f"Run it with: firsthand {command_of(frozen.claim.study)} --claim {path}",
        )
    return frozen.claim, frozen
