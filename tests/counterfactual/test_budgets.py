"""Budgets: a call that might overrun one is not made, and the reason names limit, use and need."""

import re

import pytest

from firsthand.counterfactual.budgets import Budget, check_budget, stop_reason
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.usage import Entry, Usage
from firsthand.errors import CounterfactualError

OPUS, PRICES = "anthropic/claude-opus-4-6", load_prices()


def entry(calls: int = 1, output: int = 0, model: str = OPUS) -> Entry:
    return Entry(stage="screen", role="screener", model=model, usage=Usage(calls=calls, output=output))


def test_without_a_limit_nothing_stops() -> None:
    assert Budget().unlimited
    assert stop_reason(Budget(), [entry(10**9, 10**12)], PRICES, seconds=1e9) is None


@pytest.mark.parametrize(
    ("budget", "named"),
    [
        (Budget(calls=3), "budget of calls is used up: 2 of 3, and the next step may need 2"),
        (Budget(tokens=1500), "budget of tokens is used up: 1,000 of 1,500, and the next step may need 1,000"),
        (Budget(money=0.04), r"budget of money is used up: \$0.025 of \$0.040, and the next step may need \$0.025"),
    ],
)
def test_what_might_overrun_is_not_begun(budget: Budget, named: str) -> None:
    ledger, wanted = [entry(2, 1000)], [entry(2, 1000)]
    reason = stop_reason(budget, ledger, PRICES, wanted=wanted)
    assert reason is not None
    assert re.search(named, reason)
    assert stop_reason(budget, [], PRICES, wanted=wanted) is None


def test_what_just_fits_is_made_and_then_nothing_more() -> None:
    budget = Budget(calls=4, tokens=2000, money=0.05)
    ledger, wanted = [entry(2, 1000)], [entry(2, 1000)]
    assert stop_reason(budget, ledger, PRICES, wanted=wanted) is None
    assert stop_reason(budget, ledger, PRICES) is None
    assert stop_reason(budget, [*ledger, *wanted], PRICES) is not None


def test_time_stops_whatever_is_wanted() -> None:
    assert stop_reason(Budget(seconds=60), [], PRICES, seconds=59.9) is None
    assert stop_reason(Budget(seconds=60), [], PRICES, seconds=60) == "The time is up: 60 of 60 seconds."


def test_a_budget_of_money_is_refused_where_a_price_is_unknown() -> None:
    with pytest.raises(CounterfactualError, match="someone/new") as refused:
        check_budget(Budget(money=5), PRICES, [OPUS, "someone/new"])
    assert "file of prices" in refused.value.remedy
    check_budget(Budget(money=5), PRICES, [OPUS])
    check_budget(Budget(tokens=5), PRICES, ["someone/new"])


def test_a_call_without_a_price_never_passes_for_free() -> None:
    reason = stop_reason(Budget(money=5), [], PRICES, wanted=[entry(model="someone/new")])
    assert reason is not None
    assert "no price is known for someone/new" in reason


def test_no_budget_of_zero_lets_a_call_through() -> None:
    for budget in (Budget(calls=0), Budget(tokens=0), Budget(money=0)):
        assert stop_reason(budget, [], PRICES, wanted=[entry(1, 1)]) is not None
