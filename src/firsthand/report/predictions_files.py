"""The document of predictions as JSON, figures and tables; see :mod:`firsthand.report.exporting`."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from firsthand.report.exporting import export_files
from firsthand.report.files import read_document, write_json
from firsthand.report.predictions_document import PredictionsDocument
from firsthand.report.predictions_figures import figures_of
from firsthand.report.predictions_tables import tables_of

__all__ = ["export", "read_json", "write_json"]


def read_json(path: Path | str) -> PredictionsDocument:
    """Read a document back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, PredictionsDocument, "a document of predictions")


def export(document: PredictionsDocument, folder: Path | str, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write every figure and every table.

    Args:
        document: What to write.
        folder: Where; missing folders are made, files of the same name are replaced.
        tables: Further tables by name, for instance all predictions.

    Returns:
        The files written.

    Raises:
        ReportError: If something cannot be drawn or written.
    """
    return export_files(figures_of(document), tables_of(document), folder, tables)
