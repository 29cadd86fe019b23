"""What was found, and what it would cost, in the terminal. Texts of models and prompts are shown, never obeyed."""

from typing import Final

from rich.console import Console

from firsthand.cli.labels.prices import time_of
from firsthand.counterfactual.asking import Budget
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.pricing import Price
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.running import Ran, confirmed
from firsthand.report.safe_text import one_line

_PROMPT: Final = 90


def print_price(price: Price, budget: Budget, console: Console) -> None:
    """Print what a run costs at most."""
    lines = [
        f"{price.prompts:,} prompts are sampled: {price.screening:,} responses.",
        f"At most {price.investigations:,} investigations: at most {price.investigating:,} responses.",
        f"At most {price.tokens:,} generated tokens in all.",
        f"Budget: {budget.words}.",
    ]
    if price.rate is not None and price.seconds is not None:
        lines.append(
            f"This machine does {price.rate:,.0f} tokens a second: at most about {time_of(price.seconds)}; "
            "responses that end early and causes that are found soon make it less."
        )
    console.print("\n".join(lines), markup=False, highlight=False)


def print_ran(ran: Ran, console: Console) -> None:
    """Print every confirmed cause, and what became of every prompt."""
    lines: list[str] = []
    for number, one in enumerate(ran.explained, start=1):
        lines += [*_told(number, one), ""]
    total = len(ran.prompts) + ran.repeated
    lines.append(f"{total:,} prompts:")
    lines += [f"  {count:>5,}  {what}" for what, count in ran.accounts().items() if count]
    spent = ran.spent
    lines.append(f"Drawn in this folder: {spent.responses:,} responses, {spent.tokens:,} tokens.")
    lines += [f"Not finished: {why}" for why in sorted({one.ended for one in ran.investigations if one.ended})]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _told(number: int, one: Investigation) -> list[str]:
    prompt = one.screened.prompt.turns[-1].content
    lines = [
        f"{number}. {one_line(one.screened.summary)}",
        f"   Prompt {one_line(one.screened.prompt.place) or one.screened.prompt.id}: {one_line(prompt, _PROMPT)}",
        f"   On fresh responses: {_rate(one.baseline)}.",
    ]
    for cause in confirmed(one):
        lines.append(f"   Cause: {one_line(cause.hypothesis)}")
        lines += [f"     {one_line(evidence)}" for evidence in cause.evidence]
    return lines


def _rate(rate: Rate) -> str:
    if rate.share is None:
        return "nothing could be judged"
    low, high = rate.interval()
    invalid = f", {rate.invalid} invalid" if rate.invalid else ""
    return f"{rate.share:.0%} ({low:.0%}-{high:.0%}, {rate.yes} of {rate.valid}{invalid})"
