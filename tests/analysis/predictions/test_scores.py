"""One predictor: what its numbers are, what its invalid answers could make of them, and when they say nothing."""

import numpy as np
import pytest
from analysis_plain import pairwise_area, resampled
from hypothesis import given, settings
from hypothesis import strategies as st
from predictions_plain import drawn, panel, table
from sklearn.metrics import brier_score_loss, roc_auc_score

from firsthand.analysis.predictions import Panel
from firsthand.analysis.predictions.scores import scored


def test_a_score_is_what_counting_gives() -> None:
    truth, codes, first, _ = drawn(0)
    found = scored(panel(truth, codes, one=first), "one", "observer")
    said = np.where(first > 0.5, 1.0, np.where(first < 0.5, 0.0, 0.5))
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(roc_auc_score(truth, first))
    assert found.auroc.units == 40
    assert found.accuracy is not None
    assert found.accuracy.value == pytest.approx(np.mean(np.where(truth == 1, said, 1 - said)))
    assert found.tpr is not None
    assert found.tpr.value == pytest.approx(said[truth == 1].mean())
    assert found.fpr is not None
    assert found.fpr.value == pytest.approx(said[truth == 0].mean())
    assert found.calibration is not None
    assert found.calibration.brier.value == pytest.approx(brier_score_loss(truth, first))
    parts = found.calibration
    assert parts.brier.value == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty)
    assert found.invalid.value == 0.0
    assert (found.constant, found.insufficient) == (None, None)


def test_intervals_are_as_wide_as_clusters_make_them() -> None:
    truth, codes, first, _ = drawn(1, clusters=60)
    found = scored(panel(truth, codes, one=first), "one", "observer").auroc
    draws = resampled(codes, lambda rows: pairwise_area(truth[rows], first[rows]), 150)
    assert found is not None
    assert found.high - found.low == pytest.approx(np.quantile(draws, 0.975) - np.quantile(draws, 0.025), rel=0.35)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.5000001, 1.0])
def test_a_constant_predictor_gets_one_half_exactly_and_is_named_so(value: float) -> None:
    truth, codes, _, _ = drawn(2)
    found = scored(panel(truth, codes, one=np.full(len(truth), value)), "one", "floor")
    assert found.auroc is not None
    assert found.auroc.value == 0.5
    assert found.constant is not None
    assert "same probability" in found.constant


def test_whoever_says_yes_of_everything_is_named_so_and_may_still_know_something() -> None:
    truth, codes, first, _ = drawn(3)
    found = scored(panel(truth, codes, one=0.6 + 0.4 * first), "one", "base")
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(roc_auc_score(truth, first))
    assert found.constant is not None
    assert "'true'" in found.constant
    assert found.tpr is not None
    assert found.fpr is not None
    assert (found.tpr.value, found.fpr.value) == (1.0, 1.0)


def test_training_restricted_to_two_options_is_caught_by_the_mass_on_them() -> None:
    rng = np.random.default_rng(4)
    truth = np.tile([1.0, 0.0], 60)
    right = rng.random(120) < 0.917
    said = np.where(right, truth, 1 - truth) * 0.8 + 0.1
    made = Panel.of(table(truth, np.arange(120), coverage=5e-9, trained=said))
    found = scored(made, "trained", "self")
    assert found.accuracy is not None
    assert found.accuracy.value > 0.85
    assert found.insufficient is not None
    assert "5e-09" in found.insufficient


def test_an_invalid_answer_is_no_answer_and_never_a_no() -> None:
    truth, codes, first, _ = drawn(5)
    holes = np.where(np.arange(len(truth)) % 10 == 0, np.nan, first)
    found = scored(panel(truth, codes, one=holes), "one", "observer")
    kept = ~np.isnan(holes)
    assert found.invalid.value == pytest.approx(1 - kept.mean())
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(roc_auc_score(truth[kept], first[kept]))
    assert found.accuracy is not None
    assert found.accuracy.n_trials == kept.sum()


def test_mostly_invalid_answers_are_insufficient() -> None:
    truth, codes, first, _ = drawn(6)
    holes = np.where(np.arange(len(truth)) % 3 > 0, np.nan, first)
    found = scored(panel(truth, codes, one=holes), "one", "observer")
    assert found.insufficient is not None
    assert "33.3%" in found.insufficient


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.one_of(st.none(), st.sampled_from([0.0, 0.2, 0.5, 0.7, 1.0]))),
        min_size=6,
        max_size=24,
    ).filter(lambda rows: len({label for label, _ in rows}) == 2)
)
def test_worst_and_best_case_hold_whatever_invalid_answers_were(rows: list[tuple[bool, float | None]]) -> None:
    truth = np.array([float(label) for label, _ in rows])
    given_ = np.array([np.nan if one is None else one for _, one in rows])
    found = scored(panel(truth, one=given_), "one", "observer")
    rng = np.random.default_rng(0)
    for _ in range(5):
        filled = np.where(np.isnan(given_), rng.choice([0.0, 0.4, 1.0], len(truth)), given_)
        assert found.auroc_worst is not None
        assert found.auroc_best is not None
        area = pairwise_area(truth, filled)
        assert found.auroc_worst.value - 1e-9 <= area <= found.auroc_best.value + 1e-9
        said = np.where(filled > 0.5, 1.0, np.where(filled < 0.5, 0.0, 0.5))
        right = float(np.mean(np.where(truth == 1, said, 1 - said)))
        assert found.accuracy_worst is not None
        assert found.accuracy_best is not None
        assert found.accuracy_worst.value - 1e-9 <= right <= found.accuracy_best.value + 1e-9
