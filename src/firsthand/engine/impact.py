"""Impact matching: solve the dose at which a control changes the output as much as the target does.

Equal norm is not equal impact (one published control overshot by 40%), so the dose is found by bracketing the change of
the output distribution, row by row, and a row that misses its tolerance is marked and never passed off as matched.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import EngineError

Impact: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

LARGEST_FACTOR: Final = 1e4
_SMALLEST: Final = 1e-300
_LARGEST_STEP: Final = 1.5  # in log-dose
_LEAST_STEPS: Final = (0.0, 0.01, 0.2, 0.4, 0.8, _LARGEST_STEP)  # of a row without a bracket, by round


@dataclass(frozen=True)
class Match:
    """What the solver reached, row by row.

    Attributes:
        dose: Dose of each row.
        impact: Impact reached at that dose.
        matched: Whether it lies within the tolerance of the target.
    """

    dose: NDArray[np.float64]
    impact: NDArray[np.float64]
    matched: NDArray[np.bool_]


def match_impact(
    impact: Impact,
    target: NDArray[np.float64],
    start: NDArray[np.float64],
    tolerance: float,
    max_rounds: int = 12,
    smallest: float = 0.0,
    largest: float = np.inf,
) -> Match:
    """Find for each row the dose whose impact is the target's.

    The next trial is the secant step of log-impact on log-dose (impact grows about with the square of a small dose). As
    soon as one dose below and one above the target are known, the trial stays between them, and falls back on bisection
    where the step leaves the middle part; until then it goes further in every round, towards smaller doses too where
    those have the larger impact. Doses more than a factor :data:`LARGEST_FACTOR` from the start are not tried.

    Args:
        impact: Evaluates one dose a row, batched. A value that is not a number counts as too large.
        target: Impact to be reached. A row whose target is not positive and finite keeps its first dose, unmatched.
        start: First dose tried, positive.
        tolerance: Largest relative error that counts as matched.
        max_rounds: Evaluations allowed; rows not matched by then get the best dose tried, marked.
        smallest: No dose below it is tried.
        largest: No dose above it is tried.

    Returns:
        Doses, impacts reached, and which rows are matched.

    Raises:
        EngineError: If shapes differ, or a start is not positive and finite.
    """
    goal, dose = np.asarray(target, dtype=float), np.asarray(start, dtype=float).copy()
    if goal.shape != dose.shape or not bool(np.all(np.isfinite(dose) & (dose > 0))):
        raise EngineError("Impact matching needs one positive start dose for each target.", "Correct the start.")
    log_goal = np.log(np.where(_solvable(goal), goal, 1.0))
    dose = np.clip(dose, smallest, largest)
    first = np.log(dose)
    lowest = np.maximum(first - np.log(LARGEST_FACTOR), np.log(max(smallest, _SMALLEST)))
    highest = np.minimum(first + np.log(LARGEST_FACTOR), np.log(largest))
    best_dose, best = dose.copy(), np.full_like(dose, np.nan)
    below, above = np.full_like(dose, np.nan), np.full_like(dose, np.nan)
    previous_x, previous_y = first, np.full_like(dose, np.nan)
    for number in range(max_rounds):
        reached = _evaluate(impact, dose)
        better = np.isnan(best) | (np.abs(reached - goal) < np.abs(best - goal))
        best_dose, best = np.where(better, dose, best_dose), np.where(better, reached, best)
        x, y = np.log(dose), np.log(np.maximum(reached, _SMALLEST))
        below, above = np.where(reached < goal, x, below), np.where(reached >= goal, x, above)
        stuck = (x <= lowest + 1e-9) & (reached > goal) | (x >= highest - 1e-9) & (reached < goal)
        active = _solvable(goal) & ~_within(best, goal, tolerance) & ~stuck
        if not bool(active.any()):
            break
        least = np.where(np.isnan(below) | np.isnan(above), _LEAST_STEPS[min(number, 5)], 0.0)
        step = _inside(_secant(x, y, previous_x, previous_y, log_goal, least), below, above)
        step = np.clip(step, lowest, highest)
        previous_x, previous_y = x, y
        dose = np.where(active, np.exp(step), best_dose)
    return Match(best_dose, best, _solvable(goal) & _within(best, goal, tolerance))


def _solvable(goal: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isfinite(goal) & (goal > 0)


def _within(reached: NDArray[np.float64], goal: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    return np.asarray(np.abs(reached - goal) <= tolerance * goal)


def _evaluate(impact: Impact, dose: NDArray[np.float64]) -> NDArray[np.float64]:
    reached = np.asarray(impact(dose), dtype=float)
    if reached.shape != dose.shape:
        raise EngineError(
            f"The impact of {dose.size} doses came back with shape {list(reached.shape)}.",
            "Return one value for each dose.",
        )
    return np.where(np.isnan(reached), np.inf, reached)


def _secant(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    x0: NDArray[np.float64],
    y0: NDArray[np.float64],
    goal: NDArray[np.float64],
    least: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The next log-dose by the slope between the last two trials; by a slope of two where that is no use.

    A row that must move by at least something (it is on a plateau, or beyond a hump) moves to where its impact grows or
    falls as needed, by the sign of its last slope.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (y - y0) / (x - x0)
    useful = np.isfinite(slope) & (slope > 0.2)
    move = np.clip((goal - y) / np.where(useful, np.minimum(slope, 8.0), 2.0), -_LARGEST_STEP, _LARGEST_STEP)
    grows = np.where(np.isfinite(slope) & (slope < 0), -1.0, 1.0)
    search = np.sign(goal - y) * grows * np.maximum(np.abs(move), least)
    return np.asarray(x + np.where(least > 0, search, move))


def _inside(step: NDArray[np.float64], below: NDArray[np.float64], above: NDArray[np.float64]) -> NDArray[np.float64]:
    """The step, or the middle between a dose with too little and one with too much where it leaves their inside."""
    low, high = np.minimum(below, above), np.maximum(below, above)
    margin = 0.05 * (high - low)  # not a number as long as one of the two is unknown, and then nothing is outside
    outside = (step < low + margin) | (step > high - margin)
    return np.where(outside, (low + high) / 2, step)
