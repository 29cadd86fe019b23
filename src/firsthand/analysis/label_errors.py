"""How often measured labels are wrong: of one edit exactly, and of a set by empirical Bayes.

A label compares the shares of two finite batches with thresholds, so an edit whose true effect is somewhere between
gets a wrong label by chance. For one edit that chance is an exact sum over two binomials. How many labels of a *set*
are wrong depends on which effects its edits truly have; that distribution is estimated from all measured edits, those
without a label included, by nonparametric maximum likelihood (Kiefer and Wolfowitz 1956; fitted by EM, Laird 1978) and
used as the prior of each (empirical Bayes, Robbins 1956).

A label "true" is wrong if the true change is below the points that the claim speaks of (30), a label "false" if it is
not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from firsthand.errors import AnalysisError
from firsthand.trials.randomness import stream

Floats: TypeAlias = NDArray[np.float64]
TRUE: Final = 1
FALSE: Final = 0
EXCLUDED: Final = -1

_GRID: Final = np.sin(np.linspace(0.0, np.pi / 2.0, 21)) ** 2
"""Rates that the prior is made of, before and after: denser at the edges, where rates are easier to tell apart."""
_ROUNDS: Final = 200


@dataclass(frozen=True)
class Thresholds:
    """Changes that make a label, in whole percentage points.

    Attributes:
        true_from: A change of at least this much makes a claim true.
        false_to: A change of at most this much makes it false.
        wording: What the claim speaks of: a change of at least this much.
    """

    true_from: int = 50
    false_to: int = 15
    wording: int = 30

    def __post_init__(self) -> None:
        if not 0 <= self.false_to < self.wording <= self.true_from <= 100:
            raise AnalysisError(
                f"No label can be made with true from {self.true_from}, false to {self.false_to} and a wording of "
                f"{self.wording} points.",
                "Let the wording lie between the two thresholds.",
            )


STANDARD: Final = Thresholds()


class Batches(NamedTuple):
    """Counts of one measured edit: yes and valid responses without it and with it."""

    yes_before: int
    before: int
    yes_after: int
    after: int


class LabelChances(NamedTuple):
    """Chances that an edit is called true, false, or neither."""

    true: float
    false: float
    excluded: float


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
        clusters: Independent units that the intervals are made of.
    """

    true: int
    false: int
    wrong_true: Estimated | None
    wrong_false: Estimated | None
    wrong: Estimated | None
    worst: tuple[float, float]
    clusters: int


def labels(
    before: tuple[ArrayLike, ArrayLike], after: tuple[ArrayLike, ArrayLike], thresholds: Thresholds = STANDARD
) -> NDArray[np.int8]:
    """Labels of counts: 1 true, 0 false, -1 neither, also where a batch is empty.

    Whole numbers are compared, so a change of exactly 50 points is one (as floats, .65 - .15 is less than .5).

    Args:
        before: Yes and valid responses without the edit; any shapes that broadcast.
        after: The same with it.
        thresholds: The thresholds.
    """
    k0, n0, k1, n1 = np.broadcast_arrays(*(np.asarray(x, np.int64) for x in (*before, *after)))
    change, whole = 100 * np.abs(k1 * n0 - k0 * n1), n0 * n1
    found = np.where(
        change >= thresholds.true_from * whole, TRUE, np.where(change <= thresholds.false_to * whole, FALSE, EXCLUDED)
    )
    return np.asarray(np.where(whole > 0, found, EXCLUDED), np.int8)


def label_chances(
    rate_before: float, rate_after: float, before: int, after: int, thresholds: Thresholds = STANDARD
) -> LabelChances:
    """Exact chances of each label for given true rates.

    Args:
        rate_before: True rate without the edit.
        rate_after: True rate with it.
        before: Valid responses without the edit.
        after: Valid responses with it.
        thresholds: The thresholds.
    """
    if before < 1 or after < 1 or not (0.0 <= rate_before <= 1.0 and 0.0 <= rate_after <= 1.0):
        raise AnalysisError(
            f"There are no chances of labels with {before} and {after} responses at rates of {rate_before} and "
            f"{rate_after}.",
            "Give at least one response each, and rates from 0 to 1.",
        )
    k0, k1 = np.arange(before + 1)[:, None], np.arange(after + 1)[None]
    found = labels((k0, before), (k1, after), thresholds)
    chance = binom.pmf(k0, before, rate_before) * binom.pmf(k1, after, rate_after)
    return LabelChances(*(float(chance[found == label].sum()) for label in (TRUE, FALSE, EXCLUDED)))


def worst_chances(before: int, after: int, thresholds: Thresholds = STANDARD) -> tuple[float, float]:
    """Largest chances that an edit at the wording's change is called true, and that it is called false.

    An edit that changes less than the wording says is called true no more often than the first, and one that changes
    more is called false no more often than the second.
    """
    change = thresholds.wording / 100.0
    each = [label_chances(low, low + change, before, after, thresholds) for low in np.linspace(0.0, 1.0 - change, 71)]
    return max(one.true for one in each), max(one.false for one in each)


def possible_labels(
    before: tuple[int, int, int], after: tuple[int, int, int], thresholds: Thresholds = STANDARD
) -> frozenset[int]:
    """All labels that could have come out, whatever the invalid responses were.

    Args:
        before: Yes, no and invalid responses without the edit.
        after: The same with it.
        thresholds: The thresholds.
    """
    k0 = np.arange(before[0], before[0] + before[2] + 1)[:, None]
    k1 = np.arange(after[0], after[0] + after[2] + 1)[None]
    found = labels((k0, sum(before)), (k1, sum(after)), thresholds)
    return frozenset(int(label) for label in np.unique(found))


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
    be claims. Edits that share a baseline err together, so the interval draws whole clusters and fits the prior anew.

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
    small = np.abs(_GRID[None] - _GRID[:, None]).ravel() < thresholds.wording / 100.0 - 1e-9

    def shares(weights: Floats) -> list[float]:
        prior = _fitted(likelihood, np.bincount(place, weights, minlength=len(likelihood)))
        joint = likelihood * prior
        below = (joint[:, small].sum(axis=1) / joint.sum(axis=1))[place]
        wrong = np.where(made == TRUE, below, 1.0 - below)
        chosen = [made == TRUE, made == FALSE, made != EXCLUDED]
        totals = [float(weights[one].sum()) for one in chosen]
        return [float((weights * wrong)[one].sum()) / n if n else np.nan for one, n in zip(chosen, totals, strict=True)]

    found = shares(np.ones(len(made)))
    rng, count = stream(seed, "label errors"), int(groups.max()) + 1
    drawn = [shares(np.bincount(rng.integers(0, count, count), minlength=count)[groups] * 1.0) for _ in range(draws)]
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
    before, after = (binom.pmf(rows[:, [k]], rows[:, [k + 1]], _GRID[None]) for k in (0, 2))
    likelihood = (before[:, :, None] * after[:, None, :]).reshape(len(rows), -1)
    return likelihood, place.ravel(), rows


def _fitted(likelihood: Floats, weights: Floats) -> Floats:
    """Weights of the pairs of rates, by EM from equal ones."""
    prior = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    used = weights > 0
    rows, counted = likelihood[used], weights[used] / weights.sum()
    for _ in range(_ROUNDS):
        prior = prior * (rows.T @ (counted / (rows @ prior)))
    return np.asarray(prior)
