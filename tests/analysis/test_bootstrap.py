import numpy as np
import pytest
from analysis_plain import resampled

from firsthand.analysis.bootstrap import Clusters, ClusterSums, resampled_totals


def unequal() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 25, 300)
    codes[:25] = np.arange(25)
    return (rng.random(300) < 0.3 + 0.5 * rng.random(25)[codes]).astype(float), codes


def test_weighted_sums_spread_like_plain_resampling_of_clusters() -> None:
    values, codes = unequal()
    sums = ClusterSums({"x": values, "n": np.ones(300)}, Clusters({"block": codes}, 4000, 0))
    ours = sums.measure(lambda t: t["x"] / t["n"], span=(0.0, 1.0), n_trials=300).parts[0].draws
    plain = resampled(codes, lambda rows: float(values[rows].mean()), 4000)
    assert ours is not None
    assert ours.std() == pytest.approx(plain.std(), rel=0.06)
    assert np.quantile(ours, [0.05, 0.95]) == pytest.approx(np.quantile(plain, [0.05, 0.95]), abs=0.006)


def test_the_jackknife_error_is_that_of_leaving_each_cluster_out() -> None:
    values, codes = unequal()
    left = np.array([values[codes != g].mean() for g in range(25)])
    pseudo = 25 * values.mean() - 24 * left
    sums = ClusterSums({"x": values, "n": np.ones(300)}, Clusters({"block": codes}, 200, 0))
    found = sums.measure(lambda t: t["x"] / t["n"], span=(0.0, 1.0), n_trials=300)
    assert found.parts[0].se == pytest.approx(pseudo.std(ddof=1) / 5)


def test_every_resample_holds_as_many_clusters_as_the_data() -> None:
    totals = resampled_totals(np.ones((37, 1)), 500, 0)
    assert np.all(totals == 37)


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others() -> None:
    sums = np.random.default_rng(0).random((30, 2))
    assert np.array_equal(resampled_totals(sums, 100, 7), resampled_totals(sums, 100, 7))
    assert not np.array_equal(resampled_totals(sums, 100, 7), resampled_totals(sums, 100, 8))


def test_weights_made_on_the_fly_equal_kept_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = np.random.default_rng(0).random((30, 2))
    kept = resampled_totals(sums, 100, 3)
    monkeypatch.setattr("firsthand.analysis.bootstrap._KEPT_CELLS", 0)
    assert np.array_equal(kept, resampled_totals(sums, 100, 3))


def test_the_jackknife_error_of_summed_influences_is_their_linearised_error() -> None:
    influence = np.random.default_rng(5).normal(0, 0.01, 12)
    influence -= influence.mean()
    sums = ClusterSums({"i": influence}, Clusters({"block": np.arange(12)}, 200, 0))
    found = sums.measure(lambda t: 0.7 + t["i"], span=(0.0, 1.0), n_trials=12)
    assert found.parts[0].se == pytest.approx(np.sqrt(12 / 11 * np.sum(influence**2)))
