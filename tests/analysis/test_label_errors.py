import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.analysis.label_errors import (
    EXCLUDED,
    FALSE,
    TRUE,
    Batches,
    Thresholds,
    label_chances,
    labels,
    possible_labels,
    prior_of,
    set_errors,
    worst_chances,
)
from firsthand.errors import AnalysisError

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
from label_simulation import label, simulated


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
    assert 13 / 20 - 3 / 20 < 0.5
    assert int(labels((3, 20), (13, 20))) == TRUE
    assert int(labels((14, 20), (17, 20))) == FALSE
    assert int(labels((0, 0), (17, 20))) == EXCLUDED


def test_invalid_responses_that_could_have_changed_a_label_are_seen() -> None:
    assert possible_labels((27, 3, 0), (3, 27, 0)) == {TRUE}
    assert possible_labels((27, 3, 0), (9, 15, 6)) == {TRUE, EXCLUDED}
    assert possible_labels((5, 5, 20), (5, 5, 20)) == {TRUE, FALSE, EXCLUDED}
    assert possible_labels((20, 10, 1), (20, 10, 0)) == {FALSE}


def test_the_prior_finds_again_what_effects_edits_truly_have() -> None:
    rng = np.random.default_rng(0)
    rows = [
        Batches(int(rng.binomial(30, 0.9)), 30, int(rng.binomial(30, 0.1 if i % 4 == 0 else 0.9)), 30)
        for i in range(400)
    ]
    prior = prior_of(rows)
    grid = np.sin(np.linspace(0, np.pi / 2, 21)) ** 2
    change = np.abs(grid[None] - grid[:, None])
    assert prior.sum() == pytest.approx(1.0)
    assert prior[change > 0.5].sum() == pytest.approx(0.25, abs=0.03)
    assert prior[change < 0.2].sum() == pytest.approx(0.75, abs=0.05)


def drawn(
    rng: np.random.Generator, investigations: int, responses: int
) -> tuple[list[Batches], list[int], list[int], list[float]]:
    """Investigations of six edits with one baseline each; half of the edits do nothing, the others anything."""
    rows, clusters, true = [], [], []
    for one in range(investigations):
        before = rng.uniform(0.4, 1.0)
        yes = int(rng.binomial(responses, before))
        for _ in range(6):
            after = before if rng.random() < 0.5 else rng.uniform(0.0, 1.0)
            rows.append(Batches(yes, responses, int(rng.binomial(responses, after)), responses))
            clusters.append(one)
            true.append(abs(after - before))
    made = [int(labels((r.yes_before, r.before), (r.yes_after, r.after))) for r in rows]
    return rows, made, clusters, true


@pytest.mark.parametrize("responses", [10, 30])
def test_the_estimated_share_of_wrong_labels_is_near_the_true_one(responses: int) -> None:
    rows, made, clusters, true = drawn(np.random.default_rng(responses), 250, responses)
    found = set_errors(rows, made, clusters, draws=25)
    wrong = [(change < 0.3) if label == TRUE else (change >= 0.3) for label, change in zip(made, true, strict=True)]
    actual = np.mean([one for one, label in zip(wrong, made, strict=True) if label != EXCLUDED])
    assert found.wrong is not None
    assert found.wrong.value == pytest.approx(actual, abs=0.025)
    assert found.wrong.low <= found.wrong.value <= found.wrong.high
    assert found.clusters == 250
    assert found.worst == pytest.approx(worst_chances(responses, responses))


def test_more_responses_make_fewer_wrong_labels() -> None:
    shares = []
    for responses in (5, 40):
        rows, made, clusters, _ = drawn(np.random.default_rng(2), 120, responses)
        found = set_errors(rows, made, clusters, draws=2)
        assert found.wrong is not None
        shares.append(found.wrong.value)
    assert shares[1] < shares[0] / 2


def test_a_set_without_true_claims_says_nothing_of_them() -> None:
    found = set_errors([Batches(27, 30, 26, 30)] * 5, [FALSE] * 5, "abcde", draws=5)
    assert found.wrong_true is None
    assert found.true == 0
    assert found.wrong_false is not None
    assert found.wrong_false.value < 0.02


def test_what_was_not_measured_is_refused() -> None:
    with pytest.raises(AnalysisError, match="not measured"):
        set_errors([Batches(0, 0, 3, 10)], [FALSE], "a")
    with pytest.raises(AnalysisError, match="say nothing"):
        set_errors([], [], "")
    with pytest.raises(AnalysisError, match="at least one response"):
        label_chances(0.5, 0.5, 0, 10)
    with pytest.raises(AnalysisError, match="wording"):
        Thresholds(true_from=20)
