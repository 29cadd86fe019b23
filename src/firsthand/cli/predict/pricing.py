"""What predictions would cost, in the terminal."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console

from firsthand.cli.labels.prices import time_of
from firsthand.cli.predict.ask import Ask
from firsthand.counterfactual.costs import cost_text, costs_of, total_text
from firsthand.counterfactual.predicting.reading import ReadClaims
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.usage import Entry


class ModelPrice(NamedTuple):
    """What asking one model costs.

    Attributes:
        name: Name of the predictor.
        claims: Claims that it has not been asked about.
        tokens: Tokens that are computed for them.
        rate: Tokens a second of a measured pass; ``None`` if nothing can be asked.
    """

    name: str
    claims: int
    tokens: int
    rate: float | None

    @property
    def seconds(self) -> float:
        """Time at the measured rate."""
        return self.tokens / self.rate if self.rate else 0.0


class AgentPrice(NamedTuple):
    """What asking one agent costs.

    Attributes:
        name: Name of the predictor.
        claims: Claims that it has not been asked about.
        expected: Calls and tokens for them.
    """

    name: str
    claims: int
    expected: Entry


def print_prices(
    read: ReadClaims,
    ask: Ask,
    prices: Sequence[ModelPrice],
    draws: int,
    console: Console,
    agents: Sequence[AgentPrice] = (),
) -> None:
    """Print what a run costs.

    Args:
        read: The claims.
        ask: What was asked for.
        prices: What each model costs.
        draws: Transcripts that have to be drawn.
        console: Where to print.
        agents: What each agent costs.
    """
    true = sum(claim.label for claim in read.claims)
    lines = [f"{len(read.claims):,} claims, {true:,} true; floors: {', '.join(ask.named_floors) or 'none'}."]
    if draws:
        lines.append(
            f"{draws:,} transcripts are drawn from {ask.target}: at most {draws * ask.max_tokens:,} generated tokens."
        )
    for one in prices:
        if one.rate is None:
            lines.append(f"{one.name}: nothing is left to be asked.")
        else:
            lines.append(
                f"{one.name}: {one.claims:,} claims, {one.tokens:,} tokens at {one.rate:,.0f} a second, "
                f"about {time_of(one.seconds)}."
            )
    if prices:
        lines.append(f"In all about {time_of(sum(one.seconds for one in prices))}, without loading models.")
    lines += _told(agents) if agents else ["No money is spent: every model runs on this machine."]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _told(agents: Sequence[AgentPrice]) -> list[str]:
    """What agents cost: the last line is the sum."""
    table = load_prices()
    lines: list[str] = []
    for one in agents:
        if not one.claims:
            lines.append(f"{one.name}: nothing is left to be asked.")
            continue
        usage, (row,) = one.expected.usage, costs_of([one.expected], table).rows
        lines.append(
            f"{one.name}: {one.claims:,} claims, {usage.calls:,} calls, {usage.tokens_in:,} tokens read and "
            f"{usage.output:,} written: {cost_text(row, table.currency)}."
        )
    total = total_text(costs_of([one.expected for one in agents], table))
    return [*lines, f"Agents in all: {total}. That is an estimate: every call of tools is made, and nothing repeated."]
