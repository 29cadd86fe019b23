"""Newcombe's limits are those of statsmodels, and the nominal level makes a stated one hold for all rates."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from statsmodels.stats.proportion import confint_proportions_2indep

from firsthand.analysis.newcombe import lower_limits, nominal_level

MARGIN, LEVEL = 0.3, 0.05
SIZES = [(60, 30), (48, 24), (30, 30), (24, 24), (20, 10), (10, 10)]


def refuted(first: int, second: int, nominal: float) -> np.ndarray:
    """Counts at which "lower by at least the margin" is refuted, by two loops."""
    low = lower_limits(first, second, float(norm.isf(nominal)))
    return np.array([[low[one, two] > -MARGIN for two in range(second + 1)] for one in range(first + 1)])


def worst(first: int, second: int, nominal: float, *, changes: tuple[float, ...] = (MARGIN,)) -> float:
    """Largest chance of a wrong refutation over many pairs of rates, those on the margin or beyond it."""
    table, found = refuted(first, second, nominal), 0.0
    for change in changes:
        for before in np.linspace(change, 1.0, 700):
            one, two = (
                binom.pmf(np.arange(first + 1), first, before),
                binom.pmf(np.arange(second + 1), second, max(0.0, before - change)),
            )
            found = max(found, float(one @ table @ two))
    return found


@pytest.mark.parametrize(("one", "two", "z"), [(17, 9, 1.96), (60, 0, 1.645), (0, 30, 2.5), (30, 15, 3.0)])
def test_limits_are_those_of_statsmodels(one: int, two: int, z: float) -> None:
    alpha = 2.0 * float(norm.sf(z))
    low, _ = confint_proportions_2indep(two, 30, one, 60, compare="diff", method="newcomb", alpha=alpha)
    assert lower_limits(60, 30, z)[one, two] == pytest.approx(low)


@pytest.mark.parametrize(("first", "second"), SIZES)
def test_a_wrong_refutation_is_no_likelier_than_stated_and_would_be_without(first: int, second: int) -> None:
    assert worst(first, second, LEVEL) > 1.15 * LEVEL
    assert worst(first, second, nominal_level(first, second, MARGIN, LEVEL)) <= LEVEL


def test_the_margin_is_the_worst_case_and_no_more_is_given_up_than_needed() -> None:
    nominal = nominal_level(60, 30, MARGIN, LEVEL)
    assert worst(60, 30, nominal, changes=(0.35, 0.5, 0.8)) < worst(60, 30, nominal)
    assert worst(60, 30, nominal + 0.002) > LEVEL
    table = refuted(60, 30, nominal)
    assert (np.diff(table.astype(int), axis=0) <= 0).all()
    assert (np.diff(table.astype(int), axis=1) >= 0).all()
