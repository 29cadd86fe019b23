"""Costs: a ledger is priced line by line, and what has no price costs "unknown", never 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.counterfactual.costs import cost_text, costs_of, money_text, total_text
from firsthand.counterfactual.prices import Price, PriceTable, load_prices
from firsthand.counterfactual.usage import Entry, Usage, summed, total

OPUS = "anthropic/claude-opus-4-6"
counts = st.integers(0, 10**7)
usages = st.builds(Usage, calls=counts, input=counts, output=counts, cache_write=counts, cache_read=counts)
entries = st.builds(
    Entry,
    stage=st.sampled_from(["screen", "verify"]),
    role=st.sampled_from(["judge", "target"]),
    model=st.sampled_from([OPUS, "someone/new"]),
    usage=usages,
    batch=st.booleans(),
    billed=st.booleans(),
)


def entry(model: str = OPUS, *, batch: bool = False, billed: bool = True, **usage: int) -> Entry:
    return Entry(stage="screen", role="judge", model=model, usage=Usage(calls=1, **usage), batch=batch, billed=billed)


@pytest.mark.parametrize(
    ("kind", "price"), [("input", 5.0), ("output", 25.0), ("cache_write", 6.25), ("cache_read", 0.5)]
)
def test_a_million_tokens_of_each_kind_cost_what_the_table_says(kind: str, price: float) -> None:
    assert costs_of([entry(**{kind: 1_000_000})], load_prices()).total == pytest.approx(price)
    assert costs_of([entry(batch=True, **{kind: 1_000_000})], load_prices()).total == pytest.approx(price / 2)


def test_a_model_without_a_price_costs_unknown_and_is_named() -> None:
    costs = costs_of([entry(input=1_000_000), entry("someone/new", input=1)], load_prices())
    assert costs.total is None
    assert costs.unknown == ("someone/new",)
    assert [row.money for row in costs.rows] == [5.0, None]
    assert total_text(costs) == "$5.00 and what is unknown"
    assert cost_text(costs.rows[1]) == "unknown"
    assert total_text(costs_of([entry("someone/new", input=1)], load_prices())) == "unknown"


def test_a_model_whose_price_for_cached_tokens_is_not_known_costs_unknown_only_if_it_has_some() -> None:
    price = Price(model="m", input=1, output=2, date="2026-01-01", source="an invoice")  # type: ignore[arg-type]
    table = PriceTable(prices=(price,))
    assert costs_of([entry("m", input=1_000_000)], table).total == 1
    assert costs_of([entry("m", input=1_000_000, cache_read=1)], table).total is None


def test_a_batch_without_a_known_reduction_costs_the_full_price() -> None:
    price = Price(model="m", input=1, output=2, date="2026-01-01", source="an invoice")  # type: ignore[arg-type]
    assert costs_of([entry("m", batch=True, input=1_000_000)], PriceTable(prices=(price,))).total == 1


def test_a_model_on_ones_own_machine_is_not_billed_and_does_not_make_the_sum_unknown() -> None:
    costs = costs_of([entry("firsthand/tiny", billed=False, input=10**9), entry(input=1_000_000)], load_prices())
    assert costs.total == 5
    assert cost_text(costs.rows[0]) == "not billed"
    assert total_text(costs_of([entry("x", billed=False, input=1)], load_prices())) == "not billed"


@given(st.lists(entries, max_size=12))
def test_nothing_is_lost_or_counted_twice(ledger: list[Entry]) -> None:
    costs = costs_of(ledger, load_prices())
    assert costs.usage == total(ledger)
    assert summed(summed(ledger)) == summed(ledger)
    for parts in (costs.by_stage(), costs.by_role()):
        assert sum((part.usage for part in parts.values()), Usage()) == costs.usage
        assert sum(part.known for part in parts.values()) == pytest.approx(costs.known)
        assert (costs.total is None) == any(part.total is None for part in parts.values())
    assert (costs.total is None) == any(
        one.billed and one.model != OPUS and one.usage.calls + one.usage.tokens for one in ledger
    )


def test_small_sums_keep_their_digits() -> None:
    assert [money_text(sum_) for sum_ in (0.0, 0.0004, 0.25, 1.5, 3300.0, None)] == [
        "$0.00",
        "$0.0004",
        "$0.250",
        "$1.50",
        "$3,300.00",
        "unknown",
    ]
    assert money_text(2.0, "CHF") == "CHF 2.00"
