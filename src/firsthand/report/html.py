"""One self-contained HTML page that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.report import formats, views
from firsthand.report.document import AuditDocument
from firsthand.report.figures import selection_figure, selection_rows
from firsthand.report.files import write_text
from firsthand.report.pages import duration, render_page
from firsthand.report.words import CONDITIONS_SHORT, REGISTER
from firsthand.vocabulary import Kind


def render_html(document: AuditDocument) -> str:
    """Render a document as one HTML page.

    The page holds no script and refers to nothing outside itself; its content security policy forbids both. Every text
    is escaped, and control and bidirectional characters are spelled out.

    Args:
        document: What to show.

    Returns:
        The page as text that encodes as UTF-8.

    Raises:
        ReportError: If a chart cannot be drawn.
    """
    return render_page("report.html.j2", _context(document))


def write_html(document: AuditDocument, path: Path | str) -> Path:
    """Render a document and write it, whole or not at all.

    Args:
        document: What to show.
        path: Where to write the page.

    Returns:
        The path written.

    Raises:
        ReportError: If the page cannot be drawn or written.
    """
    return write_text(Path(path), render_html(document))


def _context(document: AuditDocument) -> dict[str, Any]:
    selection = document.selection
    trials = views.shown_trials(document)
    present = {trial.kind for trial in trials}
    return {
        "doc": document,
        "claim": document.claim,
        "capabilities": views.capability_views(document.profile) if document.profile is not None else (),
        "known": views.known_reporters(document),
        "checks_total": len(document.known_answers),
        "checks_passed": sum(item.passed for item in document.known_answers),
        "selection_figure": selection_figure(selection) if selection is not None else None,
        "selection_rows": selection_rows(selection) if selection is not None else (),
        "trials": trials,
        "kinds_present": [kind for kind in Kind if kind in present],
        "max_prompt": views.MAX_PROMPT_CHARACTERS,
        "duration": duration((document.finished - document.started).total_seconds()),
        "version": document.package_version,
        "words": REGISTER,
        "conditions_short": CONDITIONS_SHORT,
        "Unit": formats.Unit,
        "coverage_text": views.coverage_text,
    }
