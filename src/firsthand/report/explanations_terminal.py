"""Open explanations in a terminal: who writes in the form, who names the cause, and whose text helps whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.analysis.results import Estimate
from firsthand.counterfactual.explaining.simulatability import Arm
from firsthand.report.explanations_document import HelpRow, OpenExplanations, WriterRow
from firsthand.report.formats import Unit, estimate_text, level_text, percent
from firsthand.report.safe_text import one_line
from firsthand.report.terminal import _bullet, _table, _text

if TYPE_CHECKING:
    from rich.console import Console

_NAME = 34


def print_explanations(shown: OpenExplanations, console: Console) -> None:
    """Print what was written, and what it is worth to whom."""
    console.print()
    counts = (
        f"{shown.held_out} of {shown.investigations} investigations were explained, in {shown.units} independent "
        f"units, with {shown.claims} claims; {shown.leaked} of them leak from some text"
    )
    console.print(_text(counts, console))
    _print_table(("Who wrote", "Has the form", "Names causes", "Names what is none", "Difference", "Invalid"),
                 [_written(one) for one in shown.writers], console)  # fmt: skip
    console.print()
    header = ("Who wrote", "Accuracy", "Over transcript", "Over another's", "Over neutral")
    _print_table(header, [_helped(one) for one in shown.helps], console)
    for row in shown.helps:
        units = f"{row.found.claims} answers in {row.found.units} units"
        console.print(
            _bullet(
                one_line(f"{row.writer}, read by {row.found.simulator} ({units}): helps: {row.says}, {row.found.why}"),
                console,
            )
        )
    level = level_text(shown.estimates)
    console.print(_text(f"Brackets hold {level} intervals over units; seeds are pooled.", console, "dim"))


def _print_table(header: tuple[str, ...], rows: list[tuple[str, ...]], console: Console) -> None:
    table = _table(console, None)
    for name in header:
        table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(_text(cell, console) for cell in row))
    console.print(table)


def _written(one: WriterRow) -> tuple[str, ...]:
    seeds = f", {len(one.seeds)} seeds" if one.seeds else ""
    found = one.naming
    rates = (None, None, None) if found is None else (found.cause, found.no_cause, found.difference)
    units = (Unit.PERCENT, Unit.PERCENT, Unit.POINTS)
    return (
        f"{one_line(one.name, _NAME)} ({one.kind}{seeds})",
        _or_dash(one.valid, Unit.PERCENT),
        *(_or_dash(rate, unit) for rate, unit in zip(rates, units, strict=True)),
        "-" if found is None else percent(found.invalid),
    )


def _helped(row: HelpRow) -> tuple[str, ...]:
    over: dict[Arm, Estimate | None] = {one.over: one.accuracy for one in row.found.uplifts}
    arms: tuple[Arm, ...] = ("transcript", "shuffled", "neutral")
    return (
        f"{one_line(row.writer, _NAME)}, read by {one_line(row.found.simulator, _NAME)}",
        _or_dash(row.found.accuracy.get("explanation"), Unit.PERCENT),
        *(_or_dash(over.get(arm), Unit.POINTS) for arm in arms),
    )


def _or_dash(found: Estimate | None, unit: Unit) -> str:
    return "-" if found is None else estimate_text(found, unit)
