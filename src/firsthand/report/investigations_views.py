"""What pages and the terminal show of an investigation, worked out once: rates in words, and what an edit changed."""

from dataclasses import dataclass
from functools import lru_cache

from firsthand.counterfactual.deciding import change_interval
from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite
from firsthand.counterfactual.investigation import Experiment, Investigation
from firsthand.counterfactual.rates import Rate
from firsthand.report.formats import Unit, number
from firsthand.report.investigations_words import Status
from firsthand.report.safe_text import one_line

QUOTED = 90
"""Characters of a text that are quoted in a line."""

_KEPT = 1 << 15
"""Intervals that are kept: batches of one size have few different counts, and thousands of pages show them."""


@dataclass(frozen=True)
class RateView:
    """A rate in words and as places on an axis from 0 to 100.

    Attributes:
        share: Share of the valid responses, e.g. ``86.7%``; ``no valid response`` if there is none.
        interval: Its interval, e.g. ``[70.3%, 94.7%]``.
        counted: What it rests on, e.g. ``26 of 30``.
        invalid: Invalid responses and what they could make of the share; empty if there are none.
        at: Place of the share; ``None`` if nothing is valid.
        low: Place of the lower end of its interval.
        high: Place of the upper end.
        worst: Place of the share if no invalid response had the behaviour.
        best: Place of the share if each of them had.
    """

    share: str
    interval: str
    counted: str
    invalid: str
    at: float | None
    low: float
    high: float
    worst: float
    best: float


@lru_cache(maxsize=_KEPT)
def interval(rate: Rate, level: float) -> tuple[float, float]:
    """The interval of a rate at a level, worked out once for equal counts."""
    return rate.interval(level)


@lru_cache(maxsize=_KEPT)
def rate_view(rate: Rate, level: float) -> RateView:
    """Say a rate, with its interval at a level."""
    low, high = interval(rate, level)
    worst, best = rate.bounds
    span = f"{_percent(worst)} to {_percent(best)}"
    return RateView(
        share="no valid response" if rate.share is None else _percent(rate.share),
        interval=f"[{_percent(low)}, {_percent(high)}]",
        counted=f"{rate.yes} of {rate.valid}",
        invalid=f"{rate.invalid} invalid: {span} if they all counted one way" if rate.invalid else "",
        at=None if rate.share is None else 100 * rate.share,
        low=100 * low,
        high=100 * high,
        worst=100 * worst,
        best=100 * best,
    )


@dataclass(frozen=True)
class ChangeView:
    """A change of the rate, in points, with its interval.

    Attributes:
        points: From -100 to 100.
        low: Lower end.
        high: Upper end.
        text: All of it in words.
    """

    points: float
    low: float
    high: float
    text: str


@lru_cache(maxsize=_KEPT)
def change_view(before: Rate, after: Rate, level: float) -> ChangeView | None:
    """The change between two batches; ``None`` if one of them holds nothing valid.

    The interval is Newcombe's of the difference of two independent shares (Newcombe 1998, method 10).
    """
    if before.share is None or after.share is None:
        return None
    low, high = change_interval(before, after, level)
    change = after.share - before.share
    bare = [number(value, Unit.POINTS).removesuffix(" pts") for value in (low, high)]
    return ChangeView(
        100 * change, 100 * float(low), 100 * float(high), f"{number(change, Unit.POINTS)} [{bare[0]}, {bare[1]}]"
    )


def most_informative(investigation: Investigation) -> Experiment | None:
    """The experiment to show first.

    One that a confirmed cause rests on, else one that was decided on fresh responses, then one that was decided, then
    any; among equals the one with the largest change. ``None`` if none has a valid rate on both sides.
    """
    before = investigation.baseline.share
    if before is None:
        return None
    measured = [
        (one, abs(one.rate.share - before))
        for one in investigation.experiments
        if one.error is None and one.rate.share is not None
    ]
    if not measured:
        return None
    shown = investigation.confirmed_causes or investigation.supported_causes
    causes = {number for cause in shown for number in cause.experiments}
    return max(measured, key=lambda pair: (*_decided(pair[0], causes), pair[1]))[0]


def size_of_change(investigation: Investigation) -> float:
    """How far the most informative experiment moved the rate, from 0 to 1; -1 if there is none."""
    best, before = most_informative(investigation), investigation.baseline.share
    if best is None or best.rate.share is None or before is None:
        return -1.0
    return abs(best.rate.share - before)


def _decided(experiment: Experiment, causes: set[int]) -> tuple[bool, bool, bool]:
    changes = experiment.decision == "changes"
    fresh = changes and experiment.stage == "confirmed"
    return fresh and experiment.number in causes, fresh, changes


def has_confirmed_cause(investigation: Investigation) -> bool:
    """Whether a cause that was filed changed the rate in fresh responses, and a matched control shows that it is it."""
    return bool(investigation.confirmed_causes)


def cause_words(investigation: Investigation) -> str:
    """How far the causes of an investigation are shown."""
    if investigation.confirmed_causes:
        return "cause confirmed"
    return "effect confirmed, no control" if investigation.supported_causes else "no cause confirmed"


def status_of(investigation: Investigation, threshold: float) -> Status:
    """How far an investigation got."""
    if investigation.report is None:
        return "unfinished"
    score = investigation.score
    if score is None:
        return "not judged"
    return "verified" if score >= threshold else "not verified"


def score_text(investigation: Investigation) -> str:
    """The judges' mean score and how many gave one; empty if there were no judges."""
    judges = len(investigation.judgements)
    if not judges:
        return ""
    valid = sum(one.score is not None for one in investigation.judgements)
    score = investigation.score
    told = "no valid score" if score is None else f"{score:.1f} of 10"
    missing = f", {judges - valid} without a valid score" if score is not None and valid < judges else ""
    return f"{told} ({judges} {'judge' if judges == 1 else 'judges'}{missing})"


def edit_words(edit: Edit) -> tuple[str, ...]:
    """An edit in words, one line an operation; turns are numbered from 0, as in the data."""
    return tuple(_operation_words(operation) for operation in edit.operations)


def edit_line(edit: Edit, limit: int) -> str:
    """An edit in one short line."""
    return one_line("; ".join(edit_words(edit)), limit)


def _operation_words(operation: Operation) -> str:
    where = f"turn {operation.turn}"
    match operation:
        case Replace():
            which = ", everywhere" if operation.which == "all" else f", occurrence {operation.which} from 0"
            which = "" if operation.which is None else which
            if not operation.text:
                return f"{where}: {_quote(operation.find)} is deleted{which}"
            return f"{where}: {_quote(operation.find)} becomes {_quote(operation.text)}{which}"
        case Rewrite():
            return (
                f"{where}: all of it becomes {_quote(operation.content)}" if operation.content else f"{where}: emptied"
            )
        case Drop():
            return f"{where}: left out"
        case Insert():
            return f"{where}: a {operation.role} turn comes in, {_quote(operation.content)}"


def _quote(text: str) -> str:
    return f"“{one_line(text, QUOTED)}”" if text.strip() else f"“{text}”".replace("\n", "⏎")


def _percent(share: float) -> str:
    return number(share, Unit.PERCENT)
