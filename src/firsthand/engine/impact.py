"""Impact matching: solve the dose at which a control changes the output as much as the target does.

Equal norm is not equal impact (one published control overshot by 40%), so the dose is found by bisection on the change
of the output distribution, row by row, and a row that misses its tolerance is marked and never passed off as matched.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Impact: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]


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
    impact: Impact, target: NDArray[np.float64], start: NDArray[np.float64], tolerance: float, max_rounds: int = 12
) -> Match:
    """Find for each row the dose whose impact is the target's.

    A bracket is kept in log-dose. Within it the next trial is the secant step of log-impact on log-dose (impact grows
    about with the square of a small dose), replaced by bisection where the step leaves the bracket's middle part.

    Args:
        impact: Evaluates one dose a row, batched.
        target: Impact to be reached, positive.
        start: First dose tried, positive.
        tolerance: Largest relative error that counts as matched.
        max_rounds: Evaluations allowed; rows not matched by then are returned as they are, marked.

    Returns:
        Doses, impacts reached, and which rows are matched.
    """
    x = np.log(np.asarray(start, dtype=float))
    goal = np.log(np.maximum(target, 1e-300))
    low, high = np.full_like(x, -np.inf), np.full_like(x, np.inf)
    best_x, best_y = x.copy(), np.full_like(x, np.nan)
    previous_x, previous_y = x.copy(), np.full_like(x, np.nan)
    for _ in range(max_rounds):
        reached = np.asarray(impact(np.exp(x)), dtype=float)
        y = np.log(np.maximum(reached, 1e-300))
        better = np.isnan(best_y) | (np.abs(y - goal) < np.abs(best_y - goal))
        best_x, best_y = np.where(better, x, best_x), np.where(better, y, best_y)
        done = np.abs(np.expm1(best_y - goal)) <= tolerance
        if bool(done.all()):
            break
        low, high = np.where(y < goal, np.maximum(low, x), low), np.where(y >= goal, np.minimum(high, x), high)
        step = _secant(x, y, previous_x, previous_y, goal)
        previous_x, previous_y = x, y
        x = np.where(done, best_x, _inside(step, low, high))
    impact_reached = np.exp(best_y)
    matched = (np.abs(impact_reached / np.maximum(target, 1e-300) - 1.0) <= tolerance) & (np.asarray(target) > 0)
    return Match(np.exp(best_x), impact_reached, matched)


def _secant(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    x0: NDArray[np.float64],
    y0: NDArray[np.float64],
    goal: NDArray[np.float64],
) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = (y - y0) / (x - x0)
    slope = np.where(np.isfinite(slope) & (slope > 0.2), np.minimum(slope, 8.0), 2.0)
    return np.asarray(x + np.clip((goal - y) / slope, -1.5, 1.5))


def _inside(step: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    bracketed = np.isfinite(low) & np.isfinite(high)
    width = np.where(bracketed, high - low, 1.0)
    low_safe, high_safe = np.where(np.isfinite(low), low, step - 1.0), np.where(np.isfinite(high), high, step + 1.0)
    middle = (low_safe + high_safe) / 2
    outside = bracketed & ((step <= low + 0.05 * width) | (step >= high - 0.05 * width))
    return np.where(outside, middle, step)
