"""Prices: a file of the user's comes first, says when and whence each price is, and is refused where it is wrong."""

from pathlib import Path

import pytest

from firsthand.counterfactual.prices import load_prices, unpriced
from firsthand.counterfactual.usage import Entry, Usage
from firsthand.errors import CounterfactualError

MINE = """
prices:
  - {model: "openai/*", input: 2, output: 8, cache_read: 0.2, date: 2026-05-01, source: my contract}
  - {model: "*opus-4-6*", input: 4, output: 20, date: 2026-05-01, source: my contract}
"""


def test_every_price_of_ours_says_when_and_whence() -> None:
    table = load_prices()
    assert table.prices
    for price in table.prices:
        assert price.source
        assert price.date.year >= 2026


def test_the_users_prices_come_before_ours(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE, "utf-8")
    mine, ours = load_prices(path), load_prices()
    assert len(mine.prices) == len(ours.prices) + 2
    for table, expected in ((ours, 5.0), (mine, 4.0)):
        found = table.price("anthropic/claude-opus-4-6")
        assert found is not None
        assert found.input == expected
    assert unpriced(mine, ["openai/some", "OpenAI/Other", "google/x", "google/x"]) == ("google/x",)
    assert unpriced(ours, ["openai/some"]) == ("openai/some",)


def test_prices_in_another_currency_stand_alone(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("currency: EUR" + MINE, "utf-8")
    table = load_prices(path)
    assert (table.currency, len(table.prices)) == ("EUR", 2)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prices: [", "no YAML"),
        ("- 3", "no table"),
        ("prices:\n- {model: x, input: -1, output: 1, date: 2026-01-01, source: y}", "prices.0.input"),
        ("prices:\n- {model: x, input: 1, date: 2026-01-01, source: y}", "prices.0.output"),
        ("prices:\n- {model: x, input: .inf, output: 1, date: 2026-01-01, source: y}", "prices.0.input"),
        ("prices: []\nmargin: 3", "margin"),
    ],
)
def test_a_wrong_file_is_refused_where_it_is_wrong(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(CounterfactualError, match=named):
        load_prices(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match=r"nothing\.yaml could not be read"):
        load_prices(tmp_path / "nothing.yaml")


def test_a_cache_without_a_price_of_its_own_costs_at_most_what_reading_does(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(MINE, "utf-8")
    price = load_prices(path).price("anthropic/claude-opus-4-6")
    used = Usage(calls=1, input=1_000_000, cache_read=1_000_000, output=1_000_000)
    entry = Entry(stage="investigate", role="investigator", model="anthropic/claude-opus-4-6", usage=used)
    assert price is not None
    assert price.of(entry) is None
    assert price.at_most(entry) == 4 + 4 + 20
