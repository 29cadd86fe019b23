import numpy as np
import pytest
from analysis_plain import risk_coverage_area
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from firsthand.analysis.calibration import aurc, bins_of, debiased_ece, murphy, null_ece, squared_error


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=2, max_size=80))
@settings(max_examples=60, deadline=None)
def test_brier_is_reliability_minus_resolution_plus_uncertainty(rows: list[tuple[bool, float]]) -> None:
    truth, confidence = np.array([float(t) for t, _ in rows]), np.array([c for _, c in rows])
    parts = murphy(truth, confidence, bins_of(confidence)[0])
    assert parts.brier == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty, abs=1e-9)
    assert parts.brier == pytest.approx(float(np.mean((truth - confidence) ** 2)))


def test_discrete_forecasts_give_the_classic_terms() -> None:
    confidence = np.repeat([0.2, 0.8], [50, 50])
    truth = np.concatenate([np.repeat([1.0, 0.0], [20, 30]), np.repeat([1.0, 0.0], [40, 10])])
    parts = murphy(truth, confidence, bins_of(confidence)[0])
    assert parts.brier == pytest.approx(brier_score_loss(truth, confidence))
    assert parts.reliability == pytest.approx(0.5 * 0.2**2)
    assert parts.resolution == pytest.approx(0.5 * 0.2**2 + 0.5 * 0.2**2)
    assert parts.uncertainty == pytest.approx(0.24)


def test_small_bins_do_not_make_a_calibrated_report_look_miscalibrated() -> None:
    rng = np.random.default_rng(0)
    plain, mended = [], []
    for _ in range(400):
        confidence = rng.uniform(0.2, 0.8, 200)
        truth = (rng.random(200) < confidence).astype(float)
        bins = bins_of(confidence)[0]
        plain.append(murphy(truth, confidence, bins).reliability)
        mended.append(squared_error(truth, confidence, bins))
    assert np.mean(plain) > 0.008
    assert abs(np.mean(mended)) < 3 * np.std(mended) / np.sqrt(400)


def test_debiasing_leaves_a_large_error_as_it_is() -> None:
    rng = np.random.default_rng(1)
    confidence = rng.uniform(0.6, 1.0, 20_000)
    truth = (rng.random(20_000) < confidence - 0.3).astype(float)
    assert debiased_ece(truth, confidence, bins_of(confidence)[0]) == pytest.approx(0.3, abs=0.01)


def test_a_calibrated_report_exceeds_its_null_about_as_often_as_alpha() -> None:
    rng = np.random.default_rng(2)
    above = 0
    for seed in range(200):
        confidence = rng.uniform(0.2, 0.8, 240)
        truth = (rng.random(240) < confidence).astype(float)
        bins = bins_of(confidence)[0]
        above += debiased_ece(truth, confidence, bins) > null_ece(confidence, bins, 0.05, seed)
    assert above / 200 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_risk_coverage_area_takes_ties_in_random_order() -> None:
    rng = np.random.default_rng(3)
    truth, confidence = (rng.random(60) < 0.6).astype(float), np.round(rng.random(60), 1)
    assert aurc(truth, confidence) == pytest.approx(risk_coverage_area(truth, confidence), abs=0.005)


def test_a_constant_confidence_has_the_plain_error_rate_as_its_area() -> None:
    assert aurc(np.array([1.0, 1.0, 1.0, 0.0]), np.full(4, 0.7)) == pytest.approx(0.25)


def test_equal_confidences_share_a_bin() -> None:
    bins, edges = bins_of(np.array([0.1] * 50 + [0.9] * 50))
    assert len(set(bins[:50])) == len(set(bins[50:])) == 1
    assert len(edges) == 3
