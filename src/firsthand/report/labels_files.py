"""The document of a label study as JSON, figures and tables; see :mod:`firsthand.report.exporting`."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from firsthand.report.exporting import export_files
from firsthand.report.files import read_document, write_json
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_figures import figures_of
from firsthand.report.labels_tables import tables_of

__all__ = ["export", "read_json", "write_json"]


def read_json(path: Path | str) -> LabelsDocument:
    """Read a document back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, LabelsDocument, "a labels document")


def export(document: LabelsDocument, folder: Path | str, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
    """Write every figure and every table.

    Of a document whose instrument failed, tables are written and figures are not.

    Args:
        document: What to write.
        folder: Where; missing folders are made, files of the same name are replaced.
        tables: Further tables by name, for instance all trials.

    Returns:
        The files written.

    Raises:
        ReportError: If a table has no usable name or one that is taken, or something cannot be drawn or written.
    """
    return export_files(figures_of(document), tables_of(document), folder, tables)
