"""The page of a training run: one HTML file that runs nothing and asks for nothing."""

from pathlib import Path
from typing import Any

from firsthand.report import charts, formats
from firsthand.report.drawings import dot_drawing
from firsthand.report.figures import Figure
from firsthand.report.files import read_document, write_text
from firsthand.report.formats import Unit
from firsthand.report.pages import duration, render_page
from firsthand.report.training_document import TrainingDocument, TrainingStudy


def render_training(document: TrainingDocument) -> str:
    """Render a training run as one HTML page; every text is escaped.

    Raises:
        ReportError: If a chart cannot be drawn.
    """
    context: dict[str, Any] = {
        "doc": document,
        "version": document.package_version,
        "figures": {study.name: study_figure(study) for study in document.studies if study.result.standings},
        "leads": {study.name: {one.rival: one for one in study.result.leads} for study in document.studies},
        "x": document.explanations,
        "x_level": "no" if document.explanations is None else formats.level_text(document.explanations.estimates),
        "level": formats.level_text(one.auroc for study in document.studies for one in study.result.standings),
        "duration": duration((document.finished - document.started).total_seconds()),
        "Unit": Unit,
    }
    return render_page("training.html.j2", context)


def write_training_html(document: TrainingDocument, path: Path) -> Path:
    """Render a training run and write it, whole or not at all.

    Returns:
        The path written.

    Raises:
        ReportError: If the page cannot be drawn or written.
    """
    return write_text(path, render_training(document))


def study_figure(study: TrainingStudy) -> Figure:
    """Everybody's area under the ROC curve, the target trained on itself first."""
    rows = [(f"{one.name} ({one.kind})", one.auroc, one.kind == "self") for one in study.result.standings]
    return dot_drawing(
        f"auroc-{study.name}",
        "Who foretells what an edit does",
        "Area under the ROC curve",
        rows,
        Unit.NUMBER,
        references=[charts.Reference(0.5, "chance")],
        what="Who",
    ).figure()


def read_training(path: Path) -> TrainingDocument:
    """Read the document of a training run back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, TrainingDocument, "a training document")
