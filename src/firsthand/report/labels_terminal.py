"""A label study in a terminal: what was left out, one table of verdicts, then reasons and notes for each question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.report.finding_views import merged
from firsthand.report.formats import Unit, estimate_text, level_text, number, units_text
from firsthand.report.labels_document import LabelsDocument, LabelsFinding
from firsthand.report.labels_words import LABELS
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

WIDE = 118
"""From this many columns on, the strongest observer has a column of its own."""


def print_labels(document: LabelsDocument, console: Console) -> None:
    """Print what was found, on which data, and why.

    Of a document whose instrument failed, only the failed checks are printed.

    Args:
        document: What to print.
        console: Where to print; its width and colour decide the form.
    """
    _print_claim(document, console)
    if not document.instrument_ok:
        print_known_answers(document, console)
        print_failure(document, console)
        return
    print_passed(document, console)
    console.print()
    results = [result for finding in document.findings for result in finding.results]
    if not results:
        console.print(_text("Nothing was judged.", console))
    else:
        console.print(_wide(document, console) if console.width >= WIDE else _narrow(document, console))
        levels = level_text([found for result in results for found in estimates_of(result)])
        chances = ", ".join(dict.fromkeys(_chance(result) for result in results))
        words = f"Brackets hold {levels} intervals over independent units; chance is {chances}."
        console.print(_text(words, console, "dim"))
    for finding in document.findings:
        _print_finding(finding, console)
    if document.notes:
        console.print()
    for note in document.notes:
        console.print(_bullet(one_line(note), console))


def _print_claim(document: LabelsDocument, console: Console) -> None:
    data, others = document.data, [one_line(model.name) for model in document.models[1:]]
    used = ", ".join(f"{count:,} {one_line(name)}" for name, count in data.used.items())
    dropped = ", ".join(f"{count:,} {one_line(reason)}" for reason, count in data.dropped.items() if count)
    lines = {
        "SHA-256": one_line(document.claim_hash),
        "Model": one_line(document.models[0].name) + (f", beside {', '.join(others)}" if others else ""),
        "Data": one_line(data.name) + (f" ({used})" if used else ""),
        "Left out": dropped or "none",
    }
    console.print(_text(f"Claim    {one_line(document.claim.title)}", console, "bold"))
    for name, line in lines.items():
        console.print(_text(f"{name:<8} {line}", console, "dim" if name == "SHA-256" else ""))


def _wide(document: LabelsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Asked", "Verdict", "Score", "Strongest observer", "Ahead of it by"):
        table.add_column(name, overflow="fold")
    for finding in document.findings:
        for title, result, conditions in merged(finding, _shown):
            cells = ("\n".join(_score(result)), "\n".join(_observer(result)), _gap(result))
            row = [_verdict(result, console), *(_text(cell, console) for cell in cells)]
            table.add_row(_text(_name(title, conditions), console), *row)
    return table


def _narrow(document: LabelsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Asked", "Verdict", "Score, and the strongest observer"):
        table.add_column(name, overflow="fold")
    for index, finding in enumerate(document.findings):
        for title, result, conditions in merged(finding, _shown):
            if index:
                table.add_row("", "", "")
            rival, *rest = _observer(result)
            lines = [*_score(result), f"against {rival}", *rest]
            evidence = _text("\n".join(lines), console)
            table.add_row(_text(_name(title, conditions), console), _verdict(result, console), evidence)
    return table


def _name(title: str, conditions: list[str]) -> str:
    return f"{one_line(title, 60)}\n{', '.join(conditions)}"


def _shown(result: CapabilityResult) -> tuple[str, ...]:
    return (*_score(result), *_observer(result), _gap(result))


def _score(result: CapabilityResult) -> list[str]:
    return ["not scored"] if result.score is None else [_estimate(result.score, result), units_text(result.score)]


def _observer(result: CapabilityResult) -> list[str]:
    best = strongest_observer(result)
    return ["no observer"] if best is None else [one_line(best.name, 34), _estimate(best.score, result)]


def _gap(result: CapabilityResult) -> str:
    gap, unit = smallest_gap(result), LABELS.metric(result.capability, result.chance).gap_unit
    return "-" if gap is None else estimate_text(gap, unit)


def _estimate(found: Estimate, result: CapabilityResult) -> str:
    return estimate_text(found, _unit(result))


def _unit(result: CapabilityResult) -> Unit:
    return LABELS.metric(result.capability, result.chance).unit


def _chance(result: CapabilityResult) -> str:
    return number(result.chance, _unit(result))


def _print_finding(finding: LabelsFinding, console: Console) -> None:
    console.print()
    console.print(_text(one_line(finding.title, 80), console, "bold"))
    for title in dict.fromkeys(LABELS.wording(result.verdict, result.capability).title for result in finding.results):
        console.print(_text(f"  {title}", console))
    reasons = dict.fromkeys(one_line(reason) for result in finding.results for reason in result.reasons)
    for line in (*reasons, *(one_line(note) for note in finding.notes)):
        console.print(_bullet(line, console))
    if not finding.results:
        console.print(_bullet("shown, not judged", console))
