"""Findings of a study, grouped, worded and drawn: what the pages of injection and label studies have in common."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from firsthand.analysis.findings import Picture
from firsthand.analysis.results import CapabilityResult
from firsthand.report import charts
from firsthand.report.drawings import Drawing, dot_drawing, picture_drawing
from firsthand.report.figures import Figure
from firsthand.report.formats import Unit, estimate_text, level_text, number, percent, units_text
from firsthand.report.views import CapabilityView, capability_views_of, distinct
from firsthand.report.wording import Words
from firsthand.report.words import CONDITIONS_SHORT
from firsthand.vocabulary import Verdict


class Judged(Protocol):
    """A question of a study with its verdicts; one without is shown, not judged."""

    @property
    def name(self) -> str:
        """Identifier."""
        ...

    @property
    def title(self) -> str:
        """Heading."""
        ...

    @property
    def asked(self) -> str:
        """What the model was asked."""
        ...

    @property
    def results(self) -> tuple[CapabilityResult, ...]:
        """The judgement under each condition."""
        ...


@dataclass(frozen=True)
class Panel:
    """A chart of the page, and whether it is so tall that it stays folded at first."""

    figure: Figure
    folded: bool


@dataclass(frozen=True)
class GlanceRow:
    """One line of the overview: a finding, a condition, its verdict and its score."""

    anchor: str
    title: str
    asked: str
    condition: str
    verdict: Verdict | None
    score: str
    rests: str


def glance(findings: Sequence[Judged], words: Words) -> tuple[GlanceRow, ...]:
    """Give one line a finding and verdict, conditions merged where everything shown is equal."""
    rows: list[GlanceRow] = []
    for finding in findings:
        for title, result, conditions in merged(finding, lambda result: score_text(result, words)):
            rests = units_text(result.score) if result.score is not None else ""
            where, score = " and ".join(conditions), score_text(result, words)
            rows.append(GlanceRow(finding.name, title, finding.asked, where, result.verdict, score, rests))
        if not finding.results:
            rows.append(GlanceRow(finding.name, finding.title, finding.asked, "", None, "", ""))
    return tuple(rows)


def merged(
    finding: Judged, shown: Callable[[CapabilityResult], object]
) -> tuple[tuple[str, CapabilityResult, list[str]], ...]:
    """Verdicts of a finding, each with its title and its conditions; those that would be shown alike stand together.

    Args:
        finding: The finding.
        shown: What is shown of a result, beside its capability, its verdict and what its score rests on.
    """
    rows: dict[object, tuple[str, CapabilityResult, list[str]]] = {}
    several = len({result.capability for result in finding.results}) > 1
    for result in finding.results:
        title = f"{finding.title}: {result.capability.value}" if several else finding.title
        rests = units_text(result.score) if result.score is not None else ""
        key = (title, result.verdict, rests, shown(result))
        rows.setdefault(key, (title, result, []))[2].append(CONDITIONS_SHORT[result.condition])
    return tuple(rows.values())


def score_text(result: CapabilityResult, words: Words) -> str:
    """Write the score with its interval beside chance."""
    if result.score is None:
        return "not scored"
    measure = words.metric(result.capability, result.chance)
    found = estimate_text(result.score, measure.unit)
    return f"{measure.name} {found}, chance {number(result.chance, measure.unit)}"


def judged_views(finding: Judged, words: Words) -> tuple[CapabilityView, ...]:
    """Group the results of a finding by capability, and word their verdicts."""
    return capability_views_of(finding.results, words, f"{finding.name}-")


def panels(drawings: Sequence[Drawing]) -> tuple[Panel, ...]:
    """Draw charts for the page."""
    return tuple(Panel(drawing.figure(), drawing.tall) for drawing in drawings)


def judged_drawings(finding: Judged, words: Words) -> tuple[Drawing, ...]:
    """Draw the report beside observers and control arms, the rates by kind, and calibration; nothing twice."""
    sides = distinct(finding.results)
    several = len({result.capability for result in sides}) > 1
    kept: dict[tuple[str, tuple[tuple[str, ...], ...]], Drawing] = {}
    for result in sides:
        stem = "-".join((finding.name, result.capability.value, result.condition.value.replace("_", "-")))
        about = f" · {result.capability.value}" if several else ""
        twice = sum(other.capability is result.capability for other in sides) > 1
        seen = f" · {CONDITIONS_SHORT[result.condition]}" if twice else ""
        drawn = (
            _kinds(stem, result, about, words),
            _against(stem, result, about + seen, words),
            _reliability(stem, result),
        )
        for drawing in drawn:
            if drawing is not None:
                kept.setdefault((drawing.title, drawing.rows), drawing)
    return tuple(kept.values())


def picture_drawings(pictures: Sequence[Picture], stem: str) -> tuple[Drawing, ...]:
    """Draw pictures; names are made of the stem and a number."""
    drawn = [picture_drawing(picture, f"{stem}-{index}") for index, picture in enumerate(pictures, start=1)]
    return tuple(drawing for drawing in drawn if drawing is not None)


def _against(stem: str, result: CapabilityResult, about: str, words: Words) -> Drawing | None:
    if result.score is None:
        return None
    measure = words.metric(result.capability, result.chance)
    rows = [("The report", result.score, True)]
    rows += [(f"Observer: {row.name}", row.score, False) for row in result.observers]
    rows += [(f"Control: {row.name}", row.score, False) for row in result.arms]
    title = "The report against observers and control arms" if result.arms else "The report against each observer"
    return dot_drawing(
        f"{stem}-against",
        title + about,
        measure.name[:1].upper() + measure.name[1:],
        rows,
        measure.unit,
        references=[charts.Reference(result.chance, f"chance, {number(result.chance, measure.unit)}")],
        what="Who",
        note=f"Score: {measure.name} ({measure.explained}).",
    )


def _kinds(stem: str, result: CapabilityResult, about: str, words: Words) -> Drawing | None:
    if not result.kinds:
        return None
    order = list(words.kinds)
    found = sorted(result.kinds, key=lambda row: order.index(row.kind))
    title, note = words.kinds_title(result.capability)
    rows = [(words.kinds[row.kind], row.rate, row.kind is order[0]) for row in found]
    axis = words.kinds_axis(result.capability)
    return dot_drawing(
        f"{stem}-kinds", title + about, axis, rows, Unit.PERCENT, full=True, what="Trial kind", note=note
    )


def _reliability(stem: str, result: CapabilityResult) -> Drawing | None:
    calibration = result.calibration
    if calibration is None or not calibration.bins:
        return None
    caption = (
        "Dots below the dashed line are overconfident, above it underconfident; the number beside each is its trials. "
        f"Lines are {level_text([item.accuracy for item in calibration.bins])} intervals."
    )
    rows = tuple(
        (
            f"{percent(item.low)} to {percent(item.high)}",
            percent(item.mean_confidence),
            estimate_text(item.accuracy, Unit.PERCENT),
            units_text(item.accuracy),
        )
        for item in calibration.bins
    )
    return Drawing(
        f"{stem}-reliability",
        "Stated confidence against being right",
        caption,
        charts.reliability(calibration),
        ("Confidence bin", "Mean confidence", "Right", "Rests on"),
        rows,
    )
