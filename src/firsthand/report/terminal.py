"""The profile in a terminal: compact, readable at 80 columns and without colour, deaf to commands in a model's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firsthand.analysis.results import CapabilityResult, Estimate, Profile
from firsthand.report.document import AuditDocument
from firsthand.report.formats import MINUS, Unit, estimate_text, level_text, percent, units_text
from firsthand.report.safe_text import one_line
from firsthand.report.views import Checked, estimates_of, known_reporters, smallest_gap, strongest_observer
from firsthand.report.words import CONDITIONS_SHORT, metric, wording
from firsthand.vocabulary import Verdict

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

WIDE = 136
"""From this many columns on, every figure has a column of its own."""

_STYLES = {Verdict.PRIVILEGED: "bold green", Verdict.INVERTED: "bold yellow", Verdict.ANOMALY_ONLY: "bold yellow"}
_ASCII = str.maketrans(
    {MINUS: "-", "·": ",", "—": "-", "…": "~", "“": '"', "”": '"', "’": "'", "✓": "+", "✗": "x", "→": "->"}
)


def print_profile(shown: Profile | AuditDocument, console: Console) -> None:
    """Print verdicts, the numbers behind them and the reasons.

    Of a document whose instrument failed, only the failed checks are printed.

    Args:
        shown: A profile, or a whole document, whose known answers are printed first.
        console: Where to print; its width and colour decide the form.
    """
    profile = shown.profile if isinstance(shown, AuditDocument) else shown
    if isinstance(shown, AuditDocument):
        _print_claim(shown, console)
        print_known_answers(shown, console)
        if profile is None:
            print_failure(shown, console)
            return
    if profile is None or not profile.results:
        console.print(_text("No capability was judged.", console))
        return
    levels = level_text([item for result in profile.results for item in estimates_of(result)])
    console.print()
    console.print(_text(f"Verdicts on {one_line(profile.reporter, 60)}", console, "bold"))
    console.print(_wide_table(profile, console) if console.width >= WIDE else _narrow_table(profile, console))
    console.print(
        _text(f"Brackets hold {levels} intervals. Gap: the report minus the strongest observer.", console, "dim")
    )
    _print_reasons(profile, console)


def print_known_answers(document: Checked, console: Console) -> None:
    """Print what the instrument said of reporters whose answer is known, as one compact table."""
    reporters = known_reporters(document)
    if not reporters:
        return
    table = _table(console, "Known answers")
    table.add_column("Reporter", overflow="fold")
    table.add_column("Asked for", overflow="fold")
    table.add_column("Verdict", overflow="fold")
    table.add_column("", no_wrap=True)
    for reporter in reporters:
        for index, row in enumerate(reporter.rows):
            item = row.item
            got = item.obtained.value if item.obtained is not None else "no verdict"
            table.add_row(
                _text(one_line(reporter.name, 30) if index == 0 else "", console),
                _text(item.capability.value, console),
                _text(got if item.passed else f"expected {item.expected.value}, got {got}", console),
                _text("✓ as expected" if item.passed else "✗ FAILED", console, "green" if item.passed else "bold red"),
            )
    console.print()
    console.print(table)


def _print_claim(document: AuditDocument, console: Console) -> None:
    console.print(_text(f"Claim    {one_line(document.claim.title)}", console, "bold"))
    console.print(_text(f"SHA-256  {one_line(document.claim_hash)}", console, "dim"))
    console.print(_text(f"Model    {one_line(document.model.name)}", console))
    if document.selection is not None:
        cell = document.selection.chosen
        console.print(_text(f"Edit     layer {cell.layer}, dose {cell.dose:g} (chosen on selection blocks)", console))


def print_failure(document: Checked, console: Console) -> None:
    """Print that there is no verdict, and every failed check."""
    console.print()
    console.print(_text("No verdict: the instrument is out of order.", console, "bold red"))
    for failure in document.failed_checks:
        console.print(_bullet(one_line(failure), console))


def print_passed(document: Checked, console: Console) -> None:
    """Print how many checks with a known answer there were, all of which passed."""
    count = len(document.known_answers)
    if count:
        console.print(_text(f"Checks   all {count} with a known answer came out as they must", console))


def _wide_table(profile: Profile, console: Console) -> Table:
    table = _table(console, None)
    for name in ("Capability", "Condition", "Verdict", "Report", "Strongest observer", "Gap", "Coverage"):
        table.add_column(name, overflow="fold", no_wrap=name in {"Condition", "Coverage"})
    for result in profile.results:
        table.add_row(
            _text(result.capability.value, console),
            _text(CONDITIONS_SHORT[result.condition], console),
            _verdict(result, console),
            *(_text(cell, console) for cell in _cells(result)),
            _text(percent(result.coverage), console),
        )
    return table


def _narrow_table(profile: Profile, console: Console) -> Table:
    table = _table(console, None)
    table.add_column("Asked for", overflow="fold")
    table.add_column("Verdict", overflow="fold")
    table.add_column("Evidence", overflow="fold")
    for index, result in enumerate(profile.results):
        if index:
            table.add_row("", "", "")
        table.add_row(
            _text(f"{result.capability.value}\n{CONDITIONS_SHORT[result.condition]}", console),
            _verdict(result, console),
            _text("\n".join(_evidence(result)), console),
        )
    return table


def _evidence(result: CapabilityResult) -> list[str]:
    """Give the numbers of one result as short lines; units are named once where all share them."""
    measure = metric(result.capability, result.chance)
    best, gap = strongest_observer(result), smallest_gap(result)
    rows = [
        ("report", result.score, measure.unit),
        ("best observer", None if best is None else best.score, measure.unit),
    ]
    rows.append(("gap", gap, measure.gap_unit))
    known = [(name, estimate, unit) for name, estimate, unit in rows if estimate is not None]
    units = {units_text(estimate) for _, estimate, _ in known}
    lines = []
    for name, estimate, unit in known:
        lines.append(f"{name} {estimate_text(estimate, unit)}")
        if name == "best observer" and best is not None:
            lines.append(f"  ({one_line(best.name, 34)})")
        if len(units) > 1:
            lines.append(f"  {units_text(estimate)}")
    lines += ["not scored"] if result.score is None else []
    lines += sorted(units) if len(units) == 1 else []
    return [*lines, f"coverage {percent(result.coverage)}"]


def _cells(result: CapabilityResult) -> tuple[str, str, str]:
    measure = metric(result.capability, result.chance)
    best = strongest_observer(result)
    score = _with_units(result.score, measure.unit)
    if best is None:
        return score, "none", "none"
    observer = f"{one_line(best.name, 34)}\n{estimate_text(best.score, measure.unit)}"
    return score, observer, _with_units(smallest_gap(result), measure.gap_unit)


def _with_units(estimate: Estimate | None, unit: Unit) -> str:
    return "not scored" if estimate is None else f"{estimate_text(estimate, unit)}\n{units_text(estimate)}"


def _verdict(result: CapabilityResult, console: Console) -> Text:
    return _text(result.verdict.value, console, _STYLES.get(result.verdict, "bold"))


def _print_reasons(profile: Profile, console: Console) -> None:
    """Print reasons, once where conditions share them."""
    shared: dict[tuple[object, ...], list[CapabilityResult]] = {}
    for result in profile.results:
        shared.setdefault((result.capability, result.verdict, result.reasons), []).append(result)
    for results in shared.values():
        first = results[0]
        conditions = " and ".join(CONDITIONS_SHORT[result.condition] for result in results)
        title = wording(first.verdict, first.capability).title
        console.print()
        console.print(_text(f"{first.capability.value}, {conditions}: {title}", console, "bold"))
        for reason in first.reasons:
            console.print(_bullet(one_line(reason), console))


def _bullet(line: str, console: Console) -> Table:
    from rich.table import Table

    grid = Table.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(_text("  -", console), _text(line, console))
    return grid


def _table(console: Console, title: str | None) -> Table:
    from rich import box
    from rich.table import Table

    style = box.SIMPLE_HEAD if _unicode(console) else box.ASCII
    return Table(title=title, title_justify="left", title_style="bold", box=style, show_lines=False, pad_edge=False)


def _text(line: str, console: Console, style: str = "") -> Text:
    """Make text that Rich takes literally: no markup, no emoji codes, nothing the output cannot encode."""
    from rich.text import Text

    if not _unicode(console):
        line = line.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
    return Text(line, style=style)


def _unicode(console: Console) -> bool:
    return console.encoding.lower().replace("-", "").startswith("utf")
