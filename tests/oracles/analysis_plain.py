"""Slow and plain references: loops over pairs, clusters and draws, one idea each."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pairwise_area(truth: Array, score: Array, strata: NDArray[np.int64] | None = None) -> float:
    """The share of pairs in the right order, ties half, looking at every pair."""
    won = pairs = 0.0
    for i in np.flatnonzero(truth == 1):
        for j in np.flatnonzero(truth == 0):
            if strata is not None and strata[i] != strata[j]:
                continue
            pairs += 1
            won += float(score[i] > score[j]) + 0.5 * float(score[i] == score[j])
    return won / pairs


def resampled(clusters: NDArray[np.int64], statistic: Callable[[NDArray[np.int64]], float], draws: int) -> Array:
    """The statistic on rows of clusters drawn with replacement, rows repeated as often as their cluster."""
    rng = np.random.default_rng(1)
    members = [np.flatnonzero(clusters == g) for g in np.unique(clusters)]
    found = []
    for _ in range(draws):
        picked = rng.integers(0, len(members), len(members))
        found.append(statistic(np.concatenate([members[g] for g in picked])))
    return np.array(found)


def risk_coverage_area(truth: Array, confidence: Array, orders: int = 2000) -> float:
    """Mean error of the surest k trials over all k, averaged over random orders of ties."""
    rng = np.random.default_rng(2)
    areas = []
    for _ in range(orders):
        shuffled = rng.permutation(len(truth))
        order = shuffled[np.argsort(-confidence[shuffled], kind="stable")]
        areas.append(np.mean(np.cumsum(1 - truth[order]) / np.arange(1, len(truth) + 1)))
    return float(np.mean(areas))
