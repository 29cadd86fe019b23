"""How many labels of a set are wrong, by empirical Bayes.

It depends on which effects the edits truly have. That distribution is estimated from all measured edits, those without
a label included, by nonparametric maximum likelihood (Kiefer and Wolfowitz 1956; fitted by EM, Laird 1978) and used as
the prior of each (empirical Bayes, Robbins 1956). What is assumed is that edits of a set are draws of one distribution.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from firsthand.analysis.label_errors import EXCLUDED, FALSE, STANDARD, TRUE, Thresholds, worst_chances
from firsthand.errors import AnalysisError
from firsthand.trials.randomness import stream

Floats: TypeAlias = NDArray[np.float64]

_GRID: Final = np.sin(np.linspace(0.0, np.pi / 2.0, 21)) ** 2
"""Rates that the prior is made of, before and after: denser at the edges, where rates are easier to tell apart."""
_ROUNDS: Final = 200
_MORE_ROUNDS: Final = 50
"""Rounds of a bootstrap draw, which begins where the whole set ended."""


class Batches(NamedTuple):
    """Counts of one measured edit: yes and valid responses without it and with it."""

    yes_before: int
    before: int
    yes_after: int
    after: int


class Estimated(NamedTuple):
    """An estimate with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SetErrors:
    """Wrong labels of a set.

    Attributes:
        true: Labels "true".
        false: Labels "false".
        wrong_true: Expected share of them that is wrong; ``None`` if there are none.
        wrong_false: The same of labels "false".
        wrong: The same of all labels.
        worst: Largest chances, over all true rates, that an edit whose change is just below what the claim speaks of is
            called true, and that one whose change is just as large is called false; of the smallest batches in the set.
            ``None`` where labels were not made by thresholds.
        clusters: Independent units that the intervals are made of.
    """

    true: int
    false: int
    wrong_true: Estimated | None
    wrong_false: Estimated | None
    wrong: Estimated | None
    worst: tuple[float, float] | None
    clusters: int


def prior_of(measured: Sequence[Batches], weights: ArrayLike | None = None) -> Floats:
    """Distribution of true rates before and after the edit, by nonparametric maximum likelihood, ``[21, 21]``.

    Args:
        measured: All measured edits, whether or not they have a label.
        weights: How often each counts; once if not given.
    """
    likelihood, place, _ = _likelihoods(measured)
    counted = np.bincount(place, np.asarray(np.ones(len(place)) if weights is None else weights, np.float64))
    return _fitted(likelihood, counted).reshape(len(_GRID), len(_GRID))


def set_errors(
    measured: Sequence[Batches],
    labelled: Sequence[int],
    clusters: Iterable[object],
    thresholds: Thresholds = STANDARD,
    *,
    draws: int = 100,
    level: float = 0.95,
    seed: int = 0,
) -> SetErrors:
    """Expected share of wrong labels in a set.

    Given the prior, the chance that a label is wrong depends on the edit's own counts, whichever edits were chosen to
    be claims. The interval is about the labels of this set: in each draw the prior is fitted to other clusters, since
    edits that share a baseline err together, and each label is wrong or not by lot.

    The estimate is somewhat low where few labels are wrong: a prior of greatest likelihood keeps to a few pairs of
    rates.

    Args:
        measured: All measured edits, those that make no claim too.
        labelled: 1, 0 or -1 for each of them: the claim that it makes, if any.
        clusters: What each belongs to, such as its investigation.
        thresholds: The thresholds.
        draws: Bootstrap draws.
        level: Level of the intervals.
        seed: Seed of the draws.

    Raises:
        AnalysisError: If nothing was measured, or the lengths differ.
    """
    groups = np.unique(np.array([str(one) for one in clusters]), return_inverse=True)[1]
    made = np.asarray(labelled, np.int64)
    if not len(measured) or not len(measured) == len(made) == len(groups):
        raise AnalysisError(
            f"{len(measured)} measured edits with {len(made)} labels and {len(groups)} clusters say nothing of errors.",
            "Give all measured edits, with a label and a cluster each.",
        )
    likelihood, place, rows = _likelihoods(measured)
    whole = _fitted(likelihood, np.bincount(place, minlength=len(likelihood)))
    found = _shares(_chances(likelihood, whole, thresholds)[place], made)
    rng, count = stream(seed, "label errors"), int(groups.max()) + 1
    drawn: list[list[float]] = []
    for _ in range(draws):
        weights = np.bincount(rng.integers(0, count, count), minlength=count)[groups].astype(np.float64)
        prior = _fitted(likelihood, np.bincount(place, weights, minlength=len(likelihood)), whole, _MORE_ROUNDS)
        small = rng.random(len(made)) < _chances(likelihood, prior, thresholds)[place]
        drawn.append(_shares(small.astype(np.float64), made))
    estimates = [_estimated(value, [one[i] for one in drawn], level) for i, value in enumerate(found)]
    smallest = int(rows[:, 1].min()), int(rows[:, 3].min())
    return SetErrors(
        true=int((made == TRUE).sum()),
        false=int((made == FALSE).sum()),
        wrong_true=estimates[0],
        wrong_false=estimates[1],
        wrong=estimates[2],
        worst=worst_chances(*smallest, thresholds),
        clusters=count,
    )


def _chances(likelihood: Floats, prior: Floats, thresholds: Thresholds) -> Floats:
    """Chance of each row that its true change is below what a claim speaks of."""
    small = np.abs(_GRID[None] - _GRID[:, None]).ravel() < thresholds.wording / 100.0 - 1e-9
    joint = likelihood * prior
    return np.asarray(joint[:, small].sum(axis=1) / joint.sum(axis=1))


def _shares(small: Floats, made: NDArray[np.int64]) -> list[float]:
    """Shares of wrong labels among true ones, false ones and all, by whether each edit's true change is small."""
    wrong = np.where(made == TRUE, small, 1.0 - small)
    chosen = [made == TRUE, made == FALSE, made != EXCLUDED]
    return [float(wrong[one].mean()) if one.any() else np.nan for one in chosen]


def _estimated(value: float, drawn: Sequence[float], level: float) -> Estimated | None:
    known = [one for one in drawn if not np.isnan(one)]
    if np.isnan(value):
        return None
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0]) if known else (0.0, 1.0)
    return Estimated(value, min(float(low), value), max(float(high), value))


def _likelihoods(measured: Sequence[Batches]) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Likelihood of each different row at each pair of rates, ``[rows, pairs]``; each edit's row; the rows."""
    rows, place = np.unique(np.array(measured, np.int64).reshape(-1, 4), axis=0, return_inverse=True)
    if (rows[:, [1, 3]] < 1).any():
        raise AnalysisError("An edit without valid responses was not measured.", "Leave it out.")
    before, after = (np.asarray(binom.pmf(rows[:, [k]], rows[:, [k + 1]], _GRID[None])) for k in (0, 2))
    likelihood = (before[:, :, None] * after[:, None, :]).reshape(len(rows), -1)
    return likelihood, place.ravel(), rows


def _fitted(likelihood: Floats, weights: ArrayLike, start: Floats | None = None, rounds: int = _ROUNDS) -> Floats:
    """Weights of the pairs of rates, by EM from equal ones or from a start."""
    prior = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1]) if start is None else start
    counts = np.asarray(weights, np.float64)
    used = counts > 0
    rows, counted = likelihood[used], counts[used] / counts.sum()
    for _ in range(rounds):
        prior = prior * (rows.T @ (counted / (rows @ prior)))
    return np.asarray(prior)
