"""Private referents made of states: an axis of the residual stream, the scores along it, and two classes of scores.

The axes are those of Ji-An et al. (2025) as arXiv 2605.26242, appendix J, tells of them: a logistic probe of a property
of the texts, and principal components of their states. Both are the project's own probe and components
(:mod:`firsthand.states.probe`, :mod:`firsthand.states.components`), here in one form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import StatesError
from firsthand.states.components import Components, principal_components
from firsthand.states.probe import fit_probe
from firsthand.trials.randomness import stream

How: TypeAlias = Literal["clusters", "zero", "median"]
"""Where scores are parted: between the two clusters that fit them best, above zero, or above their median."""

_FOLDS = 2  # the least: a probe's worth is measured on texts held out for it, not by many fits


@dataclass(frozen=True, eq=False)
class Axis:
    """A direction of the residual stream with an origin.

    Attributes:
        name: What it is, e.g. ``probe`` or ``pc1``.
        direction_H: Change of the score for each unit of residual, ``[hidden]``, float32.
        offset: Score of a state of zeros.
    """

    name: str
    direction_H: NDArray[np.float32]
    offset: float

    def scores(self, states_NH: NDArray[Any]) -> NDArray[np.float64]:
        """Scores of states, ``state . direction + offset``, ``[states]``."""
        states = np.asarray(states_NH, dtype=np.float64)
        return np.asarray(states @ self.direction_H.astype(np.float64) + self.offset)


def logistic_axis(
    states_NH: NDArray[Any],
    labels: Sequence[int] | NDArray[Any],
    groups: Sequence[int] | None = None,
    *,
    name: str = "probe",
) -> Axis:
    """The direction of a logistic regression on standardised states, in the stream's own units.

    Args:
        states_NH: States, ``[states, hidden]``.
        labels: Class of each, 0 or 1; for the control of appendix J those of :func:`permuted`.
        groups: What must not be parted when the regularisation is chosen; by default each state stands alone.
        name: What the axis is called.

    Raises:
        AnalysisError: If states and labels do not belong together, a number is not finite, there are fewer than three
            groups, one class only, or states that do not differ.
    """
    blocks = [str(group) for group in (range(len(labels)) if groups is None else groups)]
    probe = fit_probe(states_NH, labels, blocks, _FOLDS)
    return Axis(name, probe.direction_H, probe.offset)


def component_axes(states_NH: NDArray[Any], numbers: Sequence[int]) -> tuple[Axis, ...]:
    """Some principal components of states, fitted once; each is called ``pc`` and its number.

    Args:
        states_NH: States, ``[states, hidden]``.
        numbers: Which, from 1, by falling variance.

    Raises:
        StatesError: If no number is given or one is below 1, the states are not a matrix of finite numbers, or they
            vary along fewer directions.
    """
    if not numbers or min(numbers) < 1:
        raise StatesError(f"There are no components {list(numbers)}.", "Count them from 1.")
    fitted = principal_components(states_NH, max(numbers))
    return tuple(_component(fitted, number) for number in numbers)


def component_axis(states_NH: NDArray[Any], number: int) -> Axis:
    """One principal component of states, as :func:`component_axes` gives it.

    Raises:
        StatesError: As there.
    """
    return component_axes(states_NH, (number,))[0]


def _component(fitted: Components, number: int) -> Axis:
    direction = fitted.directions_KH[number - 1]
    return Axis(f"pc{number}", direction, -float(direction.astype(np.float64) @ fitted.mean_H.astype(np.float64)))


def permuted(labels: Sequence[int] | NDArray[Any], *purpose: str | int) -> NDArray[np.int64]:
    """The same labels in a random order: as many of each class, and no tie to the texts ("random relabeling").

    A probe that is fitted on them is still a direction of the stream, though of nothing that the texts say.

    Args:
        labels: The labels.
        purpose: Name of the random stream, e.g. the seed and the layer.
    """
    return stream("labels", "permuted", *purpose).permutation(np.asarray(labels, dtype=np.int64))


def scores(axis: Axis, states_NH: NDArray[Any]) -> NDArray[np.float64]:
    """Scores of states along an axis, ``[states]``."""
    return axis.scores(states_NH)


def threshold(scores_N: NDArray[Any] | Sequence[float], how: How) -> float:
    """The largest score that is still of class 0.

    ``clusters`` is exact: of all ways to part the sorted scores, that with the least sum of squares within the two
    parts, the first of equals (k-means with k = 2 in one dimension, without a start on which it could depend).

    Raises:
        StatesError: If a score is not finite, ``how`` is unknown, or one class would be empty.
    """
    values = np.sort(np.asarray(scores_N, dtype=np.float64).ravel())
    if how not in get_args(How):
        raise StatesError(f"Scores cannot be parted by {how!r}.", f"Choose one of {', '.join(get_args(How))}.")
    if not len(values) or not np.isfinite(values).all():
        raise StatesError(f"{len(values)} scores, which must be finite, cannot be parted.", "Give other scores.")
    cut = 0.0 if how == "zero" else float(np.median(values)) if how == "median" else _clusters(values)
    if not values[0] <= cut < values[-1]:
        raise StatesError(
            f"Parted by {how!r}, all {len(values)} scores are of one class: they lie between {values[0]:.4g} and "
            f"{values[-1]:.4g}.",
            "Part them by 'clusters' or 'median', or use another axis.",
        )
    return cut


def binarised(scores_N: NDArray[Any] | Sequence[float], how: How) -> NDArray[np.int64]:
    """Two classes of scores: 1 above the :func:`threshold`, else 0, ``[scores]``.

    Raises:
        StatesError: As there.
    """
    return (np.asarray(scores_N, dtype=np.float64).ravel() > threshold(scores_N, how)).astype(np.int64)


def _clusters(sorted_N: NDArray[np.float64]) -> float:
    """Largest value of the lower cluster. The least sum of squares within is the largest one between.

    A cut through equal scores is never better than one beside them: between is convex in how many of them go where.
    """
    count = len(sorted_N)
    centred = sorted_N - sorted_N.mean()
    lower = np.arange(1, count)
    between = np.cumsum(centred)[:-1] ** 2 * count / (lower * (count - lower))
    return float(sorted_N[int(np.argmax(between))]) if count > 1 else float(sorted_N[0])
