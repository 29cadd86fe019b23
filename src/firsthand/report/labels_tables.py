"""The numbers of a label study as tables; those that other studies have too are in :mod:`firsthand.report.tables`.

curves (one row a point):
    curve, title: Its name and heading.
    x_axis, y_axis, unit: What the axes are, and how values are written.
    series, emphasis: Whose line it is; whether the chart is about it.
    x: Place on the horizontal axis.
    value: Estimate.
grids (one row a cell that is not empty):
    grid, title, unit: The table, and how its numbers are written.
    row, column: Where the cell stands.
    value: Estimate; empty where the cell holds a text.
    text: The text, where it holds one.
data (one row a number of items):
    what: ``used`` or ``left out``.
    name: Part, or reason.
    items: How many.
"""

from collections.abc import Callable, Iterator

import pandas as pd

from firsthand.analysis.results import Estimate
from firsthand.report.labels_document import DataCard, LabelsDocument, LabelsFinding
from firsthand.report.tables import Row, estimate_columns, frames, known_rows, picture_rows, rows_of


def tables_of(document: LabelsDocument) -> dict[str, pd.DataFrame]:
    """Give every table that has rows, by name."""
    rows = rows_of(document.findings, _OF_FINDINGS)
    rows["published"] = list(picture_rows(document.published))
    rows["known_answers"] = list(known_rows(document.known_answers))
    rows["data"] = list(_data(document.data))
    return frames(rows)


def _curves(finding: LabelsFinding) -> Iterator[Row]:
    for curve in finding.curves:
        what = {"curve": curve.name, "title": curve.title}
        axes = {"x_axis": curve.x, "y_axis": curve.y, "unit": curve.unit.value}
        for series in curve.series:
            for point in series.points:
                whose = {"series": series.name, "emphasis": series.emphasis, "x": point.x}
                yield {**what, **axes, **whose, **estimate_columns("value", point.estimate)}


def _grids(finding: LabelsFinding) -> Iterator[Row]:
    for grid in finding.grids:
        what = {"grid": grid.name, "title": grid.title, "unit": grid.unit.value}
        for name, cells in grid.rows:
            for column, cell in zip(grid.columns[1:], cells, strict=True):
                if cell is not None:
                    number = cell if isinstance(cell, Estimate) else None
                    text = None if isinstance(cell, Estimate) else cell
                    where = {"row": name, "column": column}
                    yield {**what, **where, **estimate_columns("value", number), "text": text}


def _data(card: DataCard) -> Iterator[Row]:
    for what, counts in (("used", card.used), ("left out", card.dropped)):
        for name, items in counts.items():
            yield {"what": what, "name": name, "items": items}


_OF_FINDINGS: dict[str, Callable[[LabelsFinding], Iterator[Row]]] = {
    "curves": _curves,
    "grids": _grids,
    "pictures": lambda finding: picture_rows(finding.pictures),
}
