"""Freezing: a claim bound to the model, tokenizer and package that it was written for.

The hash is a SHA-256 over the canonical claim and its bindings. A run compares the claim it is given with the frozen
one field by field and refuses to start if anything differs, naming what.
"""

import json
from pathlib import Path
from typing import Any, Self, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from firsthand.claims.claim import Claim
from firsthand.claims.injection import InjectionClaim
from firsthand.claims.labels import LabelsClaim
from firsthand.errors import ClaimError
from firsthand.trials.canonical import digest
from firsthand.trials.files import write_json

LONGEST = 72
"""How much of a value is quoted where it differs; a SHA-256 fits."""


class Bindings(BaseModel):
    """What a frozen claim is bound to."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    weights_sha256: str
    tokenizer_sha256: str
    config_sha256: str
    package_version: str


class Frozen(BaseModel):
    """A claim of some study, what it is bound to, and the hash of both."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: Any
    bindings: Bindings
    sha256: str

    @classmethod
    def of(cls, claim: BaseModel, bindings: Bindings) -> Self:
        """Freeze a claim."""
        return cls(claim=claim, bindings=bindings, sha256=claim_hash(claim, bindings))

    def check(self) -> None:
        """Refuse a frozen claim whose content no longer has its hash.

        Raises:
            ClaimError: If it was edited after freezing.
        """
        if claim_hash(self.claim, self.bindings) != self.sha256:
            raise ClaimError(
                f"The frozen claim was changed after freezing: its content does not have the hash {self.sha256[:12]}.",
                "Restore it, or freeze the changed claim anew with: firsthand claim freeze CLAIM",
            )

    def refuse_if_changed(self, claim: BaseModel, bindings: Bindings) -> None:
        """Compare with what is about to be run.

        Raises:
            ClaimError: If the claim, the model, the tokenizer or the package differs; the message names every
            difference.
        """
        self.check()
        before = {"claim": self.claim.model_dump(mode="json"), **self.bindings.model_dump()}
        after = {"claim": claim.model_dump(mode="json"), **bindings.model_dump()}
        differences = list(_differences(before, after))
        if differences:
            listed = "; ".join(differences)
            raise ClaimError(
                f"The claim changed after it was frozen ({self.sha256[:12]}): {listed}.",
                "Undo the change, or freeze the new claim and run it in a new folder.",
            )


class FrozenClaim(Frozen):
    """A frozen claim of the register study."""

    claim: Claim


class FrozenInjection(Frozen):
    """A frozen claim of an injection study."""

    claim: InjectionClaim


class FrozenLabels(Frozen):
    """A frozen claim of a label study."""

    claim: LabelsClaim


def claim_hash(claim: BaseModel, bindings: Bindings) -> str:
    """SHA-256 over the canonical claim and its bindings."""
    return digest({"claim": claim.model_dump(mode="json"), "bindings": bindings.model_dump()})


def lock_path(claim_path: Path) -> Path:
    """Where the frozen form of a claim file lies: beside it, ``NAME.frozen.json``."""
    return claim_path.with_suffix(".frozen.json")


def write_frozen(path: Path, frozen: Frozen) -> None:
    """Write a frozen claim as JSON."""
    write_json(path, frozen.model_dump(mode="json"))


F = TypeVar("F", bound=Frozen)


@overload
def read_frozen(path: Path) -> FrozenClaim: ...
@overload
def read_frozen(path: Path, kind: type[F]) -> F: ...
def read_frozen(path: Path, kind: type[Frozen] = FrozenClaim) -> Frozen:
    """Read a frozen claim and check its hash.

    Args:
        path: The file.
        kind: Of which study.

    Raises:
        ClaimError: If it is missing, malformed, of another study, or changed after freezing.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        frozen = kind.model_validate(value)
    except FileNotFoundError as error:
        raise ClaimError(
            f"The claim is not frozen: {path} does not exist.", "Freeze it first: firsthand claim freeze CLAIM"
        ) from error
    except (ValueError, ValidationError, OSError) as error:
        raise ClaimError(f"{path} is not a frozen claim of this study: {error}", "Freeze the claim again.") from error
    frozen.check()
    return frozen


def _differences(before: Any, after: Any, where: str = "") -> "list[str]":
    if isinstance(before, dict) and isinstance(after, dict):
        found = []
        for key in sorted({*before, *after}):
            place = f"{where}.{key}" if where else str(key)
            found += _differences(before.get(key), after.get(key), place)
        return found
    if before == after:
        return []
    old, new = json.dumps(before), json.dumps(after)
    start = _first_difference(old, new)
    return [f"{where} was {_short(old, start)}, is {_short(new, start)}"]


def _first_difference(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _short(text: str, at: int) -> str:
    """At most :data:`LONGEST` characters of ``text``, those around position ``at`` among them."""
    if len(text) <= LONGEST:
        return text
    start = min(max(0, at - LONGEST // 3), len(text) - LONGEST)
    cut = text[start : start + LONGEST]
    return ("..." if start else "") + cut + ("..." if start + LONGEST < len(text) else "")
