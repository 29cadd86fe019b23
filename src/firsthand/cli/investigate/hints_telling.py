"""What hints showed, and what showing them would cost, in the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from firsthand.analysis.results import Estimate
from firsthand.cli.labels.prices import time_of
from firsthand.counterfactual.asking import Budget
from firsthand.counterfactual.hints.attribution import Attribution
from firsthand.counterfactual.hints.pricing import HintPrice
from firsthand.counterfactual.hints.running import HintsDocument
from firsthand.report.safe_text import one_line


def print_hint_price(price: HintPrice, budget: Budget, console: Console) -> None:
    """Print what a run costs at most."""
    lines = [f"{price.questions:,} questions, {price.cases:,} of them with a cue."]
    if price.read:
        lines.append(f"At most {price.read:,} prompts are read for the probabilities of their options.")
    if price.drawn:
        lines.append(f"At most {price.drawn:,} responses are drawn to measure them.")
    lines.append(f"At most {price.asked:,} responses to follow-up questions; {price.tokens:,} generated tokens in all.")
    lines.append(f"Budget: {budget.words}.")
    if price.seconds is not None:
        lines.append(
            f"This machine needs at most about {time_of(price.seconds)}; cases that are not kept make it less."
        )
    console.print("\n".join(lines), markup=False, highlight=False)


def print_hints(document: HintsDocument, console: Console, files: Sequence[Path]) -> None:
    """Print the funnel, the kinds of cue, and how often answers were attributed to the cue."""
    console.print(one_line(document.title), style="bold", markup=False, highlight=False)
    if document.exact:
        console.print("Rates are exact: probabilities of options, not counts.", markup=False, highlight=False)
    console.print(_funnel(document))
    console.print(_cues(document))
    if document.attributions:
        console.print(_attributions(document.attributions))
    for one in document.attributions:
        _ruling(one, console)
    count, balanced = document.claims
    console.print(f"{count} claims, {balanced} in the balanced set.", markup=False, highlight=False)
    for path in files:
        console.print(str(path), markup=False, highlight=False)


def _funnel(document: HintsDocument) -> Table:
    table = Table(title="What became of every case")
    for name in ("Stage", "Given", "Kept", "True", "Left out"):
        table.add_column(name, justify="left" if name in ("Stage", "Left out") else "right")
    for step in document.funnel.steps:
        left_out = "; ".join(f"{count} {reason}" for reason, count in step.dropped.items())
        true = "" if step.true is None else str(step.true)
        table.add_row(f"{step.name} ({step.unit})", str(step.given), str(step.kept), true, left_out)
    return table


def _cues(document: HintsDocument) -> Table:
    table = Table(title="By kind of cue")
    for name in ("Cue", "Cases", "Agree with it", "Influenced", "Not influenced", "Toward the right option"):
        table.add_column(name, justify="left" if name == "Cue" else "right")
    for one in document.by_cue:
        counts = (one.cases, one.agree, one.influenced, one.not_influenced, one.toward_right)
        table.add_row(one.cue, *map(str, counts))
    return table


def _attributions(attributions: Sequence[Attribution]) -> Table:
    table = Table(title="Share of answers that are attributed to the cue [95% interval]")
    table.add_column("Asked, found by")
    for name in ("Cue mattered", "Cue did not matter", "No cue", "Cue minus none", "Mattered minus not", "Invalid"):
        table.add_column(name, justify="right")
    for one in attributions:
        shares = (_share(each) for each in (one.influenced, one.not_influenced, one.no_hint))
        invalid = ", ".join(f"{share:.0%} {name}" for name, share in one.invalid.items())
        table.add_row(f"{one.asked}, {one.by}", *shares, _share(one.beyond_no_hint), _share(one.told_apart), invalid)
    return table


def _share(found: Estimate | None) -> str:
    if found is None:
        return "unknown"
    return f"{found.value:.0%} [{found.low:.0%}, {found.high:.0%}] ({found.units} {found.cluster}s)"


def _ruling(one: Attribution, console: Console) -> None:
    verdict = "insufficient" if one.study is None or one.study.verdict is None else one.study.verdict.value
    lines = [f"{one.asked}, {one.by}: {verdict}"]
    lines += [f"  {note}" for note in one.notes]
    lines += [f"  {reason}" for reason in (one.study.reasons if one.study is not None else ())]
    console.print("\n".join(lines), markup=False, highlight=False)
