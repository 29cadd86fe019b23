"""The crossed bootstrap against a closed form, against listing every resample, and against simulation."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.crossed import compositions, crossed, weighted_quantiles


def mean(t: Totals) -> np.ndarray:
    return np.asarray(t["sum"] / t["n"])


@pytest.mark.parametrize("units", [1, 2, 3, 5, 8])
def test_compositions_are_the_multinomial_distribution(units: int) -> None:
    counts, probability = compositions(units)
    assert probability.sum() == pytest.approx(1.0)
    assert (counts.sum(axis=1) == units).all()
    assert len({tuple(row) for row in counts}) == len(counts)
    expected = stats.multinomial.pmf(counts, units, np.full(units, 1 / units))
    assert probability == pytest.approx(np.asarray(expected))


def test_exact_agrees_with_listing_every_draw_of_units() -> None:
    rng = np.random.default_rng(0)
    values = rng.random((3, 2))
    first, second = (index.ravel() for index in np.indices((3, 2)))
    found = crossed({"sum": values.ravel(), "n": np.ones(6)}, first, second, ("a", "b")).estimate(mean, 0.05, 0.4)
    every = np.sort(
        [
            values[np.ix_(rows, columns)].mean()
            for rows in product(range(3), repeat=3)
            for columns in product(range(2), repeat=2)
        ]
    )
    at = [every[int(np.ceil(level * len(every) - 1e-9)) - 1] for level in (0.05, 0.95)]
    assert [found.low, found.high] == pytest.approx(at)
    assert found.p == pytest.approx((every <= 0.4).mean())
    assert found.cluster == "a (3) x b (2)"


def test_simulation_agrees_with_the_exact_interval() -> None:
    rng = np.random.default_rng(1)
    first, second = (index.ravel() for index in np.indices((8, 3)))
    columns = {"sum": rng.random(24), "n": np.ones(24)}
    exact = crossed(columns, first, second, ("a", "b"))
    drawn = crossed(columns, first, second, ("a", "b"), most_listed=10)
    assert (exact.method, exact.resamples) == ("exact", 64_350)
    assert drawn.method == "simulated"
    one, two = exact.estimate(mean, 0.025), drawn.estimate(mean, 0.025)
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=0.004)
    assert two == crossed(columns, first, second, ("a", "b"), most_listed=10).estimate(mean, 0.025)


def test_a_constant_has_an_interval_of_no_width_and_a_missing_cell_is_left_out() -> None:
    first, second = np.array([0, 0, 1]), np.array([0, 1, 0])
    found = crossed({"sum": np.ones(3), "n": np.ones(3)}, first, second, ("a", "b")).estimate(mean, 0.025)
    assert (found.low, found.value, found.high) == (1.0, 1.0, 1.0)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=30))
@settings(deadline=None)
def test_weighted_quantiles_of_equal_weights_are_the_inverted_distribution(values: list[float]) -> None:
    array = np.array(values)
    found = weighted_quantiles(array, np.ones(len(array)), (0.1, 0.5, 0.9))
    assert found == pytest.approx(np.quantile(array, [0.1, 0.5, 0.9], method="inverted_cdf"))
