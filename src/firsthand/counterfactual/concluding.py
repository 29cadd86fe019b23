"""From investigations to claims: labels, and another implementation of each edit, measured on batches of its own."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from firsthand.analysis.floor import Floor, floor_of
from firsthand.analysis.units import units_of
from firsthand.analysis.wrong_labels import SetErrors
from firsthand.counterfactual.asking import Bench, sample
from firsthand.counterfactual.claiming import Claiming, claims_of, errors_of
from firsthand.counterfactual.claims import Claim, Reproduction
from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.filters import Filters, Sieved, alike, filtered
from firsthand.counterfactual.funnel import Funnel, claimed, sieved, step
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.reproducing import other_implementation, reproduces
from firsthand.counterfactual.responses import Request
from firsthand.counterfactual.running import SCREEN, RunSettings
from firsthand.counterfactual.surface import Surface, columns_of, surface_of
from firsthand.counterfactual.transcripts import Transcripts, transcripts_of
from firsthand.progress import Progress

PROGRAMS: Final = Filters(concreteness=None)
"""Filters of a run in which nobody judges how concrete a mechanism is."""

BASELINE: Final = "reproduce.baseline"
"""Name of the batch that reproductions are held against."""


@dataclass(frozen=True, eq=False)
class Concluded:
    """What investigations allow to claim.

    Attributes:
        claims: All claims: the unfiltered set.
        stages: What each filter kept; the last one holds the filtered set.
        pairs: Claims of the filtered set that have a partner of the other label which looks alike: the matched set.
        funnel: Counts at every stage.
        errors: Estimated errors of the labels of each set, by its name; empty if nothing was measured.
        floors: How far the labels of each set can be told without prompt and model, by its name.
        transcripts: Some of what the target said to the prompts as they are, by investigation.
    """

    claims: tuple[Claim, ...]
    stages: tuple[Sieved, ...]
    pairs: Sieved
    funnel: Funnel
    errors: Mapping[str, SetErrors] = field(default_factory=dict)
    floors: Mapping[str, Floor] = field(default_factory=dict)
    transcripts: Transcripts = field(default_factory=dict)

    @property
    def filtered(self) -> tuple[Claim, ...]:
        """Claims that passed every filter."""
        return self.stages[-1].claims

    @property
    def matched(self) -> tuple[Claim, ...]:
        """Those of them that have a partner which looks alike."""
        return self.pairs.claims

    @property
    def sets(self) -> dict[str, tuple[Claim, ...]]:
        """All sets, by name."""
        return {"unfiltered": self.claims, "filtered": self.filtered, "matched": self.matched}


def conclude(
    investigations: Sequence[Investigation],
    bench: Bench,
    settings: RunSettings,
    progress: Progress,
    *,
    filters: Filters = PROGRAMS,
) -> Concluded:
    """Make claims, and measure another implementation of the edit of each.

    Args:
        investigations: All investigations that were begun.
        bench: Where batches come from and are judged.
        settings: How many responses other implementations get, and the size of all other batches.
        progress: Who is told.
        filters: What a claim of the filtered set needs.
    """
    filed = [one for one in investigations if one.report is not None]
    claimings = [claims_of(one) for one in filed]
    claims = tuple(claim for one in claimings for claim in one.claims)
    if settings.reproductions:
        claims = _reproduced(claims, bench, settings.reproductions, progress)
    unfiled = Counter(one.ended or "ended without a report" for one in investigations if one.report is None)
    begun = Funnel(steps=(step("a report was filed", "investigations", len(filed), unfiled),))
    size = settings.sampling.samples
    batches = ((BASELINE, settings.reproductions), ("baseline.1", size), (SCREEN, size))
    return put_together(claims, claimings, begun + claimed(claimings), filters, transcripts_of(filed, bench, batches))


def put_together(
    claims: Sequence[Claim],
    claimings: Sequence[Claiming],
    begun: Funnel,
    filters: Filters,
    transcripts: Transcripts | None = None,
) -> Concluded:
    """The sets of some claims, and what is known of each.

    Args:
        claims: All claims.
        claimings: What became of all experiments.
        begun: Counts up to the claims.
        filters: What a claim of the filtered set needs.
        transcripts: Some of what the target said to the prompts as they are.
    """
    surfaces = {one.id: surface_of(one) for one in claims}
    stages = filtered(claims, filters, lambda one: surfaces[one.id])
    pairs = alike(stages[-1].claims, filters.seed, lambda one: surfaces[one.id])
    funnel = begun + sieved((*stages, pairs))
    passed, paired = ({one.id for one in held.claims} for held in (stages[-1], pairs))
    marked = tuple(one.model_copy(update={"filtered": one.id in passed, "matched": one.id in paired}) for one in claims)
    by_id = {one.id: one for one in marked}
    *before, last, pairs = (
        held.model_copy(update={"claims": tuple(by_id[one.id] for one in held.claims)}) for held in (*stages, pairs)
    )
    made = Concluded(marked, (*before, last), pairs, funnel, transcripts=transcripts or {})
    errors = {name: errors_of(claimings, among=some) for name, some in made.sets.items()}
    return Concluded(
        marked,
        made.stages,
        pairs,
        funnel,
        {name: found for name, found in errors.items() if found is not None},
        {name: _floor(some, surfaces) for name, some in made.sets.items()},
        made.transcripts,
    )


def _floor(claims: Sequence[Claim], surfaces: Mapping[str, Surface]) -> Floor:
    columns = columns_of([surfaces[one.id] for one in claims])
    units = units_of([one.ties for one in claims])
    return floor_of([one.label for one in claims], columns, [one.text for one in claims], units)


def _reproduced(claims: Sequence[Claim], bench: Bench, samples: int, progress: Progress) -> tuple[Claim, ...]:
    """Claims that say whether another implementation had the effect, where there is one and the budget allows it.

    The prompt as it is is asked again, too: the baseline that made the labels is not used twice.
    """
    others = {one.id: found for one in claims if (found := other_implementation(one.edit, one.prompt)) is not None}
    asked = [one for one in claims if one.id in others]
    requests = {one.id: (_again(one, samples), _other(one, others[one.id], samples)) for one in asked}
    wanted = {bench.key(request): request for both in requests.values() for request in both}
    drawn = sample(bench, list(wanted.values()), "measuring other implementations", progress)
    known = {key for key, given in zip(wanted, drawn, strict=True) if given is not None}
    asked = [one for one in asked if all(bench.key(request) in known for request in requests[one.id])]
    rates = iter(bench.rates([(one.behaviour, request) for one in asked for request in requests[one.id]]))
    held = {one.id: _held(one, others[one.id], next(rates), next(rates)) for one in asked}
    return tuple(held.get(one.id, one) for one in claims)


def _again(claim: Claim, samples: int) -> Request:
    return Request(prompt=claim.prompt, batch=BASELINE, samples=samples)


def _other(claim: Claim, edit: Edit, samples: int) -> Request:
    return Request(prompt=edited(claim.prompt, edit), batch=f"reproduce.{claim.experiment}", samples=samples)


def _held(claim: Claim, edit: Edit, baseline: Rate, rate: Rate) -> Claim:
    return claim.model_copy(
        update={
            "reproduced": reproduces(claim, rate, baseline),
            "reproduction": Reproduction(edit=edit, rate=rate, baseline=baseline),
        }
    )
