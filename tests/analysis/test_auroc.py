import numpy as np
import pytest
from analysis_plain import pairwise_area, resampled
from sklearn.metrics import roc_auc_score

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import Clusters, ClusterSums


def sample(seed: int = 0, n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n // 8), 8)
    truth = (rng.random(n) < 0.3 + 0.4 * rng.random(n // 8)[codes]).astype(float)
    score = np.round(truth + rng.normal(0, 1.2, n) + rng.normal(0, 0.5, n // 8)[codes], 1)
    return truth, score, rng.integers(0, 5, n), codes


def test_the_pooled_area_is_that_of_scikit_learn_with_ties() -> None:
    truth, score, _, _ = sample()
    assert area(truth, score).value == pytest.approx(roc_auc_score(truth, score))


def test_the_stratified_area_compares_only_pairs_of_one_stratum() -> None:
    truth, score, strata, _ = sample()
    assert area(truth, score, strata).value == pytest.approx(pairwise_area(truth, score, strata))


def test_knowing_the_stratum_earns_nothing_within_strata() -> None:
    strata = np.repeat([0, 1], 100)
    truth = np.concatenate([np.tile([1.0, 0.0, 0.0, 0.0], 25), np.tile([1.0, 1.0, 1.0, 0.0], 25)])
    assert area(truth, strata.astype(float)).value > 0.7
    assert area(truth, strata.astype(float), strata).value == 0.5


@pytest.mark.parametrize("stratified", [False, True])
def test_influences_summed_by_cluster_spread_like_the_plain_bootstrap(stratified: bool) -> None:
    truth, score, strata, codes = sample()
    groups = strata if stratified else None
    found = area(truth, score, groups)
    assert found.influence.sum() == pytest.approx(0.0, abs=1e-9)
    sums = ClusterSums({"i": found.influence}, Clusters({"block": codes}, 3000, 0))
    draws = sums.measure(lambda t: found.value + t["i"], span=(0.0, 1.0), n_trials=240).parts[0].draws
    plain = resampled(codes, lambda r: area(truth[r], score[r], None if groups is None else groups[r]).value, 1500)
    assert draws is not None
    assert draws.std() == pytest.approx(plain.std(), rel=0.08)


def test_one_class_only_has_no_area() -> None:
    found = area(np.ones(10), np.arange(10.0))
    assert np.isnan(found.value)
    assert found.pairs == 0
