"""An imported profile in a terminal: one block a study, readable at 80 columns and without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.analysis.findings import ImportedProfile, StudyResult
from firsthand.analysis.means import plural
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import _bullet, _table, _text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_STYLES = {"caution": "yellow", "gap": "cyan", "result": ""}
_SIGNS = {"caution": "!", "gap": "?", "result": "-"}


def print_imported(profile: ImportedProfile, console: Console) -> None:
    """Print every study's verdict, findings and reasons.

    Args:
        profile: What was found.
        console: Where to print; its width and colour decide the form.
    """
    console.print(_text(f"Imported  {one_line(profile.title)}", console, "bold"))
    console.print(_text(f"Files     {len(profile.sources)} read, {len(profile.studies)} studies", console))
    table = _table(console, None)
    for name in ("Study", "Asked for", "Measurements", "Units", "Verdict"):
        table.add_column(name, overflow="fold")
    for study in profile.studies:
        table.add_row(
            _text(one_line(study.name, 40), console),
            _text(study.capability.value, console),
            _text(measured_line(study), console),
            _text(units_line(study), console),
            _text(verdict_word(study), console, "bold"),
        )
    console.print(table)
    for study in profile.studies:
        _print_study(study, console)
    if profile.notes:
        console.print()
        console.print(_text("Left out", console, "bold"))
        for note in profile.notes:
            console.print(_bullet(one_line(note, 600), console))
    console.print()
    console.print(_text(f"Brackets hold {100 * profile.level:g}% intervals over independent units.", console, "dim"))


def measured_line(study: StudyResult) -> str:
    """``800 of 40,000``: distinct measurements among the published answers, or one number where all are distinct."""
    if study.measurements == study.published_answers:
        return f"{study.measurements:,}"
    return f"{study.measurements:,} of {study.published_answers:,}"


def units_line(study: StudyResult) -> str:
    """``8 concepts, 3 carriers``: independent units by cluster column."""
    return ", ".join(plural(count, one_line(name, 24)) for name, count in study.clusters.items())


def verdict_word(study: StudyResult) -> str:
    """The verdict, or that the study is a control."""
    return "control" if study.verdict is None else study.verdict.value


def _print_study(study: StudyResult, console: Console) -> None:
    console.print()
    console.print(_text(f"{one_line(study.name, 60)}: {verdict_word(study)}", console, "bold"))
    console.print(_text(one_line(study.title, 300), console, "dim"))
    for finding in study.findings:
        console.print(_marked(_SIGNS[finding.tone], one_line(finding.sentence), console, _STYLES[finding.tone]))
    if study.reasons:
        console.print(_text(f"Why {verdict_word(study)}", console, "bold"))
        for reason in study.reasons:
            console.print(_bullet(one_line(reason), console))
    if study.concluded:
        console.print(_text("What can be concluded", console, "bold"))
        for line in study.concluded:
            console.print(_bullet(one_line(line), console))
    for note in study.notes:
        console.print(_marked("·", one_line(note, 600), console, "dim"))


def _marked(sign: str, line: str, console: Console, style: str) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(_text(f"  {sign}", console, style), _text(line, console))
    return grid
