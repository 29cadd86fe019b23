"""One investigation, and one row of the index, with everything that a template shows worked out."""

from collections import defaultdict
from dataclasses import dataclass

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation
from firsthand.report.formats import Unit, number
from firsthand.report.investigations_document import InvestigationsDocument, Sample, Thresholds
from firsthand.report.investigations_views import (
    ChangeView,
    RateView,
    cause_words,
    change_view,
    edit_words,
    has_confirmed_cause,
    most_informative,
    rate_view,
    score_text,
    status_of,
)
from firsthand.report.investigations_words import Status
from firsthand.report.prompt_marks import MarkedTurn, marked, plain


@dataclass(frozen=True)
class ExperimentView:
    """An experiment: its edit in words and as marks on the turns it touches, its rate, and the change."""

    source: Experiment
    anchor: str
    edit: tuple[str, ...]
    turns: tuple[MarkedTurn, ...]
    rate: RateView
    change: ChangeView | None
    best: bool
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class ClaimView:
    """A claim, and why its label is what it is."""

    source: Claim
    baseline: RateView
    rate: RateView
    change: ChangeView | None
    why: str
    anchor: str


@dataclass(frozen=True)
class CauseView:
    """A hypothesis, with the experiments it names that are there."""

    source: Cause
    experiments: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class InvestigationView:
    """Everything about one investigation.

    Attributes:
        source: The investigation.
        id: Its identifier, and what the ids of its parts begin with.
        status: How far it got.
        cause: How far its causes are shown.
        baseline: The baseline.
        screened: The rate in the batch that chose the behaviour.
        best: The most informative experiment.
        turns: The prompt, with that experiment's edit marked.
        whole: The prompt as it was, if ``turns`` leaves some of it out.
        experiments: Every experiment, in order.
        causes: Hypotheses that experiments support.
        refuted: Hypotheses that experiments refute.
        score: The judges' mean score, in words.
        claims: Claims that were made of it.
        samples: Responses to the prompt as it is.
        trace: Where the investigator's trace stands.
        cut_off: Share of the responses that it rests on that were cut off; empty if that is not known.
    """

    source: Investigation
    id: str
    status: Status
    cause: str
    baseline: RateView
    screened: RateView
    best: ExperimentView | None
    turns: tuple[MarkedTurn, ...]
    whole: tuple[MarkedTurn, ...]
    experiments: tuple[ExperimentView, ...]
    causes: tuple[CauseView, ...]
    refuted: tuple[CauseView, ...]
    score: str
    claims: tuple[ClaimView, ...]
    samples: tuple[Sample, ...]
    trace: str
    cut_off: str


@dataclass(frozen=True)
class IndexRow:
    """One line of the index; the numbers are what it is sorted and filtered by."""

    source: Investigation
    href: str
    status: Status
    baseline: RateView
    after: RateView | None
    explored: bool
    edit: str
    change: ChangeView | None
    rating: int | None
    score: float | None
    confirmed: bool
    cause: str
    experiments: int


class Views:
    """Makes the views of a document's investigations; what belongs to each is looked up once."""

    def __init__(self, document: InvestigationsDocument) -> None:
        self._document = document
        self._claims: dict[str, list[Claim]] = defaultdict(list)
        self._samples: dict[tuple[str, int], list[Sample]] = defaultdict(list)
        for claim in document.claims:
            self._claims[claim.investigation].append(claim)
        for sample in document.samples:
            self._samples[sample.investigation, sample.experiment].append(sample)

    def row(self, one: Investigation, href: str) -> IndexRow:
        """The line of an investigation in the index."""
        level, best = self._document.thresholds.level, most_informative(one)
        return IndexRow(
            source=one,
            href=href,
            status=status_of(one, self._document.thresholds.score),
            baseline=rate_view(one.baseline, level),
            after=None if best is None else rate_view(best.rate, level),
            explored=best is not None and best.stage == "explored",
            edit="" if best is None else "; ".join(edit_words(best.edit)),
            change=None if best is None else change_view(one.baseline, best.rate, level),
            rating=one.screened.rating,
            score=one.score,
            confirmed=has_confirmed_cause(one),
            cause=cause_words(one),
            experiments=len(one.experiments),
        )

    def investigation(self, one: Investigation) -> InvestigationView:
        """Everything about an investigation."""
        level, best, prompt, name = self._document.thresholds.level, most_informative(one), one.screened.prompt, one.id
        experiments = tuple(self._experiment(one, name, item, best) for item in one.experiments)
        shown = (marked(prompt, best.edit) if best is not None else ()) or plain(prompt)
        return InvestigationView(
            source=one,
            id=name,
            status=status_of(one, self._document.thresholds.score),
            cause=cause_words(one),
            baseline=rate_view(one.baseline, level),
            screened=rate_view(one.screened.rate, level),
            best=next((item for item in experiments if item.best), None),
            turns=shown,
            whole=plain(prompt) if any(turn.shortened for turn in shown) else (),
            experiments=experiments,
            causes=_causes(one.report.causes if one.report is not None else (), experiments),
            refuted=_causes(one.report.refuted if one.report is not None else (), experiments),
            score=score_text(one),
            claims=tuple(self._claim(claim, name) for claim in self._claims[name]),
            samples=tuple(self._samples[name, 0]),
            trace=self._document.traces.get(name, ""),
            cut_off="" if (share := self._document.cut_off.get(name)) is None else number(share, Unit.PERCENT),
        )

    def _experiment(self, one: Investigation, name: str, item: Experiment, best: Experiment | None) -> ExperimentView:
        level = self._document.thresholds.level
        return ExperimentView(
            source=item,
            anchor=_anchor(name, item.number),
            edit=edit_words(item.edit),
            turns=marked(one.screened.prompt, item.edit, unchanged=False),
            rate=rate_view(item.rate, level),
            change=change_view(one.baseline, item.rate, level),
            best=best is not None and item.number == best.number,
            samples=tuple(self._samples[name, item.number]),
        )

    def _claim(self, claim: Claim, name: str) -> ClaimView:
        level = self._document.thresholds.level
        return ClaimView(
            source=claim,
            baseline=rate_view(claim.baseline, level),
            rate=rate_view(claim.rate, level),
            change=change_view(claim.baseline, claim.rate, level),
            why=label_reason(claim, self._document.thresholds),
            anchor=_anchor(name, claim.experiment),
        )


def label_reason(claim: Claim, thresholds: Thresholds) -> str:
    """Why a claim is true or false, with the threshold that decided."""
    if claim.change is None:
        return "no change could be measured"
    points = f"{abs(100 * claim.change):.1f} points"
    if claim.label:
        return f"{points}; at least {thresholds.true:g} make a claim true"
    return f"{points}; at most {thresholds.false:g} make it false"


def _causes(causes: tuple[Cause, ...], experiments: tuple[ExperimentView, ...]) -> tuple[CauseView, ...]:
    anchors = {item.source.number: item.anchor for item in experiments}
    return tuple(
        CauseView(cause, tuple((number, anchors[number]) for number in cause.experiments if number in anchors))
        for cause in causes
    )


def _anchor(name: str, number: int) -> str:
    return f"i{name}-e{number}"
