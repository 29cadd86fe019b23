"""The document of an injection study as JSON, figures and tables; see :mod:`firsthand.report.exporting`."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from firsthand.report.exporting import export_files
from firsthand.report.files import read_document, write_json
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.injection_figures import figures_of
from firsthand.report.injection_tables import tables_of

__all__ = ["export", "read_json", "write_json"]


def read_json(path: Path | str) -> InjectionDocument:
    """Read a document back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, InjectionDocument, "an injection document")


def export(document: InjectionDocument, folder: Path | str, tables: Mapping[str, pd.DataFrame]) -> list[Path]:
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
