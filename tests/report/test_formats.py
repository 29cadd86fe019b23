"""How numbers are written."""

from types import SimpleNamespace

import pytest

from firsthand.report.formats import Unit, count_text, estimate_text, level_text, number, p_text, units_text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.6714, Unit.PERCENT, "67.1%"),
        (1.0, Unit.PERCENT, "100.0%"),
        (0.0304, Unit.POINTS, "+3.0 pts"),
        (-0.11, Unit.POINTS, "\u221211.0 pts"),
        (-0.0001, Unit.POINTS, "0.0 pts"),
        (-1.236, Unit.NUMBER, "\u22121.24"),
        (float("nan"), Unit.NUMBER, "n/a"),
        (float("inf"), Unit.NUMBER, "inf"),
    ],
)
def test_number(value: float, unit: Unit, text: str) -> None:
    assert number(value, unit) == text


def test_an_estimate_comes_with_interval_and_units(make: SimpleNamespace) -> None:
    one = make.estimate(0.5, 0.125)
    assert estimate_text(one, Unit.PERCENT) == "50.0% [37.5, 62.5]"
    assert units_text(one) == "24 blocks · 240 trials"
    assert (
        units_text(one.model_copy(update={"units": 1, "cluster": "code_book", "n_trials": 1}))
        == "1 code book · 1 trial"
    )
    assert level_text([one, one.model_copy(update={"level": 0.95})]) == "90% or 95%"


def test_p_and_counts() -> None:
    assert (p_text(None), p_text(0.0004), p_text(0.0414)) == ("—", "< 0.001", "0.041")
    assert count_text(134_515_008) == "134.5 million"
    assert count_text(7_000_000_000) == "7.00 billion"
    assert count_text(12_345) == "12\u202f345"
