"""The page of an imported profile: one HTML file that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.analysis.findings import ImportedProfile, Number, Picture, StudyResult
from firsthand.report import charts, formats, svg
from firsthand.report.figures import Figure
from firsthand.report.files import write_text
from firsthand.report.formats import Unit
from firsthand.report.html import _finalize
from firsthand.report.imported_terminal import units_line, verdict_word
from firsthand.report.safe_text import one_line, visible
from firsthand.version import __version__

_UNITS = {"share": Unit.PERCENT, "points": Unit.POINTS, "number": Unit.NUMBER, "count": Unit.NUMBER}
TONES = {"caution": "read with care", "gap": "not in the data", "result": "result"}


def render_imported(profile: ImportedProfile) -> str:
    """Render an imported profile as one HTML page; every text is escaped.

    Raises:
        ReportError: A chart cannot be drawn.
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("firsthand.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {  # what the shared macros use
        "percent": formats.percent,
        "estimate": formats.estimate_text,
        "interval": formats.interval,
        "number": formats.number,
        "rests": formats.units_text,
        "p": formats.p_text,
    }
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
    return environment.get_template("imported.html.j2").render(context)


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
    unit = _UNITS[number.unit]
    if number.estimate is not None:
        return formats.estimate_text(number.estimate, unit)
    if number.unit == "share" and 0.0 < number.value < 0.0005:
        return f"{number.value:.1g}"
    return formats.number(number.value, unit)


def study_figure(study: StudyResult) -> Figure | None:
    """The chart of a study, with the same numbers as a table."""
    picture = study.picture
    if picture is None or not picture.marks:
        return None
    unit = _UNITS[picture.unit]
    rows = [
        charts.DotRow(
            label=one_line(mark.label, 48),
            value=mark.estimate.value,
            low=mark.estimate.low,
            high=mark.estimate.high,
            text=formats.estimate_text(mark.estimate, unit),
            emphasis=mark.emphasis,
        )
        for mark in picture.marks
    ]
    lines = [charts.Reference(line.value, _line_label(picture, line.label, line.value)) for line in picture.lines]
    described = "; ".join(f"{row.label}: {row.text}" for row in rows)
    drawing = svg.render(
        charts.dots(rows, axis_title=picture.axis, unit=unit, references=lines, full=picture.unit == "share"),
        identifier=f"study-{study.name}",
        title=visible(picture.title),
        description=visible(f"{picture.title}. {described}."),
    )
    table = tuple(
        (mark.label, formats.estimate_text(mark.estimate, unit), formats.units_text(mark.estimate))
        for mark in picture.marks
    )
    caption = (
        f"Lines are {formats.level_text([mark.estimate for mark in picture.marks])} intervals over independent units."
    )
    return Figure(picture.title, caption, drawing, ("What", picture.axis, "Rests on"), table)


def _line_label(picture: Picture, label: str, value: float) -> str:
    return f"{one_line(label, 40)}, {formats.number(value, _UNITS[picture.unit])}"
