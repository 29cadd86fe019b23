"""Reports: one document, shown as a page, a terminal table or JSON.

Importing this package is quick; the chart and template libraries are loaded when something is drawn.
"""

from firsthand.report.document import (
    AuditDocument,
    Cell,
    FreezeEntry,
    KnownAnswer,
    ModelCard,
    ObserverNotRun,
    Selection,
    SelectionRow,
    TrialAnswer,
    TrialSample,
)
from firsthand.report.files import ReportError, read_json, write_json
from firsthand.report.html import render_html, write_html
from firsthand.report.terminal import print_known_answers, print_profile

__all__ = [
    "AuditDocument",
    "Cell",
    "FreezeEntry",
    "KnownAnswer",
    "ModelCard",
    "ObserverNotRun",
    "ReportError",
    "Selection",
    "SelectionRow",
    "TrialAnswer",
    "TrialSample",
    "print_known_answers",
    "print_profile",
    "read_json",
    "render_html",
    "write_html",
    "write_json",
]
