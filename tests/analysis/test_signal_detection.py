import numpy as np
import pytest
from scipy.stats import norm

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.signal_detection import signal_detection


def found(hits: int, misses: int, alarms: int, rejections: int):
    truth = np.repeat([1.0, 0.0], [hits + misses, alarms + rejections])
    answer = np.repeat([1.0, 0.0, 1.0, 0.0], [hits, misses, alarms, rejections])
    codes = np.arange(len(truth)) % 30
    return signal_detection(truth, answer, Clusters({"block": codes}, 500, 0), 0.05)


def test_log_linear_correction_adds_half_a_trial_to_each_cell() -> None:
    result = found(75, 25, 25, 75)
    z = norm.ppf(75.5 / 101)
    assert result.d_prime.value == pytest.approx(2 * z)
    assert result.criterion.value == pytest.approx(0.0, abs=1e-12)


def test_perfect_answers_stay_finite() -> None:
    result = found(100, 0, 0, 100)
    assert result.d_prime.value == pytest.approx(2 * norm.ppf(100.5 / 101))
    assert np.isfinite([result.d_prime.low, result.d_prime.high]).all()
    assert result.d_prime.low < result.d_prime.value


def test_always_yes_is_bias_and_not_sensitivity() -> None:
    result = found(100, 0, 100, 0)
    assert result.d_prime.value == pytest.approx(0.0)
    assert result.criterion.value < -2


def test_one_class_alone_has_no_sensitivity() -> None:
    assert found(10, 10, 0, 0) is None
