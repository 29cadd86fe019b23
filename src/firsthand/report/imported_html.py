"""The page of an imported profile: one HTML file that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.analysis.findings import ImportedProfile, Number, StudyResult
from firsthand.report import formats
from firsthand.report.drawings import UNITS, picture_drawing
from firsthand.report.figures import Figure
from firsthand.report.files import write_text
from firsthand.report.imported_terminal import units_line, verdict_word
from firsthand.report.pages import render_page
from firsthand.version import __version__

TONES = {"caution": "read with care", "gap": "not in the data", "result": "result"}


def render_imported(profile: ImportedProfile) -> str:
    """Render an imported profile as one HTML page; every text is escaped.

    Raises:
        ReportError: A chart cannot be drawn.
    """
    context: dict[str, Any] = {
        "profile": profile,
        "version": __version__,
        "figures": {study.name: study_figure(study) for study in profile.studies},
        "tones": TONES,
        "number_text": number_text,
        "units_line": units_line,
        "verdict_word": verdict_word,
        "p": formats.p_text,
    }
    return render_page("imported.html.j2", context)


def write_imported_html(profile: ImportedProfile, path: Path) -> Path:
    """Render an imported profile and write it, whole or not at all.

    Returns:
        The path written.
    """
    return write_text(path, render_imported(profile))


def number_text(number: Number) -> str:
    """One number with its interval, where it has one."""
    if number.unit == "count":
        return f"{number.value:,.0f}"
    unit = UNITS[number.unit]
    if number.estimate is not None:
        return formats.estimate_text(number.estimate, unit)
    if number.unit == "share" and 0.0 < number.value < 0.0005:
        return f"{number.value:.1g}"
    return formats.number(number.value, unit)


def study_figure(study: StudyResult) -> Figure | None:
    """The chart of a study, with the same numbers as a table."""
    drawing = None if study.picture is None else picture_drawing(study.picture, f"study-{study.name}")
    return None if drawing is None else drawing.figure()
