"""What the command ``doctor`` does."""

from json import dumps
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from firsthand.cli.progress import TerminalProgress
from firsthand.engine.doctor import Diagnosis, Finding, diagnose
from firsthand.engine.loading import load
from firsthand.errors import InstrumentError
from firsthand.report.files import write_text

_STYLES = {Finding.OK: "green", Finding.NOTE: "cyan", Finding.WARNING: "yellow", Finding.FAILED: "bold red"}


def run_doctor(model: str, json: Path | None, device: str | None, dtype: str) -> None:
    """Examine a model, print what was found, and fail if results would be wrong."""
    with TerminalProgress() as progress:
        progress.say(f"loading {model}")
        loaded = load(model, device=device, dtype=dtype, progress=progress.say)
        progress.say("examining it")
        diagnosis = diagnose(loaded)
    Console().print(_table(diagnosis))
    if json is not None:
        write_text(json, dumps(diagnosis.as_json(), indent=2) + "\n")
    if diagnosis.failed:
        raise InstrumentError(
            f"{len(diagnosis.failed)} checks failed: {', '.join(check.name for check in diagnosis.failed)}.",
            "Do not use this model with this tool as it is; see the table for what each check means.",
        )


def _table(diagnosis: Diagnosis) -> Table:
    table = Table(title=f"{diagnosis.model} ({diagnosis.dtype}, {diagnosis.device})", box=None, title_justify="left")
    for heading in ("check", "", "measured", "what it means"):
        table.add_column(heading)
    for check in diagnosis.checks:
        finding = Text(check.finding, style=_STYLES[check.finding])
        table.add_row(Text(check.name), finding, Text(check.measured), Text(check.meaning, style="dim"))
    return table
