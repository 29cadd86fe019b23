"""From an injection document to what its template prints: grouped, worded, and with no arithmetic left to do."""

from dataclasses import dataclass

from firsthand.report import injection_figures as drawn
from firsthand.report.finding_views import Panel, judged_drawings, judged_views, panels, picture_drawings
from firsthand.report.formats import Unit
from firsthand.report.injection_document import FindingResult, InjectionDocument, Selection
from firsthand.report.injection_words import INJECTION
from firsthand.report.views import CapabilityView


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


def finding_views(document: InjectionDocument) -> tuple[FindingView, ...]:
    """Group, word and draw every finding; none of an instrument that is out of order."""
    return tuple(_finding(finding) for finding in document.findings) if document.instrument_ok else ()


def cell_text(layer: int, dose: float, setting: str) -> str:
    """Name a cell and its setting."""
    return f"layer {layer}, dose {dose:g}" + (f", {setting}" if setting else "")


def _finding(finding: FindingResult) -> FindingView:
    return FindingView(
        source=finding,
        capabilities=judged_views(finding, INJECTION),
        selection=_selection(finding),
        panels=panels(
            (
                *drawn.matrix_drawings(finding),
                *judged_drawings(finding, INJECTION),
                *picture_drawings(finding.pictures, f"{finding.name}-picture"),
            )
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
