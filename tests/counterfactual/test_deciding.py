"""Decisions keep to the level they state, whatever the rates are."""

from functools import lru_cache

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from firsthand.counterfactual import deciding
from firsthand.counterfactual.deciding import LEVEL, change_interval
from firsthand.counterfactual.rates import Rate

N = 30


@lru_cache
def decided(before: int, after: int, edits: int, batches: int) -> str:
    base = Rate(yes=before, no=batches * N - before)
    return deciding.decided(base, Rate(yes=after, no=N - after), edits=edits)


def chance(of: str, base: float, rate: float, edits: int, batches: int = 2) -> float:
    """Exact probability of a decision, from the two binomial distributions."""
    before, after = binom(batches * N, base), binom(N, rate)
    likely = [count for count in range(batches * N + 1) if before.pmf(count) > 1e-7]
    return sum(
        float(before.pmf(one) * after.pmf(two))
        for one in likely
        for two in range(N + 1)
        if after.pmf(two) > 1e-7 and decided(one, two, edits, batches) == of
    )


@pytest.mark.parametrize("base", [0.4, 0.6, 0.85, 0.95])
def test_an_edit_without_effect_is_never_said_to_change_the_rate(base: float) -> None:
    assert chance("changes", base, base, 1) < 0.001


@pytest.mark.parametrize("base", [0.35, 0.5, 0.7, 0.85, 0.95])
@pytest.mark.parametrize("edits", [1, 12])
def test_a_change_of_just_less_than_counts_is_called_one_no_more_often_than_the_level_allows(
    base: float, edits: int
) -> None:
    assert chance("changes", base, base - 0.30, edits) <= LEVEL / edits * 1.1


@pytest.mark.parametrize("base", [0.3, 0.35, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.85, 0.95, 1.0])
@pytest.mark.parametrize("batches", [1, 2])
def test_a_change_that_counts_is_refuted_no_more_often_than_the_level_allows(base: float, batches: int) -> None:
    assert chance("does not change", base, base - 0.30, 12, batches) <= LEVEL
    assert chance("does not change", 1.0 - base, 1.0 - base + 0.30, 12, batches) <= LEVEL


def test_large_effects_and_their_absence_are_decided_as_a_rule() -> None:
    assert chance("changes", 0.85, 0.10, 12) > 0.96
    assert chance("does not change", 0.85, 0.85, 12) > 0.92


def test_drawn_edits_of_just_what_counts_are_wrongly_refuted_at_the_stated_level() -> None:
    """By simulation: where the interval at twice the stated level was wrong in more than 5.5%."""
    rng, draws = np.random.default_rng(11), 6000
    wrong = [
        decided(int(before), int(after), 12, 2) == "does not change"
        for before, after in zip(rng.binomial(2 * N, 0.65, draws), rng.binomial(N, 0.35, draws), strict=True)
    ]
    assert binomtest(sum(wrong), draws, LEVEL, alternative="greater").pvalue > 0.01


def test_invalid_responses_count_as_either() -> None:
    base = Rate(yes=52, no=8)
    assert deciding.decided(base, Rate(yes=2, no=26, invalid=2), edits=12) == "changes"
    assert deciding.decided(base, Rate(yes=2, no=12, invalid=16), edits=12) == "undecided"
    assert deciding.decided(base, Rate(yes=0, no=0, invalid=30), edits=12) == "undecided"


def test_more_edits_need_a_larger_change() -> None:
    base, rate = Rate(yes=54, no=6), Rate(yes=10, no=20)
    assert deciding.decided(base, rate, edits=1) == "changes"
    assert deciding.decided(base, rate, edits=12) == "undecided"


def test_the_interval_of_the_change_has_its_sign() -> None:
    low, high = change_interval(Rate(yes=25, no=5), Rate(yes=3, no=27))
    assert -1.0 <= low < -22 / 30 < high < 0.0
    assert change_interval(Rate(yes=0, no=0, invalid=3), Rate(yes=1, no=1)) == (-1.0, 1.0)
