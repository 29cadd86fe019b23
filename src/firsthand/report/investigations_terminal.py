"""Counterfactual investigations in a terminal: the account, what was found, labels, costs, and where files are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from firsthand.counterfactual.costs import cost_text, total_text
from firsthand.counterfactual.investigation import Experiment, Investigation
from firsthand.report.formats import percent
from firsthand.report.investigations_document import InvestigationsDocument, Step
from firsthand.report.investigations_views import (
    cause_words,
    change_view,
    edit_line,
    most_informative,
    rate_view,
    size_of_change,
    status_of,
)
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import _bullet, _table, _text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

SHOWN = 25
"""Investigations that are listed at most: those with the largest changes."""

WIDE = 110
"""From this many columns on, every figure has a column of its own."""

_STYLES = {"verified": "bold green", "unfinished": "bold yellow"}


def print_investigations(document: InvestigationsDocument, console: Console, files: Sequence[Path | str] = ()) -> None:
    """Print what became of every prompt, what was found, and what it cost.

    Args:
        document: What to print.
        console: Where to print; its width and colour decide the form.
        files: What was written, to be named at the end.
    """
    _print_heading(document, console)
    console.print(_text(f"Prompts  {document.account.began:,}", console))
    _print_steps(document.account.steps, console)
    console.print()
    _print_found(document, console)
    _print_claims(document, console)
    _print_costs(document, console)
    if document.notes:
        console.print()
    for note in document.notes:
        console.print(_bullet(one_line(note), console))
    if files:
        console.print()
    for name in files:
        console.print(_text(f"Written  {one_line(str(name))}", console))


def _print_heading(document: InvestigationsDocument, console: Console) -> None:
    console.print(_text(one_line(document.title), console, "bold"))
    console.print(_text(f"Target   {one_line(document.target)}", console))
    console.print(_text(f"By       {one_line(document.investigator)}", console))
    if document.stopped:
        console.print(_text(f"Stopped  {one_line(document.stopped)}", console, "bold yellow"))


def _print_steps(steps: Sequence[Step], console: Console) -> None:
    for step in steps:
        gone = ", ".join(f"{count:,} {one_line(why, 60)}" for why, count in step.dropped.items() if count)
        unit = "" if step.unit == "prompts" else f" {one_line(step.unit, 20)}"
        true = "" if step.true is None else f", {step.true:,} true"
        line = f"{one_line(step.name, 40)}: {step.kept:,}{unit}{true}" + (f" (left out: {gone})" if gone else "")
        console.print(_bullet(line, console))


def _print_found(document: InvestigationsDocument, console: Console) -> None:
    if not document.investigations:
        console.print(_text("Nothing was investigated.", console))
        return
    ordered = sorted(document.investigations, key=size_of_change, reverse=True)
    console.print(
        _wide(ordered[:SHOWN], document, console)
        if console.width >= WIDE
        else _narrow(ordered[:SHOWN], document, console)
    )
    level = f"{100 * document.thresholds.level:g}%"
    words = f"Brackets hold {level} intervals of the change; counts are of valid responses."
    if len(ordered) > SHOWN:
        words += f" The {SHOWN} with the largest changes of {len(ordered):,} are listed."
    console.print(_text(words, console, "dim"))


def _wide(shown: Sequence[Investigation], document: InvestigationsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Question", "Edit", "Before → after", "Change", "n", "Status"):
        table.add_column(_text(name, console), overflow="fold")
    for one in shown:
        question, edit, rates, change, counts = _cells(one, document, 400, 90)
        cells = (question, edit, rates, change, counts)
        table.add_row(*(_text(cell, console) for cell in cells), _status(one, document, console))
    return table


def _narrow(shown: Sequence[Investigation], document: InvestigationsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Question, and the most informative edit", "Measured"):
        table.add_column(name, overflow="fold", ratio=1 if name == "Measured" else 2)
    for index, one in enumerate(shown):
        if index:
            table.add_row("", "")
        question, edit, rates, change, counts = _cells(one, document, 200, 90)
        left = _text("\n".join(filter(None, (question, edit))), console)
        right = _text("\n".join((rates, change, counts, "")), console)
        right.append_text(_status(one, document, console))
        table.add_row(left, right)
    return table


def _cells(
    one: Investigation, document: InvestigationsDocument, question: int, edit: int
) -> tuple[str, str, str, str, str]:
    level, best = document.thresholds.level, most_informative(one)
    asked, before = f"“{one_line(one.screened.question, question)}”", rate_view(one.baseline, level)
    if best is None:
        return asked, "", before.share, "no valid experiment", before.counted
    after, change = rate_view(best.rate, level), change_view(one.baseline, best.rate, level)
    invalid = one.baseline.invalid + best.rate.invalid
    return (
        asked,
        edit_line(best.edit, edit),
        f"{before.share} → {after.share}",
        "" if change is None else change.text,
        f"{before.counted}, {after.counted}" + (f", {invalid} invalid" if invalid else "") + _flattered(best),
    )


def _flattered(experiment: Experiment) -> str:
    return "" if experiment.stage == "confirmed" else ", exploration"


def _status(one: Investigation, document: InvestigationsDocument, console: Console) -> Text:
    status, score = status_of(one, document.thresholds.score), one.score
    told = status if score is None else f"{status}, {score:.1f} of 10"
    told += f", {cause_words(one)}"
    if status == "unfinished" and one.ended:
        told = f"{status}: {one_line(one.ended, 60)}"
    return _text(told, console, _STYLES.get(status, ""))


def _print_claims(document: InvestigationsDocument, console: Console) -> None:
    console.print()
    true = sum(claim.label for claim in document.claims)
    if not document.claims:
        console.print(_text("Claims   none", console))
        return
    console.print(_text(f"Claims   {true:,} true, {len(document.claims) - true:,} false", console, "bold"))
    _print_steps(document.funnel, console)
    for error in document.label_errors:
        span = "" if error.low is None or error.high is None else f" [{percent(error.low)}, {percent(error.high)}]"
        line = f"{one_line(error.claims, 60)}: {percent(error.wrong)}{span} of {error.labels:,} labels are likely wrong"
        console.print(_bullet(line, console))
    if not document.label_errors:
        console.print(_bullet("how many labels must be expected to be wrong is not stated", console))


def _print_costs(document: InvestigationsDocument, console: Console) -> None:
    costs = document.costs
    if costs is None or not costs.rows:
        return
    console.print()
    console.print(
        _text(
            f"Cost     {total_text(costs)}, {costs.usage.calls:,} calls, {costs.usage.tokens:,} tokens", console, "bold"
        )
    )
    for row in costs.rows:
        used = row.entry.usage
        who = f"{one_line(row.entry.stage, 30)}, {one_line(row.entry.role, 30)}, {one_line(row.entry.model, 60)}"
        told = f"{cost_text(row, costs.currency)} ({used.calls:,} calls, {used.tokens_in:,} in, {used.output:,} out)"
        console.print(_bullet(f"{who}: {told}", console))
    if costs.unknown:
        named = ", ".join(one_line(model, 60) for model in costs.unknown)
        console.print(_bullet(f"no price is known for {named}: add it to a file of prices", console))
