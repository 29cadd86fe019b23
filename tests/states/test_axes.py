"""Axes of states: the probe's and the components' own directions, and classes of scores that do not depend on luck."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from firsthand.errors import AnalysisError, StatesError
from firsthand.states.axes import (
    Axis,
    binarised,
    component_axes,
    component_axis,
    logistic_axis,
    permuted,
    scores,
    threshold,
)
from firsthand.states.components import principal_components


def cloud(seed: int, n: int = 120, hidden: int = 6) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """States of two classes that differ in one coordinate of five times the size of the others."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=n)
    states = rng.standard_normal((n, hidden))
    states[:, 2] = 5 * (states[:, 2] + 2.5 * labels)
    return (states + 3).astype(np.float32), labels


def test_the_probes_axis_is_a_logistic_regression_on_standardised_states_in_raw_units() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    states, labels = cloud(0)
    axis, other = logistic_axis(states, labels), cloud(1)
    fits = [
        make_pipeline(StandardScaler(), LogisticRegression(C=c, class_weight="balanced", max_iter=2000))
        .fit(states, labels)
        .decision_function(other[0])
        for c in (1e-4, 1e-2, 1.0)
    ]
    found = axis.scores(other[0])
    assert min(np.abs(found - fit).max() / fit.std() for fit in fits) < 0.01  # both stop at a tolerance
    assert axis.direction_H.dtype == np.float32
    assert np.mean((found > 0) == other[1]) > 0.8
    np.testing.assert_array_equal(scores(axis, other[0]), found)


def test_a_probe_of_permuted_labels_is_a_direction_of_nothing() -> None:
    states, labels = cloud(0)
    agreed = []
    for seed in range(20):
        axis = logistic_axis(states, permuted(labels, seed))
        assert np.linalg.norm(axis.direction_H) > 0
        agreed.append(float(np.corrcoef(axis.scores(cloud(1)[0]), cloud(1)[1])[0, 1]))
    assert abs(np.mean(agreed)) < 0.3
    assert np.std(agreed) > 0.1


def test_permuted_labels_are_as_many_of_each_class_and_follow_their_seed() -> None:
    labels = np.array([0] * 30 + [1] * 20)
    assert permuted(labels, 1, 4).sum() == 20
    np.testing.assert_array_equal(permuted(labels, 1, 4), permuted(list(labels), 1, 4))
    assert (permuted(labels, 1, 4) != permuted(labels, 1, 5)).any()
    assert (permuted(labels, 1, 4) != permuted(labels, 2, 4)).any()


def test_axes_of_components_give_the_components_scores() -> None:
    states, other = cloud(0)[0], cloud(1)[0]
    wanted = principal_components(states, 4).scores(other)
    axes = component_axes(states, (1, 4))
    assert [axis.name for axis in axes] == ["pc1", "pc4"]
    np.testing.assert_allclose(axes[0].scores(other), wanted[:, 0], atol=1e-4)
    np.testing.assert_allclose(axes[1].scores(other), wanted[:, 3], atol=1e-4)
    np.testing.assert_array_equal(component_axis(states, 4).direction_H, axes[1].direction_H)


def test_a_components_sign_is_the_same_for_turned_and_reordered_states() -> None:
    states = cloud(0)[0]
    first = component_axis(states, 2).direction_H
    np.testing.assert_allclose(component_axis(-states[::-1], 2).direction_H, first, atol=1e-4)


@pytest.mark.parametrize("numbers", [(), (0,), (1, -1), (7,)])
def test_components_that_there_are_not_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(StatesError):
        component_axes(cloud(0)[0], numbers)


@pytest.mark.parametrize("labels", [np.ones(120, dtype=int), np.arange(120) % 3, np.zeros(4, dtype=int)])
def test_a_probe_of_other_than_two_classes_is_refused(labels: NDArray[Any]) -> None:
    with pytest.raises(AnalysisError):
        logistic_axis(cloud(0)[0], labels)


def squares_within(parts: list[NDArray[np.float64]]) -> float:
    return float(sum(((part - part.mean()) ** 2).sum() for part in parts))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-50, 50), min_size=2, max_size=14).filter(lambda values: len(set(values)) > 1))
def test_clusters_are_the_best_of_all_ways_to_part_the_scores(values: list[int]) -> None:
    """Compared with every split of the sorted scores that does not part equal ones."""
    given_scores = np.array(values, dtype=float)
    found = binarised(given_scores, "clusters")
    assert given_scores[found == 0].max() < given_scores[found == 1].min()
    ways = [
        [given_scores[given_scores <= cut], given_scores[given_scores > cut]] for cut in set(values) - {max(values)}
    ]
    best = min(squares_within(way) for way in ways)
    assert squares_within([given_scores[found == 0], given_scores[found == 1]]) == pytest.approx(best, abs=1e-6)


def test_clusters_far_from_zero_are_found_all_the_same() -> None:
    assert binarised([1e8 + 1, 1e8, 1e8 + 100, 1e8 + 101, 1e8 + 2], "clusters").tolist() == [0, 0, 1, 1, 0]


def test_zero_and_median_part_where_they_say() -> None:
    values = [-2.0, -1.0, 0.0, 5.0, 9.0]
    assert binarised(values, "zero").tolist() == [0, 0, 0, 1, 1]
    assert binarised(values, "median").tolist() == [0, 0, 0, 1, 1]
    assert binarised([1.0, 2.0, 3.0, 50.0], "median").tolist() == [0, 0, 1, 1]
    assert binarised([1.0, 2.0, 3.0, 50.0], "clusters").tolist() == [0, 0, 0, 1]
    assert threshold([1.0, 2.0, 3.0, 50.0], "median") == 2.5


@pytest.mark.parametrize(
    ("values", "how", "problem"),
    [
        ([1.0, 2.0], "zero", "all 2 scores are of one class: they lie between 1 and 2"),
        ([-1.0, 0.0], "zero", "one class"),
        ([3.0, 3.0, 3.0], "clusters", "one class"),
        ([0.0, 1.0, 1.0], "median", "one class"),
        ([1.0], "clusters", "one class"),
        ([], "clusters", "0 scores"),
        ([0.0, float("nan")], "median", "must be finite"),
        ([0.0, 1.0], "mean", "cannot be parted by 'mean'"),
    ],
)
def test_scores_of_one_class_are_refused(values: list[float], how: Any, problem: str) -> None:
    with pytest.raises(StatesError, match=problem):
        binarised(values, how)


def test_scores_are_counted_from_the_offset() -> None:
    axis = Axis("x", np.array([1.0, -2.0], dtype=np.float32), 0.5)
    assert axis.scores(np.array([[0.0, 0.0], [1.0, 1.0]])).tolist() == [0.5, -0.5]
