"""Budgets that hold: whether a next call may still be made, as pure functions of what was used.

A budget is asked *before* a call is made, with the most that the call can use, so it is never overrun. What is in the
air counts as used; whoever drives adds it to the ledger's total.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from firsthand.counterfactual.costs import Costs, costs_of, money_text
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prices import Money, PriceTable, unpriced
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError


class Budget(Part):
    """The most that may be used; ``None`` where there is no limit.

    Attributes:
        money: In the currency of the prices.
        tokens: Tokens read and generated, cached ones included.
        calls: Calls of models.
        seconds: Time since the run began.
    """

    money: Money | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(ge=0.0)] | None = None

    @property
    def unlimited(self) -> bool:
        """Whether nothing is limited."""
        return all(limit is None for limit in (self.money, self.tokens, self.calls, self.seconds))


def check_budget(budget: Budget, prices: PriceTable, billed_models: Sequence[str]) -> None:
    """Refuse a budget of money that nobody could keep.

    Args:
        budget: The budget.
        prices: The prices.
        billed_models: Every model that will be called and that somebody bills.

    Raises:
        CounterfactualError: If money is limited and a price is unknown.
    """
    unknown = unpriced(prices, billed_models) if budget.money is not None else ()
    if unknown:
        raise CounterfactualError(
            f"A budget of {money_text(budget.money, prices.currency)} cannot be kept: no price is known for "
            f"{', '.join(unknown)}.",
            "Add it to a file of prices, or limit tokens, calls or time instead.",
        )


def stop_reason(
    budget: Budget, ledger: Sequence[Entry], prices: PriceTable, *, seconds: float = 0.0, wanted: Sequence[Entry] = ()
) -> str | None:
    """Why no further call may be made; ``None`` if it may.

    Args:
        budget: The budget.
        ledger: What was used, and what calls in the air may use at most.
        prices: The prices.
        seconds: Time since the run began.
        wanted: The most that the next calls can use. Without them, a budget stops when it is used up.

    Returns:
        One sentence that names the limit, what was used and what would be needed.
    """
    used, needed = costs_of(ledger, prices), costs_of(wanted, prices)
    if budget.seconds is not None and seconds >= budget.seconds:
        return f"The time is up: {seconds:.0f} of {budget.seconds:.0f} seconds."
    for name, limit, spent, next_call in (
        ("calls", budget.calls, used.usage.calls, needed.usage.calls),
        ("tokens", budget.tokens, used.usage.tokens, needed.usage.tokens),
    ):
        if limit is not None and _over(spent, next_call, limit):
            return f"The budget of {name} is used up: {spent:,} of {limit:,}{_more(f'{next_call:,}', next_call)}."
    return _money_reason(budget, used, needed)


def _money_reason(budget: Budget, used: Costs, needed: Costs) -> str | None:
    if budget.money is None:
        return None
    unknown = tuple(dict.fromkeys((*used.unknown, *needed.unknown)))
    if unknown:
        return f"The budget of money cannot be kept any longer: no price is known for {', '.join(unknown)}."
    if not _over(used.known, needed.known, budget.money):
        return None
    spent, limit = (money_text(one, used.currency) for one in (used.known, budget.money))
    return f"The budget of money is used up: {spent} of {limit}{_more(money_text(needed.known), needed.known)}."


def _over(spent: float, wanted: float, limit: float) -> bool:
    return spent + wanted > limit or (not wanted and spent >= limit)


def _more(text: str, wanted: float) -> str:
    return f", and the next step may need {text}" if wanted else ""
