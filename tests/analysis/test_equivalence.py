import numpy as np
import pytest
from statsmodels.stats.power import normal_sample_size_one_tail
from statsmodels.stats.weightstats import ttost_paired

from firsthand.analysis.bootstrap import Clusters, ClusterSums
from firsthand.analysis.equivalence import tost
from firsthand.analysis.inference import Measured
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.power import units_needed


def test_two_one_sided_tests_agree_with_statsmodels_on_cluster_means() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 15), rng.normal(0.05, 1, 15)
    difference = ClusterSums({"d": first - second, "n": np.ones(15)}, Clusters({"block": np.arange(15)}, 200, 0))
    found = difference.measure(lambda t: t["d"] / t["n"], span=(-9.0, 9.0), n_trials=15)
    assert tost(found, 0.0, 0.8) == pytest.approx(ttost_paired(first, second, -0.8, 0.8)[0])


def test_equivalence_is_about_both_sides() -> None:
    assert tost(Measured.approximate(0.0, 0.03, 24), 0.0, 0.15) < 0.05
    assert tost(Measured.approximate(-0.2, 0.03, 24), 0.0, 0.15) > 0.9
    assert tost(Measured.approximate(0.0, 0.2, 24), 0.0, 0.15) > 0.05


def test_units_needed_is_the_usual_sample_size() -> None:
    se, units, distance = 0.08, 24, 0.1
    expected = normal_sample_size_one_tail(distance, 0.8, 0.05, std_null=se * np.sqrt(units))
    assert units_needed(Measured.approximate(0.05, se, units), distance, 0.05) == int(np.ceil(expected))


def test_no_number_of_units_bridges_no_distance() -> None:
    assert units_needed(Measured.approximate(0.2, 0.05, 24), 0.0, 0.05) is None


def test_holm_multiplies_the_smallest_by_the_number_of_tests() -> None:
    assert holm({"a": 0.01, "b": 0.03}) == pytest.approx({"a": 0.02, "b": 0.03})
    assert holm({}) == {}
