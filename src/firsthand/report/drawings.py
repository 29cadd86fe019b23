"""A chart as data: what the page shows inline and what is exported as a file are one and the same."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from firsthand.analysis.findings import Picture
from firsthand.analysis.results import Estimate
from firsthand.report import charts, svg
from firsthand.report.figures import Figure
from firsthand.report.formats import Unit, estimate_text, level_text, number, units_text
from firsthand.report.safe_text import one_line, visible

UNITS = {"share": Unit.PERCENT, "points": Unit.POINTS, "number": Unit.NUMBER, "count": Unit.NUMBER}
"""How the numbers of a picture are written."""

_LABEL = 48


@dataclass(frozen=True)
class Drawing:
    """A chart with its name, and the same numbers as text.

    Attributes:
        name: Identifier within a document; the name of its file.
        title: What is drawn.
        caption: How to read it.
        spec: Vega-Lite specification.
        header: Column names of the table.
        rows: The same numbers as text.
        described: What is read out in its place, if not the caption.
        halo: Whether labels stand out from lines behind them.
        tall: Whether it is so high that a page had better fold it.
    """

    name: str
    title: str
    caption: str
    spec: dict[str, Any]
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    described: str = ""
    halo: bool = True
    tall: bool = False

    def figure(self) -> Figure:
        """Draw it for a page.

        Raises:
            ReportError: If it cannot be drawn.
        """
        drawn = svg.render(
            self.spec,
            identifier=self.name,
            title=visible(self.title),
            description=visible(self.described or self.caption),
            halo=self.halo,
        )
        return Figure(self.title, self.caption, drawn, self.header, self.rows)


def dot_drawing(
    name: str,
    title: str,
    axis: str,
    rows: Sequence[tuple[str, Estimate, bool]],
    unit: Unit,
    *,
    references: Sequence[charts.Reference] = (),
    full: bool = False,
    what: str = "What",
    note: str = "",
    labels: Sequence[str] = (),
) -> Drawing:
    """Draw labelled estimates, one a line.

    Args:
        name: Identifier within a document.
        title: What is drawn.
        axis: What the numbers are.
        rows: Label, estimate, and whether it is what the chart is about.
        unit: How the numbers are written.
        references: Lines to compare with.
        full: Whether shares are drawn on an axis from 0 to 100%.
        what: What the labels are.
        note: How to read it, beside what is said of the intervals.
        labels: Shorter labels for the chart, where those of the table would not fit.
    """
    lines = [
        charts.DotRow(one_line(label, _LABEL), one.value, one.low, one.high, estimate_text(one, unit), emphasis)
        for label, (_, one, emphasis) in zip(labels or [label for label, _, _ in rows], rows, strict=True)
    ]
    table = tuple((label, estimate_text(found, unit), units_text(found)) for label, found, _ in rows)
    caption = f"Lines are {level_text([found for _, found, _ in rows])} intervals over independent units."
    return Drawing(
        name=name,
        title=title,
        caption=f"{note} {caption}".strip(),
        spec=charts.dots(lines, axis_title=one_line(axis, 60), unit=unit, references=references, full=full),
        header=(what, axis, "Rests on"),
        rows=table,
        described=f"{title}. " + "; ".join(f"{line.label}: {line.text}" for line in lines) + ".",
        tall=len(lines) > 14,
    )


def picture_drawing(picture: Picture, name: str) -> Drawing | None:
    """Draw a study's picture; one without marks is none."""
    if not picture.marks:
        return None
    unit = UNITS[picture.unit]
    return dot_drawing(
        name,
        picture.title,
        picture.axis,
        [(mark.label, mark.estimate, mark.emphasis) for mark in picture.marks],
        unit,
        references=[
            charts.Reference(line.value, f"{one_line(line.label, 40)}, {number(line.value, unit)}")
            for line in picture.lines
        ],
        full=picture.unit == "share",
    )
