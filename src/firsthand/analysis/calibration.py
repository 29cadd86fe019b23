"""Calibration of a confidence: Brier score with its decomposition, calibration error, risk against coverage.

*Brier score* (1950) and its decomposition by bins (Murphy 1973), with the two within-bin terms of Stephenson, Coelho
and Jolliffe (2008) counted to resolution, so that ``brier = reliability - resolution + uncertainty`` holds exactly.

*Calibration error*: the root mean square difference of confidence and accuracy over bins of equal mass, each bin's
squared difference reduced by the sampling variance of its accuracy, ``accuracy * (1 - accuracy) / (size - 1)``, which
makes the square unbiased (the debiased estimator of Kumar, Liang and Ma 2019). ``ece_null`` bounds what a perfectly
calibrated report shows at this size (consistency resampling, Bröcker and Smith 2007); it takes trials for independent.

*AURC* (Geifman and El-Yaniv 2017): the mean error rate over all coverages when the surest trials are kept; trials of
equal confidence are kept in random order, so the expected risk is taken within ties.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray

BINS = 10
_NULL_DRAWS = 400


@dataclass(frozen=True)
class Murphy:
    """``brier = reliability - resolution + uncertainty``."""

    brier: float
    reliability: float
    resolution: float
    uncertainty: float


def bins_of(confidence: FloatArray, bins: int = BINS) -> tuple[NDArray[np.int64], FloatArray]:
    """Bins of equal mass; equal confidences share a bin.

    Returns:
        Bin of every trial ``[trials]``, numbered without holes, and the edges ``[bins + 1]``.
    """
    values = np.unique(confidence)
    if len(values) <= bins:
        edges = np.concatenate([values, values[-1:]])
        return np.searchsorted(values, confidence).astype(np.int64), edges
    edges = np.unique(np.quantile(confidence, np.linspace(0.0, 1.0, bins + 1)))
    found = np.clip(np.searchsorted(edges, confidence, side="right") - 1, 0, max(len(edges) - 2, 0))
    kept, renumbered = np.unique(found, return_inverse=True)
    return renumbered.astype(np.int64), np.concatenate([edges[kept], edges[-1:]])


def murphy(truth: FloatArray, confidence: FloatArray, bins: NDArray[np.int64]) -> Murphy:
    """Decomposes the Brier score over bins; exact for any bins.

    Args:
        truth: 1.0 or 0.0 ``[trials]``.
        confidence: P(truth = 1) ``[trials]``.
        bins: Bin of every trial ``[trials]``.
    """
    size = np.bincount(bins).astype(np.float64)
    accuracy, mean = np.bincount(bins, truth) / size, np.bincount(bins, confidence) / size
    share, base = size / len(truth), float(truth.mean())
    apart = confidence - mean[bins]
    within = float(np.mean(2.0 * apart * (truth - accuracy[bins]) - apart**2))
    return Murphy(
        brier=float(np.mean((confidence - truth) ** 2)),
        reliability=float(share @ (mean - accuracy) ** 2),
        resolution=float(share @ (accuracy - base) ** 2) + within,
        uncertainty=base * (1.0 - base),
    )


def _unbiased_square(mean: FloatArray, accuracy: FloatArray, size: FloatArray) -> FloatArray:
    """Mean over bins (last axis) of the squared calibration error less its sampling variance; may be negative."""
    noise = accuracy * (1.0 - accuracy) / np.maximum(size - 1.0, 1.0)
    return np.asarray(((mean - accuracy) ** 2 - noise) @ (size / size.sum()), dtype=np.float64)


def squared_error(truth: FloatArray, confidence: FloatArray, bins: NDArray[np.int64]) -> float:
    """Unbiased estimate of the squared calibration error over bins; below zero about half the time if there is none."""
    size = np.bincount(bins).astype(np.float64)
    return float(_unbiased_square(np.bincount(bins, confidence) / size, np.bincount(bins, truth) / size, size))


def debiased_ece(truth: FloatArray, confidence: FloatArray, bins: NDArray[np.int64]) -> float:
    """Root mean square calibration error without the bias of small bins; never below zero."""
    return float(np.sqrt(max(0.0, squared_error(truth, confidence, bins))))


def null_ece(confidence: FloatArray, bins: NDArray[np.int64], alpha: float, seed: int) -> float:
    """What the debiased error of a perfectly calibrated report stays below with probability ``1 - alpha``."""
    size = np.bincount(bins)
    mean = np.clip(np.bincount(bins, confidence) / size, 0.0, 1.0)
    accuracy = np.random.default_rng(seed).binomial(size, mean, size=(_NULL_DRAWS, len(size))) / size
    errors = _unbiased_square(mean, accuracy, size.astype(np.float64))
    return float(np.sqrt(max(0.0, float(np.quantile(errors, 1.0 - alpha)))))


def aurc(truth: FloatArray, confidence: FloatArray) -> float:
    """Area under the risk-coverage curve: mean error rate of the surest 1, 2, ..., n trials."""
    _, tie, size = np.unique(-confidence, return_inverse=True, return_counts=True)
    errors = np.bincount(tie, weights=1.0 - truth)
    before = np.cumsum(errors) - errors
    order = np.arange(1, len(truth) + 1, dtype=np.float64)
    block = np.repeat(np.arange(len(size)), size)
    first = np.cumsum(size) - size
    expected = before[block] + (order - first[block]) * errors[block] / size[block]
    return float(np.mean(expected / order))
