"""What the command ``import`` does."""

from pathlib import Path

from rich.console import Console

from firsthand.cli.progress import TerminalProgress
from firsthand.importers.base import ImporterError
from firsthand.importers.importing import import_study
from firsthand.importers.registry import kinds, make_importer
from firsthand.importers.store import profile_json
from firsthand.report.files import write_text
from firsthand.report.imported_html import write_imported_html
from firsthand.report.imported_terminal import print_imported


def list_importers() -> None:
    """Say which importers there are."""
    console = Console()
    for name, title in kinds().items():
        console.print(f"{name:14} {title}", markup=False, highlight=False, soft_wrap=True)
    console.print("\nYour own: package.module:Class", markup=False, highlight=False)


def run_import(kind: str | None, folder: Path | None, out: Path | None, json: Path | None) -> None:
    """Read a folder of published trials, print its profile, and write trace, page and JSON."""
    if kind is None or folder is None:
        raise ImporterError(
            f"The {'kind' if kind is None else 'folder'} is missing.",
            f"Use: firsthand import KIND FOLDER --out DIR, with KIND one of {', '.join(kinds())}, or "
            "package.module:Class for your own.",
        )
    importer = make_importer(kind)
    place = out or Path("runs") / kind.rpartition(":")[2].replace(".", "-")
    with TerminalProgress() as progress:
        profile = import_study(importer, folder, place, progress)
        progress.say("drawing the page")
        page = write_imported_html(profile, place / "report.html")
    print_imported(profile, Console())
    if json is not None:
        write_text(json, profile_json(profile))
    Console(stderr=True).print(f"\nReport: {page}\nTrace:  {place / 'trace'}", markup=False, highlight=False)
