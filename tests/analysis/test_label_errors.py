import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from label_simulation import label, simulated

from firsthand.analysis.label_errors import (
    EXCLUDED,
    FALSE,
    TRUE,
    Thresholds,
    label_chances,
    labels,
    possible_labels,
    worst_chances,
)
from firsthand.errors import AnalysisError


@pytest.mark.parametrize(
    ("responses", "true", "false"), [(10, 0.246, 0.218), (30, 0.066, 0.112)], ids=["ten", "thirty"]
)
def test_a_true_change_of_thirty_points_is_mislabelled_as_often_as_is_known(
    responses: int, true: float, false: float
) -> None:
    """Published figures; they hold for rates of .35 and .65, both estimated, where chance does most."""
    found = label_chances(0.35, 0.65, responses, responses)
    assert round(found.true, 3) == true
    assert round(found.false, 3) == false
    assert sum(found) == pytest.approx(1.0)
    assert worst_chances(responses, responses) == pytest.approx((found.true, found.false), abs=1e-9)


@pytest.mark.parametrize(("before", "after", "n0", "n1"), [(0.35, 0.65, 10, 10), (0.9, 0.3, 30, 12), (0.5, 0.5, 7, 30)])
def test_exact_chances_are_those_of_simulated_labels(before: float, after: float, n0: int, n1: int) -> None:
    draws = 8000
    assert simulated(before, after, n0, n1, draws) == pytest.approx(
        list(label_chances(before, after, n0, n1)), abs=4 * np.sqrt(0.25 / draws)
    )


def test_smaller_changes_are_called_true_and_larger_ones_false_no_oftener_than_in_the_worst_case() -> None:
    true, false = worst_chances(12, 12)
    for before in np.linspace(0, 1, 21):
        for after in np.linspace(0, 1, 21):
            found = label_chances(float(before), float(after), 12, 12)
            if abs(after - before) <= 0.3:
                assert found.true <= true + 1e-9
            else:
                assert found.false <= false + 1e-9


@given(st.integers(1, 40), st.integers(1, 40), st.data())
def test_labels_are_those_of_exact_fractions(n0: int, n1: int, data: st.DataObject) -> None:
    k0, k1 = data.draw(st.integers(0, n0)), data.draw(st.integers(0, n1))
    assert int(labels((k0, n0), (k1, n1))) == label(k0, n0, k1, n1)


def test_a_change_of_exactly_the_threshold_counts_where_floats_would_say_less() -> None:
    assert 17 / 20 - 14 / 20 > 0.15
    assert int(labels((14, 20), (17, 20))) == FALSE
    assert 14 / 20 - 4 / 20 < 0.5
    assert int(labels((4, 20), (14, 20))) == TRUE
    assert int(labels((0, 0), (17, 20))) == EXCLUDED


def test_invalid_responses_that_could_have_changed_a_label_are_seen() -> None:
    assert possible_labels((27, 3, 0), (3, 27, 0)) == {TRUE}
    assert possible_labels((27, 3, 0), (9, 15, 6)) == {TRUE, EXCLUDED}
    assert possible_labels((5, 5, 20), (5, 5, 20)) == {TRUE, FALSE, EXCLUDED}
    assert possible_labels((20, 10, 1), (20, 10, 0)) == {FALSE}


def test_chances_without_responses_and_thresholds_around_no_wording_are_refused() -> None:
    with pytest.raises(AnalysisError, match="at least one response"):
        label_chances(0.5, 0.5, 0, 10)
    with pytest.raises(AnalysisError, match="wording"):
        Thresholds(true_from=20)
