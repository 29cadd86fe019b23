"""From an injection document to what its template prints: grouped, worded, and with no arithmetic left to do."""

from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report import injection_figures as drawn
from firsthand.report.drawings import Drawing
from firsthand.report.figures import Figure
from firsthand.report.formats import Unit, estimate_text, level_text, number, units_text
from firsthand.report.injection_document import FindingResult, InjectionDocument, Selection
from firsthand.report.injection_words import metric, question, wording
from firsthand.report.views import (
    CapabilityView,
    Side,
    VerdictGroup,
    _both,
    _reasons,
    estimates_of,
    smallest_gap,
    strongest_observer,
)
from firsthand.report.words import CONDITIONS, CONDITIONS_SHORT
from firsthand.vocabulary import Capability, Verdict


@dataclass(frozen=True)
class Panel:
    """A chart of the page, and whether it is so tall that it stays folded at first."""

    figure: Figure
    folded: bool


@dataclass(frozen=True)
class SelectionView:
    """How a cell was chosen: the charts, and the two figures side by side.

    Attributes:
        source: The selection.
        panels: Grids.
        versus: The two figures as a chart.
        unit: How the two figures are written.
        rise_name: What they are.
        cells: Cells over all grids.
    """

    source: Selection
    panels: tuple[Panel, ...]
    versus: Panel
    unit: Unit
    rise_name: str
    cells: int


@dataclass(frozen=True)
class FindingView:
    """Everything about one question.

    Attributes:
        source: The finding.
        capabilities: What was judged; none where something is shown only.
        selection: How its cell was chosen.
        panels: Response matrices, the report beside what else could give it, and other charts.
    """

    source: FindingResult
    capabilities: tuple[CapabilityView, ...]
    selection: SelectionView | None
    panels: tuple[Panel, ...]


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


def finding_views(document: InjectionDocument) -> tuple[FindingView, ...]:
    """Group, word and draw every finding; none of an instrument that is out of order."""
    return tuple(_finding(finding) for finding in document.findings) if document.instrument_ok else ()


def glance(document: InjectionDocument) -> tuple[GlanceRow, ...]:
    """Give one line a finding and verdict, conditions merged where everything shown is equal."""
    rows: list[GlanceRow] = []
    for finding in document.findings if document.instrument_ok else ():
        lines: dict[tuple[str, Verdict, str, str], list[str]] = {}
        for result in finding.results:
            title = finding.title
            if len({other.capability for other in finding.results}) > 1:
                title = f"{finding.title}: {result.capability.value}"
            rests = units_text(result.score) if result.score is not None else ""
            lines.setdefault((title, result.verdict, score_text(result), rests), []).append(
                CONDITIONS_SHORT[result.condition]
            )
        rows += [
            GlanceRow(finding.name, title, finding.asked, " and ".join(conditions), verdict, score, rests)
            for (title, verdict, score, rests), conditions in lines.items()
        ]
        if not finding.results:
            rows.append(GlanceRow(finding.name, finding.title, finding.asked, "", None, "", ""))
    return tuple(rows)


def score_text(result: CapabilityResult) -> str:
    """Write the score with its interval beside chance."""
    if result.score is None:
        return "not scored"
    measure = metric(result.capability, result.chance)
    found = estimate_text(result.score, measure.unit)
    return f"{measure.name} {found}, chance {number(result.chance, measure.unit)}"


def cell_text(layer: int, dose: float, setting: str) -> str:
    """Name a cell and its setting."""
    return f"layer {layer}, dose {dose:g}" + (f", {setting}" if setting else "")


def panels(drawings: Sequence[Drawing]) -> tuple[Panel, ...]:
    """Draw charts for the page."""
    return tuple(Panel(drawing.figure(), drawing.tall) for drawing in drawings)


def _finding(finding: FindingResult) -> FindingView:
    grouped: dict[Capability, list[CapabilityResult]] = {}
    for result in finding.results:
        grouped.setdefault(result.capability, []).append(result)
    return FindingView(
        source=finding,
        capabilities=tuple(
            CapabilityView(capability, question(capability), _groups(results), _sides(finding, results))
            for capability, results in grouped.items()
        ),
        selection=_selection(finding),
        panels=panels(
            (*drawn.matrix_drawings(finding), *drawn.judged_drawings(finding), *drawn.picture_drawings(finding))
        ),
    )


def _selection(finding: FindingResult) -> SelectionView | None:
    selection = finding.selection
    if selection is None:
        return None
    grids = selection.grids
    *maps, versus = panels(drawn.selection_drawings(finding))
    return SelectionView(
        source=selection,
        panels=tuple(maps),
        versus=versus,
        unit=grids[0].rise_unit if grids else Unit.POINTS,
        rise_name=grids[0].rise_name if grids else "rise",
        cells=sum(len(grid.rows) for grid in grids),
    )


def _groups(results: Sequence[CapabilityResult]) -> tuple[VerdictGroup, ...]:
    by_verdict: dict[Verdict, list[CapabilityResult]] = {}
    for result in results:
        by_verdict.setdefault(result.verdict, []).append(result)
    return tuple(
        VerdictGroup(
            verdict,
            wording(verdict, members[0].capability),
            _both(members) if len(by_verdict) == 1 else CONDITIONS[members[0].condition],
            _reasons(members),
        )
        for verdict, members in by_verdict.items()
    )


def _sides(finding: FindingResult, results: Sequence[CapabilityResult]) -> tuple[Side, ...]:
    kept = drawn.result_sides(results)
    merged = len(kept) < len(results)
    return tuple(
        Side(
            label="Both conditions, with equal numbers" if merged else CONDITIONS[result.condition],
            short="both conditions" if merged else CONDITIONS_SHORT[result.condition],
            result=result,
            metric=metric(result.capability, result.chance),
            strongest=strongest_observer(result),
            gap=smallest_gap(result),
            figures=(),
            level=level_text(_estimates(result)),
            anchor=f"{finding.name}-{result.capability.value}-{result.condition.value.replace('_', '-')}",
        )
        for result in kept
    )


def _estimates(result: CapabilityResult) -> list[Estimate]:
    return [*estimates_of(result), *(row.score for row in result.arms), *(row.lead for row in result.arms)]
