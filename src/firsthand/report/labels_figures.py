"""Every chart of a label study, as data: the page draws them inline, the export writes them as files."""

from collections.abc import Iterator

from firsthand.report import charts, curves
from firsthand.report.drawings import Drawing
from firsthand.report.finding_views import judged_drawings, picture_drawings
from firsthand.report.formats import estimate_text, level_text, number, units_text
from firsthand.report.labels_document import Curve, LabelsDocument, LabelsFinding
from firsthand.report.labels_words import LABELS
from firsthand.report.safe_text import one_line

FOLDED = 10
"""With more lines than this, a chart is folded at first."""


def figures_of(document: LabelsDocument) -> tuple[Drawing, ...]:
    """Give every chart, in the order of the page; none of an instrument that is out of order."""
    return tuple(_all(document)) if document.instrument_ok else ()


def finding_drawings(finding: LabelsFinding) -> tuple[Drawing, ...]:
    """Draw the report beside its observers, then curves and pictures."""
    return (
        *judged_drawings(finding, LABELS),
        *(curve_drawing(curve, f"{finding.name}-curve-{curve.name}") for curve in finding.curves if _points(curve)),
        *picture_drawings(finding.pictures, f"{finding.name}-picture"),
    )


def curve_drawing(curve: Curve, name: str) -> Drawing:
    """Draw a curve.

    Args:
        curve: What is drawn.
        name: Identifier within the document.
    """
    drawn = [one for one in curve.series if one.points]
    lines = [
        curves.PlotLine(
            one.name,
            tuple(
                curves.LinePoint(point.x, point.estimate.value, point.estimate.low, point.estimate.high)
                for point in sorted(one.points, key=lambda point: point.x)
            ),
            one.emphasis,
        )
        for one in drawn
    ]
    rows = tuple(
        (one.name, f"{point.x:g}", estimate_text(point.estimate, curve.unit), units_text(point.estimate))
        for one in drawn
        for point in one.points
    )
    levels = level_text([point.estimate for one in drawn for point in one.points])
    named = [name for name, _, _, _ in rows]
    told = "; ".join(
        f"{one_line(one, 48)}: " + ", ".join(f"{value} at {x}" for who, x, value, _ in rows if who == one)
        for one in dict.fromkeys(named)
    )
    return Drawing(
        name=name,
        title=curve.title,
        caption=f"Bands are {levels} intervals over independent units.",
        spec=curves.curves(
            lines,
            x_title=curve.x,
            y_title=curve.y,
            unit=curve.unit,
            references=[
                charts.Reference(line.value, f"{one_line(line.label, 28)}, {number(line.value, curve.unit)}")
                for line in curve.lines
            ],
        ),
        header=("Who", curve.x, curve.y, "Rests on"),
        rows=rows,
        described=f"{curve.title}. {told}.",
        tall=len(lines) > FOLDED,
    )


def _points(curve: Curve) -> int:
    return sum(len(one.points) for one in curve.series)


def _all(document: LabelsDocument) -> Iterator[Drawing]:
    for finding in document.findings:
        yield from finding_drawings(finding)
    yield from picture_drawings(document.published, "published")
