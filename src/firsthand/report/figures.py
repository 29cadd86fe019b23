"""From results to figures: a drawing, its caption, and the same numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report import charts, svg
from firsthand.report.document import Selection
from firsthand.report.formats import Unit, estimate_text, interval, level_text, number, percent, units_text
from firsthand.report.safe_text import one_line, visible
from firsthand.report.words import CONDITIONS_SHORT, KINDS, kinds_axis, kinds_title, metric
from firsthand.vocabulary import Capability, Kind

_KIND_ORDER = (Kind.TARGET, Kind.BASELINE, Kind.SHAM, Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)


@dataclass(frozen=True)
class Figure:
    """A chart with everything that a reader who cannot see it needs.

    Attributes:
        title: What is drawn.
        caption: How to read it.
        drawing: Inline SVG.
        header: Column names of the table.
        rows: The same numbers as text.
    """

    title: str
    caption: str
    drawing: Markup
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def observers_figure(result: CapabilityResult) -> Figure | None:
    """Draw the report beside every observer."""
    if result.score is None:
        return None
    measure = metric(result.capability, result.chance)
    named = [("The report", result.score), *((row.name, row.score) for row in result.observers)]
    rows = [_row(name, score, measure.unit, emphasis=index == 0) for index, (name, score) in enumerate(named)]
    title = "The report against each observer"
    caption = (
        f"Score: {measure.name} ({measure.explained}). Lines are {level_text([score for _, score in named])} intervals."
    )
    spec = charts.dots(
        rows,
        axis_title=measure.name[:1].upper() + measure.name[1:],
        unit=measure.unit,
        references=[charts.Reference(result.chance, "chance")],
    )
    drawing = svg.render(
        spec, identifier=_identifier("observers", result), title=title, description=visible(_describe(rows, caption))
    )
    return Figure(title, caption, drawing, ("Who", "Score", "Rests on"), _table(named, measure.unit))


def kinds_figure(result: CapabilityResult) -> Figure | None:
    """Draw the rate on the target beside the rate on each control."""
    if not result.kinds:
        return None
    order = {kind: index for index, kind in enumerate(_KIND_ORDER)}
    named = [(KINDS[row.kind], row.rate) for row in sorted(result.kinds, key=lambda row: order[row.kind])]
    rows = [_row(name, rate, Unit.PERCENT, emphasis=name == KINDS[Kind.TARGET]) for name, rate in named]
    title, lead = kinds_title(result.capability)
    caption = f"{lead} Lines are {level_text([rate for _, rate in named])} intervals."
    scored = result.capability not in (Capability.DETECTION, Capability.CONFIDENCE)
    references = [charts.Reference(result.chance, "chance")] if scored else []
    spec = charts.dots(
        rows, axis_title=kinds_axis(result.capability), unit=Unit.PERCENT, references=references, full=True
    )
    drawing = svg.render(
        spec, identifier=_identifier("kinds", result), title=title, description=_describe(rows, caption)
    )
    return Figure(title, caption, drawing, ("Trial kind", "Rate", "Rests on"), _table(named, Unit.PERCENT))


def reliability_figure(result: CapabilityResult) -> Figure | None:
    """Draw stated confidence against accuracy, where there are bins."""
    calibration = result.calibration
    if calibration is None or not calibration.bins:
        return None
    title = "Stated confidence against being right"
    caption = (
        "Dots below the dashed line are overconfident, above it underconfident; the number beside each is its trials. "
        f"Lines are {level_text([item.accuracy for item in calibration.bins])} intervals."
    )
    drawing = svg.render(
        charts.reliability(calibration),
        identifier=_identifier("reliability", result),
        title=title,
        description=caption,
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
    return Figure(title, caption, drawing, ("Confidence bin", "Mean confidence", "Right", "Rests on"), rows)


def selection_figure(selection: Selection) -> Figure | None:
    """Draw the grid of layers and doses, where there was more than one cell to choose from."""
    if len(selection.rows) < 2:
        return None
    title = "What each layer and dose scored on selection blocks"
    caption = (
        f"Score: {visible(selection.criterion)}. Layer 0 is the first block; the outlined cell was chosen, then judged "
        "on other blocks."
    )
    drawing = svg.render(
        charts.selection_grid(selection), identifier="selection-grid", title=title, description=caption, halo=False
    )
    return Figure(title, caption, drawing, ("Layer", "Dose", "Score", "Trials", "Note"), selection_rows(selection))


def selection_rows(selection: Selection) -> tuple[tuple[str, ...], ...]:
    """Give the grid as text: layer, dose, score, trials, note."""
    return tuple(
        (
            str(row.layer),
            f"{row.dose:g}",
            estimate_text(row.estimate, selection.unit) if row.estimate else number(row.score, selection.unit),
            units_text(row.estimate) if row.estimate else f"{row.n_trials} trials",
            "chosen" if (row.layer, row.dose) == (selection.chosen.layer, selection.chosen.dose) else row.note or "",
        )
        for row in selection.rows
    )


def _row(name: str, estimate: Estimate, unit: Unit, *, emphasis: bool) -> charts.DotRow:
    return charts.DotRow(
        label=one_line(name, 48),
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        text=f"{number(estimate.value, unit)} {interval(estimate, unit)}",
        emphasis=emphasis,
    )


def _table(named: Sequence[tuple[str, Estimate]], unit: Unit) -> tuple[tuple[str, ...], ...]:
    return tuple((name, estimate_text(estimate, unit), units_text(estimate)) for name, estimate in named)


def _describe(rows: Sequence[charts.DotRow], caption: str) -> str:
    return f"{caption} " + "; ".join(f"{row.label}: {row.text}" for row in rows) + "."


def _identifier(name: str, result: CapabilityResult) -> str:
    return f"{name}-{result.capability.value}-{CONDITIONS_SHORT[result.condition].replace(' ', '-').lower()}"
