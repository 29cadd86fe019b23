"""DeLong's test of two areas under the ROC curve on the same trials.

After DeLong, DeLong and Clarke-Pearson (1988, Biometrics 44): the variance of an area is that of its placement values
over true and over false trials, and of a difference that of their differences. It takes trials for independent. Claims
of one investigation are not, so it is shown beside the cluster bootstrap, never in its place.
"""

import numpy as np
from scipy import stats

from firsthand.analysis.auroc import area
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.predictions.results import DeLong

_NONE = 1e-12
"""A standard error of rounding."""


def delong(truth: FloatArray, first: FloatArray, second: FloatArray, alpha: float) -> DeLong | None:
    """Compare the areas of two scores.

    Args:
        truth: 1.0 or 0.0 ``[trials]``.
        first: A score of each trial ``[trials]``.
        second: Another one ``[trials]``.
        alpha: One-sided level of the ends of the interval.

    Returns:
        The test; ``None`` with fewer than two trials of a label. Two scores that order all pairs alike have a standard
        error of 0 and a p-value of 1.
    """
    ones = truth == 1.0
    if min(int(ones.sum()), int((~ones).sum())) < 2:
        return None
    a, b = area(truth, first), area(truth, second)
    # An influence is a trial's placement value less the area, over the number of trials of its label.
    apart = a.influence - b.influence
    variance = sum(float(_spread(apart[rows])) for rows in (ones, ~ones))
    difference, se = a.value - b.value, float(np.sqrt(variance))
    z = float(stats.norm.ppf(1.0 - alpha))
    p = float(2.0 * stats.norm.sf(abs(difference) / se)) if se > _NONE else float(abs(difference) <= _NONE)
    return DeLong(
        difference=difference,
        se=se,
        low=max(-1.0, difference - z * se),
        high=min(1.0, difference + z * se),
        level=1.0 - 2.0 * alpha,
        p=p,
        claims=len(truth),
    )


def _spread(influence: FloatArray) -> float:
    """Variance of the mean placement of trials of one label."""
    count = len(influence)
    centred = influence - influence.mean()
    return float(centred @ centred * count / (count - 1))
