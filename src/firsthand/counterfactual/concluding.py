"""From investigations to claims: labels, and another implementation of each edit, measured on a batch of its own."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.analysis.wrong_labels import SetErrors
from firsthand.counterfactual.asking import Bench, sample
from firsthand.counterfactual.claiming import Claiming, ClaimRule, claims_of, errors_of
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.filters import Filters, Sieved, filtered, other_implementation, reproduces
from firsthand.counterfactual.funnel import Funnel, claimed, sieved, step
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.responses import Request
from firsthand.progress import Progress

PROGRAMS: Final = Filters(concreteness=None)
"""Filters of a run in which nobody judges how concrete a mechanism is."""


@dataclass(frozen=True, eq=False)
class Concluded:
    """What investigations allow to claim.

    Attributes:
        claims: All claims: the unfiltered set.
        stages: What each filter kept; the last one holds the filtered set.
        funnel: Counts at every stage.
        errors: Estimated errors of the labels; ``None`` if nothing was measured.
    """

    claims: tuple[Claim, ...]
    stages: tuple[Sieved, ...]
    funnel: Funnel
    errors: SetErrors | None

    @property
    def filtered(self) -> tuple[Claim, ...]:
        """Claims that passed every filter."""
        return self.stages[-1].claims


def conclude(
    investigations: Sequence[Investigation],
    bench: Bench,
    samples: int,
    progress: Progress,
    *,
    filters: Filters = PROGRAMS,
    reproduce: bool = True,
) -> Concluded:
    """Make claims, and measure another implementation of the edit of each.

    Args:
        investigations: All investigations that were begun.
        bench: Where batches come from and are judged.
        samples: Responses to another implementation, as many as every batch has.
        progress: Who is told.
        filters: What a claim of the filtered set needs.
        reproduce: Whether other implementations are measured; without, no claim is known to be reproduced.
    """
    rule = ClaimRule()
    filed = [one for one in investigations if one.report is not None]
    claimings = [claims_of(one, rule) for one in filed]
    claims = tuple(claim for one in claimings for claim in one.claims)
    if reproduce:
        claims = _reproduced(claims, bench, samples, progress)
    stages = filtered(claims, filters)
    return Concluded(claims, stages, _funnel(investigations, claimings, stages), errors_of(claimings, rule))


def _reproduced(claims: Sequence[Claim], bench: Bench, samples: int, progress: Progress) -> tuple[Claim, ...]:
    """Claims that say whether another implementation had the effect, where there is one and the budget allows it."""
    requests: dict[str, Request] = {}
    for claim in claims:
        other = other_implementation(claim.edit, claim.prompt)
        if other is not None:
            prompt = edited(claim.prompt, other)
            requests[claim.id] = Request(prompt=prompt, batch=f"reproduce.{claim.experiment}", samples=samples)
    drawn = sample(bench, list(requests.values()), "measuring other implementations", progress)
    known = {one: request for (one, request), given in zip(requests.items(), drawn, strict=True) if given is not None}
    asked = [claim for claim in claims if claim.id in known]
    rates = bench.rates([(claim.behaviour, known[claim.id]) for claim in asked])
    held = {claim.id: reproduces(claim, rate) for claim, rate in zip(asked, rates, strict=True)}
    return tuple(claim.model_copy(update={"reproduced": held.get(claim.id)}) for claim in claims)


def _funnel(investigations: Sequence[Investigation], claimings: Sequence[Claiming], stages: Sequence[Sieved]) -> Funnel:
    unfiled = Counter(one.ended or "ended without a report" for one in investigations if one.report is None)
    begun = step("a report was filed", "investigations", len(claimings), unfiled)
    return Funnel(steps=(begun,)) + claimed(claimings) + sieved(stages)
