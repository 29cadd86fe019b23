"""The page of a label study: one HTML file that runs nothing and asks for nothing."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firsthand.analysis.results import Estimate
from firsthand.report import formats, views
from firsthand.report.files import write_text
from firsthand.report.finding_views import Panel, glance, judged_views, panels, picture_drawings
from firsthand.report.labels_document import Grid, LabelsDocument, LabelsFinding
from firsthand.report.labels_figures import finding_drawings
from firsthand.report.labels_words import LABELS
from firsthand.report.pages import duration, render_page


@dataclass(frozen=True)
class FindingView:
    """Everything about one question.

    Attributes:
        source: The finding.
        capabilities: What was judged; none where something is shown only.
        panels: Charts.
    """

    source: LabelsFinding
    capabilities: tuple[views.CapabilityView, ...]
    panels: tuple[Panel, ...]


def render_labels(document: LabelsDocument) -> str:
    """Render a label study as one HTML page.

    The page holds no script and refers to nothing outside itself; its content security policy forbids both. Every text
    is escaped, and control and bidirectional characters are spelled out.

    Args:
        document: What to show.

    Returns:
        The page as text that encodes as UTF-8.

    Raises:
        ReportError: If a chart cannot be drawn.
    """
    return render_page("labels.html.j2", _context(document))


def write_labels_html(document: LabelsDocument, path: Path | str) -> Path:
    """Render a label study and write it, whole or not at all.

    Returns:
        The path written.

    Raises:
        ReportError: If the page cannot be drawn or written.
    """
    return write_text(Path(path), render_labels(document))


def _context(document: LabelsDocument) -> dict[str, Any]:
    shown = document.findings if document.instrument_ok else ()
    return {
        "doc": document,
        "claim": document.claim,
        "version": document.package_version,
        "glance": glance(shown, LABELS),
        "findings": tuple(
            FindingView(finding, judged_views(finding, LABELS), panels(finding_drawings(finding))) for finding in shown
        ),
        "levels": {f"{finding.name}/{grid.name}": _level(grid) for finding in shown for grid in finding.grids},
        "published": panels(picture_drawings(document.published, "published")) if document.instrument_ok else (),
        "known": views.known_reporters(document),
        "checks_total": len(document.known_answers),
        "checks_passed": sum(item.passed for item in document.known_answers),
        "duration": duration((document.finished - document.started).total_seconds()),
        "words": LABELS,
        "Unit": formats.Unit,
        "coverage_text": views.coverage_text,
    }


def _level(grid: Grid) -> str:
    """Coverage of the intervals of a table; nothing where it has no numbers."""
    numbers = [cell for _, cells in grid.rows for cell in cells if isinstance(cell, Estimate)]
    return formats.level_text(numbers) if numbers else ""
