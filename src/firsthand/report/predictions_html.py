"""The page of predictions: one HTML file that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.analysis.predictions.results import OverFloors
from firsthand.report import formats
from firsthand.report.files import write_text
from firsthand.report.finding_views import panels
from firsthand.report.pages import duration, render_page
from firsthand.report.predictions_document import PredictionsDocument
from firsthand.report.predictions_figures import figures_of
from firsthand.report.predictions_words import KINDS, KINDS_LONG, shown, status


def render_predictions(document: PredictionsDocument) -> str:
    """Render a run of predictions as one HTML page; every text is escaped.

    Raises:
        ReportError: If a chart cannot be drawn.
    """
    return render_page("predictions.html.j2", _context(document))


def write_predictions_html(document: PredictionsDocument, path: Path | str) -> Path:
    """Render a run of predictions and write it, whole or not at all.

    Returns:
        The path written.

    Raises:
        ReportError: If the page cannot be drawn or written.
    """
    return write_text(Path(path), render_predictions(document))


def _context(document: PredictionsDocument) -> dict[str, Any]:
    found = document.results
    ahead: dict[str, OverFloors] = {one.name: one for one in found.over_floors}
    shown_kinds = list(dict.fromkeys(one.kind for one in found.predictors))
    return {
        "doc": document,
        "found": found,
        "version": document.package_version,
        "figures": panels(figures_of(document)),
        "ahead": ahead,
        "cards": {one.name: one for one in document.predictors},
        "kinds": KINDS,
        "kinds_long": {kind: KINDS_LONG[kind] for kind in shown_kinds},
        "status": status,
        "shown": shown,
        "level": formats.level_text([one.invalid for one in found.predictors]),
        "duration": duration((document.finished - document.started).total_seconds()),
        "Unit": formats.Unit,
    }
