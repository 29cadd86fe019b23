"""Predictions in a terminal: who was asked, one table of scores, then leads, flips and what to know."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from firsthand.analysis.predictions.results import OverFloors, PredictorScore
from firsthand.report.formats import Unit, estimate_text, level_text, p_text, percent
from firsthand.report.predictions_document import PredictionsDocument
from firsthand.report.predictions_words import KINDS, shown, status
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import _bullet, _table, _text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDE = 126
"""From this many columns on, every figure has a column of its own."""


def print_predictions(document: PredictionsDocument, console: Console, files: Sequence[Path | str] = ()) -> None:
    """Print what was found.

    Args:
        document: What to print.
        console: Where to print; its width and colour decide the form.
        files: What was written, to be named at the end.
    """
    found, card = document.results, document.claims
    console.print(_text(one_line(document.title), console, "bold"))
    dropped = ", ".join(f"{count:,} {one_line(why)}" for why, count in card.dropped.items() if count)
    for name, line in {
        "Claims": f"{found.claims:,} from {one_line(card.name)}, {found.true:,} true, {found.units:,} units",
        "Targets": ", ".join(one_line(one, 30) for one in card.targets[:4])
        + (f" and {len(card.targets) - 4} more" if len(card.targets) > 4 else ""),
        "Left out": dropped or "none",
    }.items():
        console.print(_text(f"{name:<8} {line}", console))
    console.print()
    console.print(_wide(document, console) if console.width >= WIDE else _narrow(document, console))
    auroc = [one.auroc for one in found.predictors if one.auroc is not None]
    words = (
        f"Brackets hold {level_text(auroc) if auroc else 'no'} intervals over {found.units:,} independent units. "
        "Accuracy, TPR and FPR are at a probability of one half; coverage is the mass on Yes and No."
    )
    console.print(_text(words, console, "dim"))
    _print_tools(document, console)
    _print_flips(document, console)
    if found.notes or document.notes:
        console.print()
    for note in (*found.notes, *document.notes):
        console.print(_bullet(one_line(note), console))
    if files:
        console.print()
    for place in files:
        console.print(_text(one_line(str(place)), console, "dim"))


def _wide(document: PredictionsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Predictor", "AUROC", "Accuracy", "TPR", "FPR", "Invalid", "Coverage", "Lead over the closest floor"):
        table.add_column(name, overflow="fold")
    ahead = {one.name: one for one in document.results.over_floors}
    for one in document.results.predictors:
        cells = (
            _name(one),
            shown(one.auroc, Unit.NUMBER),
            shown(one.accuracy, Unit.PERCENT),
            shown(one.tpr, Unit.PERCENT),
            shown(one.fpr, Unit.PERCENT),
            percent(one.invalid.value),
            percent(one.coverage.value),
            _lead(ahead.get(one.name)),
        )
        table.add_row(*(_text(cell, console) for cell in cells))
    return table


def _narrow(document: PredictionsDocument, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Predictor", "AUROC", "At one half", "Lead over the closest floor"):
        table.add_column(name, overflow="fold")
    ahead = {one.name: one for one in document.results.over_floors}
    for one in document.results.predictors:
        at_half = [f"accuracy {shown(one.accuracy, Unit.PERCENT)}"]
        rates = [None if rate is None else rate.value for rate in (one.tpr, one.fpr)]
        at_half.append("TPR {}, FPR {}".format(*("—" if rate is None else percent(rate) for rate in rates)))
        at_half.append(f"invalid {percent(one.invalid.value)}, coverage {percent(one.coverage.value)}")
        cells = (_name(one), shown(one.auroc, Unit.NUMBER), "\n".join(at_half), _lead(ahead.get(one.name)))
        table.add_row(*(_text(cell, console) for cell in cells))
    return table


def _name(score: PredictorScore) -> str:
    said = [one_line(score.name, 40), KINDS[score.kind], *([status(score)] if status(score) else [])]
    return "\n".join(said)


def _lead(found: OverFloors | None) -> str:
    if found is None:
        return "-"
    said = f"{estimate_text(found.lead, Unit.NUMBER)}\n{one_line(found.floor, 24)}, p {p_text(found.p_holm)}"
    return said + (f"\n{found.left_out} unanswered count as wrong" if found.left_out else "")


def _print_tools(document: PredictionsDocument, console: Console) -> None:
    if not document.results.tools:
        return
    console.print()
    console.print(_text("What tools add, on the same claims", console, "bold"))
    for one in document.results.tools:
        line = (
            f"{one_line(one.name, 60)} over {one_line(one.over, 40)}: AUROC {shown(one.auroc, Unit.NUMBER)}, accuracy "
            f"{shown(one.accuracy, Unit.POINTS)}; {document.card(one.name).calls:,} calls"
            + (f"; {one.left_out} claims left out" if one.left_out else "")
        )
        console.print(_bullet(line, console))


def _print_flips(document: PredictionsDocument, console: Console) -> None:
    rows = [(one, row) for one in document.results.flips for row in one.rows if row.to_no_effect + row.to_effect]
    if not rows:
        return
    console.print()
    console.print(
        _text(f"Answers other than those of {one_line(document.results.baseline or '', 40)}", console, "bold")
    )
    for one, row in rows:
        label = "true" if row.label else "false"
        line = (
            f"{one_line(one.name, 40)}, {label} claims: {row.to_no_effect + row.to_effect} of {row.claims} answered "
            f"otherwise, {row.to_no_effect} towards 'no effect'; {row.right} to right, {row.wrong} to wrong"
        )
        console.print(_bullet(line, console))
