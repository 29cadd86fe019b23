"""From prompts to claims: how many there were at every stage, and what became of the others (the paper's Table 2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Self

from pydantic import Field, model_validator

from firsthand.counterfactual.claiming import Claiming
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.filters import Sieved
from firsthand.counterfactual.investigation import Investigation, mean_score
from firsthand.counterfactual.part import Part


class Step(Part):
    """One stage.

    Attributes:
        name: What the stage does, in a few words.
        unit: What is counted, in the plural: prompts, investigations, experiments, claims.
        given: How many came in.
        kept: How many went on.
        dropped: How many did not, by reason.
        true: Of claims, how many are true.
        clusters: Of claims, how many clusters they come from.
    """

    name: str
    unit: str
    given: int
    kept: int
    dropped: dict[str, int] = Field(default_factory=dict)
    true: int | None = None
    clusters: int | None = None

    @model_validator(mode="after")
    def _accounts_for_all(self) -> Self:
        if self.given != self.kept + sum(self.dropped.values()):
            raise ValueError(
                f"{self.name}: {self.given} came in, {self.kept} were kept and {sum(self.dropped.values())} dropped"
            )
        return self


class Funnel(Part):
    """All stages, in order. Everything that came into one was kept or is counted with a reason."""

    steps: tuple[Step, ...] = ()

    @model_validator(mode="after")
    def _joins_up(self) -> Self:
        for before, after in zip(self.steps, self.steps[1:], strict=False):
            if before.unit == after.unit and before.kept != after.given:
                raise ValueError(f"{before.name} kept {before.kept} {before.unit}, and {after.name} got {after.given}")
        return self

    def __add__(self, other: "Funnel") -> "Funnel":
        """Stages of one after those of another."""
        return Funnel(steps=(*self.steps, *other.steps))


def step(name: str, unit: str, kept: int, dropped: Mapping[str, int]) -> Step:
    """A stage from what it kept and what it dropped, those that dropped nothing left out."""
    counted = {reason: count for reason, count in sorted(dropped.items()) if count}
    return Step(name=name, unit=unit, given=kept + sum(counted.values()), kept=kept, dropped=counted)


def verified(investigation: Investigation, least: float = 8.0) -> bool:
    """Whether the judges find a report supported: the mean of their valid scores is at least so much.

    No report, or no valid judgement, is not verified (arXiv 2608.16747, appendix B.1: 8 to evaluate, 7 to train).
    """
    return _unverified(investigation, least) is None


def investigated(investigations: Sequence[Investigation], least: float = 8.0) -> Funnel:
    """Stages from investigations that were begun to those that are verified.

    Args:
        investigations: All that were begun.
        least: Least mean score of the judges.
    """
    filed = [one for one in investigations if one.report is not None]
    unfiled = Counter(one.ended or "ended without a report" for one in investigations if one.report is None)
    unverified = Counter(reason for one in filed if (reason := _unverified(one, least)) is not None)
    return Funnel(
        steps=(
            step("a report was filed", "investigations", len(filed), unfiled),
            step("judges find it supported", "investigations", len(filed) - unverified.total(), unverified),
        )
    )


def claimed(claimings: Iterable[Claiming]) -> Funnel:
    """The stage from experiments to claims.

    Args:
        claimings: What became of each investigation's experiments.
    """
    given = list(claimings)
    claims = [claim for one in given for claim in one.claims]
    left_out = Counter(left.reason for one in given for left in one.left_out)
    made = step("makes a claim", "experiments", len(claims), {str(k): v for k, v in left_out.items()})
    return Funnel(steps=(_of_claims(made, claims), _of_claims(step("all claims", "claims", len(claims), {}), claims)))


def described(claims: Sequence[Claim], lost: Mapping[str, int]) -> Funnel:
    """The stage in which a model puts edits into words, after :func:`claimed`.

    Args:
        claims: Those that it did.
        lost: How many it did not, by reason.
    """
    return Funnel(steps=(_of_claims(step("described", "claims", len(claims), lost), claims),))


def sieved(stages: Iterable[Sieved]) -> Funnel:
    """Stages of the filters, after :func:`claimed`."""
    return Funnel(
        steps=tuple(
            _of_claims(step(f"+ {one.stage}", "claims", len(one.claims), one.dropped), one.claims) for one in stages
        )
    )


def _of_claims(made: Step, claims: Sequence[Claim]) -> Step:
    return made.model_copy(
        update={"true": sum(one.label for one in claims), "clusters": len({one.cluster for one in claims})}
    )


def _unverified(investigation: Investigation, least: float) -> str | None:
    if investigation.report is None:
        return "no report"
    score = mean_score(investigation.judgements)
    if score is None:
        return "too few valid judgements" if investigation.judgements else "no judgement"
    return None if score >= least else f"mean score below {least:g}"
