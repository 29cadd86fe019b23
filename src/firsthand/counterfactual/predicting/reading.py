"""Claims from a file, with the responses that their transcripts are made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firsthand.analysis.units import units_of
from firsthand.counterfactual.claim_files import CARD, read_claims
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

CONCRETE: Final = 3
"""Least concreteness of a claim that passes the filters (arXiv 2608.16747, section 2.3)."""


@dataclass(frozen=True, eq=False)
class ReadClaims:
    """What was read.

    Attributes:
        name: Name of the file or folder.
        sha256: Fingerprint of the claims, whatever form they were read in.
        claims: The claims, each once.
        dropped: Claims that were left out, by reason.
    """

    name: str
    sha256: str
    claims: tuple[Claim, ...]
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[str, ...]:
        """Identities of the targets."""
        return tuple(dict.fromkeys(claim.target for claim in self.claims))


def read(path: Path) -> ReadClaims:
    """Read claims that ``firsthand investigate`` exported, or anyone's in that format.

    Args:
        path: A file of JSON lines or Parquet, the folder of an export, or that of a run that made one.

    Raises:
        CounterfactualError: If it cannot be read, or a row is no claim.
    """
    if path.is_dir() and not (path / CARD).exists():
        path = path / "claims"
        if not (path / CARD).exists():
            raise CounterfactualError(
                f"{path.parent} holds no exported claims.",
                "Name a run of `firsthand investigate`, an export, or a .jsonl or .parquet.",
            )
    claims = tuple(read_claims(path))
    return ReadClaims(path.name, digest([one.model_dump(mode="json") for one in claims]), claims)


def response_of(claim: Claim) -> Response | None:
    """The response that a claim's transcript ends in: the first that says something; ``None`` if there is none.

    Choosing one that shows the behaviour would tell more than the baseline does.
    """
    return next((one.response for one in claim.responses if not one.response.missing), None)


def units_named(claims: Sequence[Claim]) -> list[str]:
    """The independent unit of each claim: those that share a prompt, a cluster or a template family are one."""
    return [f"unit {number}" for number in units_of([claim.ties for claim in claims]).tolist()] if claims else []


def passes_filters(claim: Claim, rated: bool) -> bool:
    """Whether a claim passes every filter; what nobody judged has not passed.

    Args:
        claim: The claim. If it says itself whether it is in the filtered set of its run, that counts.
        rated: Whether concreteness was judged in this set at all; where it was not, it is not asked for.
    """
    if claim.filtered is not None:
        return claim.filtered
    concrete = not rated or (claim.concreteness or 0) >= CONCRETE
    return concrete and claim.reproduced is True and claim.single_factor is True
