"""The best of a grid: exact luck, and a choice judged on units that did not make it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from firsthand.analysis.grid import best_by_luck, best_cell, confirmed


def test_luck_of_one_cell_is_the_binomial() -> None:
    found = best_by_luck([10], 0.3, 0.5)
    assert found.expected == pytest.approx(0.3)
    assert found.reaches == pytest.approx(stats.binom.sf(4, 10, 0.3))


def test_luck_of_many_cells_of_two_sizes_agrees_with_simulation() -> None:
    rng = np.random.default_rng(0)
    sizes = [10] * 20 + [7] * 4
    best = np.max([rng.binomial(size, 0.2, 40_000) / size for size in sizes], axis=0)
    found = best_by_luck(sizes, 0.2, 0.6)
    assert found.expected == pytest.approx(best.mean(), abs=0.003)
    assert found.reaches == pytest.approx((best >= 0.6 - 1e-9).mean(), abs=0.01)


def test_sixty_null_cells_of_fifty_show_two_thirds() -> None:
    """Field note B8: 60 cells at n = 50 and a true rate of one half give about .66 as the best."""
    assert best_by_luck([50] * 60, 0.5, 0.66).expected == pytest.approx(0.66, abs=0.01)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_certain_rate_has_no_luck(rate: float) -> None:
    assert best_by_luck([10] * 5, rate, rate).expected == pytest.approx(rate)


def grid(rates: np.ndarray, units: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [
        {"unit": f"u{unit}", "cell": cell, "correct": float(rng.random() < rate)}
        for unit in range(units)
        for cell, rate in enumerate(rates)
    ]
    return pd.DataFrame(rows)


def test_a_choice_among_null_cells_is_unbiased_where_the_best_is_not() -> None:
    best, fair = [], []
    for seed in range(200):
        table = grid(np.full(12, 0.3), 10, seed)
        best.append(best_cell(table, ["cell"]).rate)
        fair.append(np.nanmean(confirmed(table, ["cell"], "unit")))
    assert np.mean(best) > 0.5
    assert np.mean(fair) == pytest.approx(0.3, abs=0.04)


def test_a_cell_that_is_truly_better_is_found_and_confirmed() -> None:
    table = grid(np.array([0.1, 0.95, 0.1]), 20, 0)
    assert best_cell(table, ["cell"]).values == (1,)
    chosen = confirmed(table, ["cell"], "unit")
    assert (np.isfinite(chosen) == table["cell"].eq(1).to_numpy()).all()


def test_ties_are_counted() -> None:
    table = pd.DataFrame({"cell": [0, 0, 1, 1, 2, 2], "correct": [1, 0, 0, 1, 0, 0]})
    found = best_cell(table, ["cell"])
    assert (found.values, found.tied, found.cells) == ((0,), 2, 3)
