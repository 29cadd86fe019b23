"""Risk among the surest answers."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.calibration import aurc
from firsthand.analysis.selective import risks

TABLE = pd.DataFrame({"question": np.arange(100)})


def test_who_knows_makes_no_error_until_only_wrong_answers_are_left() -> None:
    right = np.r_[np.ones(60), np.zeros(40)]
    found = dict(risks(right, right * 0.8 + 0.1, TABLE, ["question"], (0.2, 0.6, 1.0)))
    assert [found[share].value for share in (0.2, 0.6, 1.0)] == pytest.approx([0.0, 0.0, 0.4])


def test_one_and_the_same_confidence_has_the_same_risk_everywhere_whatever_the_order_of_rows() -> None:
    right = np.r_[np.ones(60), np.zeros(40)]
    for order in (right, right[::-1].copy()):
        assert {round(m.value, 12) for _, m in risks(order, np.full(100, 0.7), TABLE, ["question"])} == {0.4}


def test_invalid_answers_and_confidences_are_left_out() -> None:
    right = np.r_[np.full(50, np.nan), np.ones(50)]
    sure = np.r_[np.full(75, 0.5), np.full(25, np.nan)]
    (_, whole) = risks(right, sure, TABLE, ["question"], (1.0,))[0]
    assert (whole.value, whole.n_trials) == (0.0, 25)
    assert risks(np.full(100, np.nan), sure, TABLE, ["question"]) == []


def test_the_mean_over_all_shares_is_the_area_under_the_curve() -> None:
    rng = np.random.default_rng(0)
    right, sure = rng.integers(0, 2, 100).astype(float), np.round(rng.random(100), 1)
    found = risks(right, sure, TABLE, ["question"], [(i + 1) / 100 for i in range(100)])
    assert np.mean([m.value for _, m in found]) == pytest.approx(aurc(right, sure))
