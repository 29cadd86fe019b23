"""How every command on a label study ends: page, figures and data in the folder, verdicts on the screen."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from rich.console import Console

from firsthand.errors import InstrumentError
from firsthand.progress import Progress
from firsthand.report.labels_document import LabelsDocument
from firsthand.report.labels_files import export, write_json
from firsthand.report.labels_html import write_labels_html
from firsthand.report.labels_terminal import print_labels


def written(document: LabelsDocument, out: Path, tables: Mapping[str, pd.DataFrame], progress: Progress) -> Path:
    """Write page, figures and data of a finished study.

    Args:
        document: What was found.
        out: The run's folder.
        tables: Further tables by name, such as all trials.
        progress: Who is told.

    Returns:
        The page.

    Raises:
        ReportError: If something cannot be drawn or written.
    """
    progress.say("writing the report")
    page = write_labels_html(document, out / "report.html")
    export(document, out, tables)
    return page


def told(document: LabelsDocument, out: Path, json: Path | None) -> None:
    """Print the verdicts and where everything lies.

    Args:
        document: What was found.
        out: The run's folder.
        json: Where the document goes, too.

    Raises:
        InstrumentError: If a check of the instrument failed, after everything was printed.
    """
    print_labels(document, Console())
    if json is not None:
        write_json(document, json)
    page = out / "report.html"
    where = f"\nReport:  {page}\nFigures: {out / 'figures'}\nData:    {out / 'data'}\nTrace:   {out / 'trace'}"
    Console(stderr=True).print(where, markup=False, highlight=False)
    if not document.instrument_ok:
        raise InstrumentError(
            f"A check of the instrument failed, so no verdict is given: {'; '.join(document.failed_checks)}.",
            f"See {page} for the reasons; the trace is kept.",
        )
