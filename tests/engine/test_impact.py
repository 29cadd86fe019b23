"""Doses are solved for equal impact, and what was not reached is never passed off as matched."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from firsthand.engine.impact import LARGEST_FACTOR, Match, match_impact
from firsthand.errors import EngineError

Floats = NDArray[np.float64]


class Counted:
    """An impact in closed form that remembers what it was asked."""

    def __init__(self, of: Callable[[Floats], Floats]) -> None:
        self.of, self.doses = of, []

    def __call__(self, dose: Floats) -> Floats:
        self.doses.append(dose.copy())
        return self.of(dose)


def solve(of: Callable[[Floats], Floats], target: list[float], start: float = 1.0, **options: int) -> Match:
    """Solve, and check what must hold of every result."""
    impact = Counted(of)
    goal = np.array(target)
    match = match_impact(impact, goal, np.full(len(target), start), tolerance=0.02, **options)
    with np.errstate(invalid="ignore"):
        close = np.abs(match.impact - goal) <= 0.02 * goal
    assert not bool((match.matched & ~close).any())
    assert np.array_equal(match.impact, np.where(np.isnan(of(match.dose)), np.inf, of(match.dose)), equal_nan=True)
    assert all(bool(np.isfinite(dose).all() and (dose > 0).all()) for dose in impact.doses)
    assert len(impact.doses) <= options.get("max_rounds", 12)
    return match


def test_a_quadratic_impact_is_matched_at_its_root_in_two_evaluations() -> None:
    impact = Counted(lambda dose: 0.5 * dose**2)
    match = match_impact(impact, np.array([2.0]), np.array([1.0]), 0.02)
    assert match.dose == pytest.approx([2.0])
    assert match.matched.all()
    assert len(impact.doses) == 2


@given(st.floats(0.3, 8.0), st.floats(-3.0, 3.0), st.floats(0.1, 10.0))
@settings(deadline=None)
def test_any_power_is_matched(power: float, log_distance: float, scale: float) -> None:
    target = scale * np.exp(power * log_distance)
    match = solve(lambda dose: scale * dose**power, [target])
    assert match.matched.all()
    assert match.dose[0] ** power == pytest.approx(target / scale, rel=0.03)


@given(st.lists(st.floats(0.05, 0.9), min_size=1, max_size=6), st.floats(0.2, 5.0))
@settings(deadline=None)
def test_a_saturating_impact_is_matched_below_its_ceiling(targets: list[float], start: float) -> None:
    match = solve(lambda dose: 1.0 - np.exp(-(dose**2)), targets, start)
    assert match.matched.all()
    assert match.dose == pytest.approx(np.sqrt(-np.log(1.0 - np.array(targets))), rel=0.1)


def test_rows_above_the_ceiling_are_marked_and_do_not_keep_others_from_their_match() -> None:
    match = solve(lambda dose: 1.0 - np.exp(-(dose**2)), [0.5, 1.5, 0.9])
    assert match.matched.tolist() == [True, False, True]
    assert match.impact[1] == pytest.approx(1.0, abs=0.01)


def test_an_impact_with_a_hump_is_matched_from_both_sides_and_marked_above_its_top() -> None:
    def hump(dose: Floats) -> Floats:
        return dose**2 * np.exp(-dose)

    for start in (0.1, 1.0, 3.0):
        assert solve(hump, [0.3, 0.5, 0.6], start).matched.tolist() == [True, True, False]


@pytest.mark.parametrize("start", [4.0, 6.0, 9.0])
def test_a_start_far_beyond_the_hump_finds_back_to_where_impact_is_larger(start: float) -> None:
    assert solve(lambda dose: dose**2 * np.exp(-dose), [0.4], start).matched.all()


def test_a_target_inside_a_jump_is_closed_in_on_without_repeating_a_trial() -> None:
    impact = Counted(lambda dose: np.where(dose < 1.5, 2.0 * dose**2, 0.4 / dose))
    match = match_impact(impact, np.array([3.0]), np.array([1.45]), 0.02, max_rounds=10)
    tried = [float(dose[0]) for dose in impact.doses]
    assert len(set(tried)) == len(tried) == 10 or match.matched.all()


def test_an_impact_that_falls_with_the_dose_is_matched_once_it_is_bracketed() -> None:
    def dip(dose: Floats) -> Floats:
        return np.where(dose <= 1.0, 4.0, np.maximum(4.0 - 3.0 * np.log(dose), 0.1))

    assert solve(dip, [2.0, 1.0], 3.0, max_rounds=20).matched.all()


def test_a_step_is_never_reported_as_matched() -> None:
    assert not solve(lambda dose: np.where(dose < 1.3, 0.1, 5.0), [1.0, 2.0], max_rounds=30).matched.any()


def test_a_direction_without_any_impact_is_marked_and_its_dose_stays_bounded() -> None:
    impact = Counted(lambda dose: np.zeros_like(dose))
    match = match_impact(impact, np.array([1.0]), np.array([2.0]), 0.02, max_rounds=50)
    assert not match.matched.any()
    assert max(float(dose[0]) for dose in impact.doses) <= 2.0 * LARGEST_FACTOR * 1.001
    assert len(impact.doses) < 12


@pytest.mark.parametrize("target", [0.0, -1.0, float("nan"), float("inf")])
def test_a_target_that_cannot_be_matched_is_marked_and_its_row_keeps_its_first_dose(target: float) -> None:
    match = solve(lambda dose: dose**2, [target, 4.0])
    assert match.matched.tolist() == [False, True]
    assert match.dose[0] == 1.0
    assert match.impact[0] == 1.0


def test_an_impact_that_is_not_a_number_counts_as_too_large() -> None:
    match = solve(lambda dose: np.where(dose > 3.0, np.nan, dose**2), [4.0], start=10.0)
    assert match.matched.all()


def test_a_row_without_any_finite_impact_is_marked() -> None:
    match = solve(lambda dose: np.full_like(dose, np.nan), [1.0])
    assert not match.matched.any()


def test_the_result_is_the_same_each_time_and_for_each_row_alone() -> None:
    def impact(dose: Floats) -> Floats:
        return np.tanh(dose**1.7)

    targets = [0.2, 0.5, 0.8]
    together = solve(impact, targets)
    assert np.array_equal(together.dose, solve(impact, targets).dose)
    for row, target in enumerate(targets):
        assert solve(impact, [target]).dose[0] == together.dose[row]


def test_without_a_round_nothing_is_matched() -> None:
    match = match_impact(lambda dose: dose, np.array([1.0]), np.array([1.0]), 0.5, max_rounds=0)
    assert not match.matched.any()
    assert np.isnan(match.impact).all()


def test_a_start_within_tolerance_costs_one_evaluation_and_is_returned_as_it_was() -> None:
    impact = Counted(lambda dose: dose**2)
    match = match_impact(impact, np.array([0.09]), np.array([0.3]), 0.02)
    assert match.dose[0] == 0.3
    assert len(impact.doses) == 1


@pytest.mark.parametrize("start", [[0.0], [-1.0], [float("nan")], [float("inf")], [1.0, 1.0]])
def test_a_start_that_is_no_dose_is_refused(start: list[float]) -> None:
    with pytest.raises(EngineError, match="positive start"):
        match_impact(lambda dose: dose, np.array([1.0]), np.array(start), 0.02)


def test_an_impact_of_another_length_is_refused() -> None:
    with pytest.raises(EngineError, match="one value for each dose"):
        match_impact(lambda dose: dose[:1], np.array([1.0, 2.0]), np.array([1.0, 1.0]), 0.02)


def test_the_arguments_are_not_changed() -> None:
    target, start = np.array([4.0]), np.array([1.0])
    match_impact(lambda dose: dose**2, target, start, 0.02)
    assert (target[0], start[0]) == (4.0, 1.0)
