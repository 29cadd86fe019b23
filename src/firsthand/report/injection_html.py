"""The page of an injection study: one HTML file that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.report import formats, views
from firsthand.report.files import write_text
from firsthand.report.finding_views import glance, panels, picture_drawings
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_figures import transfer_drawings
from firsthand.report.injection_views import cell_text, finding_views
from firsthand.report.injection_words import INJECTION
from firsthand.report.pages import duration, render_page


def render_injection(document: InjectionDocument) -> str:
    """Render an injection study as one HTML page.

    The page holds no script and refers to nothing outside itself; its content security policy forbids both. Every text
    is escaped, and control and bidirectional characters are spelled out.

    Args:
        document: What to show.

    Returns:
        The page as text that encodes as UTF-8.

    Raises:
        ReportError: If a chart cannot be drawn.
    """
    return render_page("injection.html.j2", _context(document))


def write_injection_html(document: InjectionDocument, path: Path | str) -> Path:
    """Render an injection study and write it, whole or not at all.

    Returns:
        The path written.

    Raises:
        ReportError: If the page cannot be drawn or written.
    """
    return write_text(Path(path), render_injection(document))


def _context(document: InjectionDocument) -> dict[str, Any]:
    shown = document.instrument_ok
    return {
        "doc": document,
        "claim": document.claim,
        "glance": glance(document.findings, INJECTION) if shown else (),
        "findings": finding_views(document),
        "transfer": panels(transfer_drawings(document)) if shown else (),
        "published": panels(picture_drawings(document.published, "published")) if shown else (),
        "known": views.known_reporters(document),
        "checks_total": len(document.known_answers),
        "checks_passed": sum(item.passed for item in document.known_answers),
        "duration": duration((document.finished - document.started).total_seconds()),
        "cell_text": cell_text,
        "version": document.package_version,
        "words": INJECTION,
        "Unit": formats.Unit,
        "coverage_text": views.coverage_text,
    }
