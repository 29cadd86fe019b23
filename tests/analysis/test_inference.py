import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from firsthand.analysis.bootstrap import Clusters, ClusterSums
from firsthand.analysis.inference import Inference, Measured


def mean_of(values: np.ndarray, clusters: np.ndarray, *, draws: int = 2000, span=(0.0, 1.0)) -> Measured:
    sums = ClusterSums({"x": values, "n": np.ones(len(values))}, Clusters({"block": clusters}, draws, 0))
    return sums.measure(lambda t: t["x"] / t["n"], span=span, n_trials=len(values))


def test_few_clusters_give_exactly_the_one_sample_t_test_on_cluster_means() -> None:
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(12), 5)
    values = rng.random(60)
    means = values.reshape(12, 5).mean(axis=1)
    found = mean_of(values, codes)
    expected = stats.ttest_1samp(means, 0.5, alternative="greater")
    assert found.p_above(0.5) == pytest.approx(expected.pvalue)
    low, high = expected.confidence_interval(0.95).low, stats.ttest_1samp(means, 0.5, alternative="less")
    assert found.low(0.05) == pytest.approx(low)
    assert found.high(0.05) == pytest.approx(high.confidence_interval(0.95).high)


def test_many_clusters_give_nearly_the_t_interval_where_the_mean_is_normal() -> None:
    rng = np.random.default_rng(1)
    means = rng.normal(0.5, 0.1, 60)
    found = mean_of(means, np.arange(60), draws=20_000)
    expected = stats.ttest_1samp(means, 0.5, alternative="greater").confidence_interval(0.95).low
    assert found.low(0.05) == pytest.approx(expected, abs=0.002)


def test_interval_and_test_agree_on_the_same_reference() -> None:
    rng = np.random.default_rng(2)
    found = mean_of((rng.random(300) < 0.6).astype(float), np.repeat(np.arange(30), 10))
    bound = found.low(0.05)
    assert found.p_above(bound - 0.01) < 0.05 < found.p_above(bound + 0.01)


def test_a_perfect_score_has_no_zero_width_interval_and_no_zero_p() -> None:
    found = mean_of(np.ones(240), np.repeat(np.arange(24), 10))
    assert found.high(0.05) == 1.0
    assert found.low(0.05) == pytest.approx(0.1 ** (1 / 24))
    assert found.p_above(0.5) == pytest.approx(0.5**24)


def test_the_degenerate_bound_lies_just_inside_clopper_pearson_on_clusters() -> None:
    exact = proportion_confint(24, 24, alpha=0.1, method="beta")[0]
    wider = mean_of(np.ones(240), np.repeat(np.arange(24), 10)).low(0.025)
    assert wider == pytest.approx(exact, abs=1e-9), (
        "mid-p at alpha / 2 is Clopper-Pearson at alpha where nothing failed"
    )


def test_repeating_trials_within_clusters_does_not_narrow_a_degenerate_interval() -> None:
    few, many = np.repeat(np.arange(24), 2), np.repeat(np.arange(24), 200)
    assert mean_of(np.ones(len(few)), few).low(0.05) == mean_of(np.ones(len(many)), many).low(0.05)


def test_nothing_known_is_the_whole_range_with_p_one() -> None:
    unknown = Measured((Inference("block", 24, float("nan"), float("nan"), (-1.0, 1.0)),), n_trials=0)
    estimate = unknown.estimate(0.05, 0.0)
    assert (estimate.low, estimate.high, estimate.p, estimate.n_trials) == (-1.0, 1.0, 1.0, 0)


def test_three_answers_are_never_evidence_however_many_trials_stand_silent() -> None:
    values = np.zeros(240)
    values[[0, 50, 100]] = 1.0
    assert mean_of(values, np.repeat(np.arange(24), 10), span=(-1.0, 1.0)).p_above(0.0) >= 0.5**3


def test_the_widest_cluster_column_speaks() -> None:
    rng = np.random.default_rng(3)
    coarse = np.repeat(np.arange(24), 10)
    values = np.clip(rng.random(24)[coarse] + rng.normal(0, 0.05, 240), 0, 1)
    sums = ClusterSums({"x": values, "n": np.ones(240)}, Clusters({"trial": np.arange(240), "block": coarse}, 2000, 0))
    found = sums.measure(lambda t: t["x"] / t["n"], span=(0.0, 1.0), n_trials=240)
    estimate = found.estimate(0.05, 0.5)
    assert (estimate.cluster, estimate.units) == ("block", 24)
    assert estimate.p == max(part.p_above(0.5) for part in found.parts)


def test_upper_and_lower_statements_mirror_each_other() -> None:
    rng = np.random.default_rng(4)
    values, codes = rng.random(100), np.repeat(np.arange(25), 4)
    up, down = mean_of(values, codes), mean_of(-values, codes, span=(-1.0, 0.0))
    assert up.high(0.05) == pytest.approx(-down.low(0.05))
    assert up.p_below(0.4) == pytest.approx(down.p_above(-0.4))
