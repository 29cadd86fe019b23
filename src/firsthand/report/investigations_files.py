"""The document of counterfactual investigations as JSON, figures and tables; see :mod:`firsthand.report.exporting`."""

from collections.abc import Collection, Mapping
from pathlib import Path

import pandas as pd

from firsthand.report.exporting import export_files
from firsthand.report.files import read_document, write_json
from firsthand.report.investigations_document import InvestigationsDocument
from firsthand.report.investigations_figures import figures_of
from firsthand.report.investigations_tables import tables_of

__all__ = ["export", "read_json", "write_json"]


def read_json(path: Path | str) -> InvestigationsDocument:
    """Read a document back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, InvestigationsDocument, "a document of investigations")


def export(
    document: InvestigationsDocument,
    folder: Path | str,
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    figures: Collection[str] | None = None,
) -> list[Path]:
    """Write tables of everything, and figures.

    Args:
        document: What to write.
        folder: Where; missing folders are made, files of the same name are replaced.
        tables: Further tables by name.
        figures: Identifiers of the investigations to draw. ``None``: those with the largest changes, at most
            :data:`~firsthand.report.investigations_figures.FIGURES` of them.

    Returns:
        The files written.

    Raises:
        ReportError: If a table has no usable name or one that is taken, or something cannot be drawn or written.
    """
    return export_files(figures_of(document, figures), tables_of(document), folder, tables or {})
