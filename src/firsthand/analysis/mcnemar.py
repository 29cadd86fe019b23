"""Exact McNemar test of two paired answers (McNemar 1947), one-sided.

It takes trials for independent, which blocks are not: it is shown beside the cluster bootstrap, never in its place.
"""

import numpy as np
from scipy import stats

from firsthand.analysis.inference import FloatArray


def mcnemar_greater(first: FloatArray, second: FloatArray) -> float:
    """One-sided exact p-value of "the first is right more often than the second".

    Args:
        first: 1.0 where the first answer was right, 0.0 where wrong; NaN rows are left out ``[trials]``.
        second: The same for the second answer. A tie (0.5) is neither and is left out.

    Returns:
        The binomial tail over discordant trials; 1.0 where there are none.
    """
    usable = np.isin(first, (0.0, 1.0)) & np.isin(second, (0.0, 1.0))
    only_first = int(np.count_nonzero(usable & (first > second)))
    only_second = int(np.count_nonzero(usable & (second > first)))
    if only_first + only_second == 0:
        return 1.0
    return float(stats.binomtest(only_first, only_first + only_second, 0.5, alternative="greater").pvalue)
