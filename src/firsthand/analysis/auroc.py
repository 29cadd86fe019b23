"""Area under the ROC curve with its influence function, pooled or with pairs only within strata.

``A = sum over pairs (i truth 1, j truth 0, same stratum) of [s_i > s_j] + [s_i = s_j] / 2``, over the number of such
pairs. To first order a trial's weight moves it by ``(pairs won - A * pairs) / all pairs``: with one stratum these are
the placement values of DeLong, DeLong and Clarke-Pearson (1988), summed by cluster as in Obuchowski (1997, Biometrics
53).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from firsthand.analysis.inference import FloatArray


@dataclass(frozen=True, eq=False)
class Area:
    """An area and what each trial contributes to its variation.

    Attributes:
        value: The area; NaN where no pair exists.
        influence: First-order effect of each trial's weight ``[trials]``; sums to zero.
        pairs: Number of pairs compared.
    """

    value: float
    influence: FloatArray
    pairs: float


def _won(truth: NDArray[np.bool_], score: FloatArray) -> tuple[FloatArray, float]:
    """Pairs that went the right way, for every trial ``[trials]``, and the number of all pairs."""
    ranks = stats.rankdata(score)
    won = np.empty(len(score))
    won[truth] = ranks[truth] - stats.rankdata(score[truth])
    won[~truth] = truth.sum() - (ranks[~truth] - stats.rankdata(score[~truth]))
    return won, float(truth.sum()) * float((~truth).sum())


def area(truth: FloatArray, score: FloatArray, strata: NDArray[np.int64] | None = None) -> Area:
    """Area under the curve of ``score`` for ``truth``, comparing only trials of the same stratum.

    Args:
        truth: 1.0 or 0.0 ``[trials]``.
        score: Any ordering ``[trials]``.
        strata: Stratum of each trial ``[trials]``; ``None`` compares all pairs.
    """
    labels = np.zeros(len(truth), dtype=np.int64) if strata is None else strata
    won, met, pairs = np.zeros(len(truth)), np.zeros(len(truth)), 0.0
    for label in np.unique(labels):
        rows = np.flatnonzero(labels == label)
        ones = truth[rows] == 1.0
        if not ones.any() or ones.all():
            continue
        won[rows], here = _won(ones, score[rows])
        met[rows] = np.where(ones, (~ones).sum(), ones.sum())
        pairs += here
    if pairs == 0.0:
        return Area(float("nan"), np.zeros(len(truth)), 0.0)
    value = float(won.sum() / 2.0 / pairs)
    return Area(value, (won - value * met) / pairs, pairs)
