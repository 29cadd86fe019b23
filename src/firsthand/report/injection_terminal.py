"""An injection study in a terminal: one table of verdicts, then a few lines a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.analysis.results import CapabilityResult
from firsthand.report.finding_views import merged
from firsthand.report.formats import Unit, estimate_text, level_text, number, units_text
from firsthand.report.injection_document import FindingResult, InjectionDocument
from firsthand.report.injection_views import cell_text
from firsthand.report.injection_words import INJECTION
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import (
    _bullet,
    _table,
    _text,
    _verdict,
    print_failure,
    print_known_answers,
    print_passed,
)
from firsthand.report.views import estimates_of, smallest_gap, strongest_observer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE = 104
"""From this many columns on, condition and chance have columns of their own."""


def print_injection(document: InjectionDocument, console: Console) -> None:
    """Print what was found, the best of the grid beside what was confirmed, and why.

    Of a document whose instrument failed, only the failed checks are printed.

    Args:
        document: What to print.
        console: Where to print; its width and colour decide the form.
    """
    console.print(_text(f"Claim    {one_line(document.claim.title)}", console, "bold"))
    console.print(_text(f"SHA-256  {one_line(document.claim_hash)}", console, "dim"))
    console.print(_text(f"Model    {one_line(document.model.name)}", console))
    counts = f"{len(document.concepts_choosing)} choose settings, {len(document.concepts_judging)} are judged"
    console.print(_text(f"Concepts {counts}", console))
    if not document.instrument_ok:
        print_known_answers(document, console)
        print_failure(document, console)
        return
    print_passed(document, console)
    console.print()
    console.print(_wide(document, console) if console.width >= WIDE else _narrow(document, console))
    results = [result for finding in document.findings for result in finding.results]
    levels = level_text([found for result in results for found in estimates_of(result)])
    console.print(_text(f"Brackets hold {levels} intervals over independent units.", console, "dim"))
    for finding in document.findings:
        _print_finding(finding, console)


def _wide(document: InjectionDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Asked", "Condition", "Verdict", "Score", "Chance"):
        table.add_column(name, overflow="fold", no_wrap=name in {"Condition", "Chance"})
    for finding in document.findings:
        for title, result, conditions in merged(finding, _shown):
            table.add_row(
                _text(one_line(title, 60), console),
                _text("\n".join(conditions), console),
                _verdict(result, console),
                _text("\n".join(_score(result)), console),
                _text(_chance(result), console),
            )
    return table


def _narrow(document: InjectionDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Asked", "Verdict", "Score"):
        table.add_column(name, overflow="fold")
    for finding in document.findings:
        for title, result, conditions in merged(finding, _shown):
            table.add_row(
                _text(f"{one_line(title, 60)}\n{', '.join(conditions)}", console),
                _verdict(result, console),
                _text("\n".join([*_score(result), f"chance {_chance(result)}"]), console),
            )
    return table


def _shown(result: CapabilityResult) -> tuple[str, ...]:
    return (*_score(result), _chance(result))


def _score(result: CapabilityResult) -> list[str]:
    if result.score is None:
        return ["not scored"]
    unit = INJECTION.metric(result.capability, result.chance).unit
    return [estimate_text(result.score, unit), units_text(result.score)]


def _chance(result: CapabilityResult) -> str:
    return number(result.chance, INJECTION.metric(result.capability, result.chance).unit)


def _print_finding(finding: FindingResult, console: Console) -> None:
    console.print()
    console.print(_text(one_line(finding.title, 80), console, "bold"))
    if finding.selection is not None:
        for line in _selection_lines(finding):
            console.print(_bullet(line, console))
    for line in dict.fromkeys(_lines(result) for result in finding.results):
        console.print(_bullet(line, console))
    rivals = dict.fromkeys(line for result in finding.results if (line := _rivals(result)))
    for line in list(rivals)[:1]:
        console.print(_bullet(line, console))
    if not finding.results:
        console.print(_bullet("shown, not judged", console))


def _selection_lines(finding: FindingResult) -> tuple[str, ...]:
    selection = finding.selection
    if selection is None:
        return ()
    unit = selection.grids[0].rise_unit if selection.grids else Unit.POINTS
    naive, chosen = selection.naive_cell, selection.chosen
    setting, naive_setting = one_line(selection.chosen_setting, 40), one_line(selection.naive_setting, 40)
    confirmed = "not confirmed"
    if selection.confirmed is not None:
        confirmed = f"{estimate_text(selection.confirmed, unit)} ({units_text(selection.confirmed)})"
    found = "unknown" if selection.found is None else estimate_text(selection.found, unit)
    best = f"{estimate_text(selection.naive, unit)} ({units_text(selection.naive)})"
    return (
        f"best of the grid, where it was found: {best}, {cell_text(naive.layer, naive.dose, naive_setting)}",
        f"chosen cell, where it was chosen: {found}, {cell_text(chosen.layer, chosen.dose, setting)}",
        f"the same, judged on other concepts: {confirmed}",
    )


def _lines(result: CapabilityResult) -> str:
    title = INJECTION.wording(result.verdict, result.capability).title
    reason = f": {one_line(result.reasons[0])}" if result.reasons else ""
    return f"{title}{reason}"


def _rivals(result: CapabilityResult) -> str:
    """The strongest observer and the arm that the report is least ahead of."""
    measure = INJECTION.metric(result.capability, result.chance)
    found = []
    best, gap = strongest_observer(result), smallest_gap(result)
    if best is not None and gap is not None:
        found.append(
            f"strongest observer {one_line(best.name, 34)}, {estimate_text(best.score, measure.unit)}: "
            f"gap {estimate_text(gap, measure.gap_unit)}"
        )
    arm = min(result.arms, key=lambda row: row.lead.value, default=None)
    if arm is not None:
        found.append(
            f"closest control {one_line(arm.name, 34)}, {estimate_text(arm.score, measure.unit)}: "
            f"lead {estimate_text(arm.lead, measure.gap_unit)}"
        )
    return "; ".join(found)
