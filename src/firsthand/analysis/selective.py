"""Selective risk: the error rate among the answers that a confidence is surest of (Geifman and El-Yaniv 2017)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import mean_of

COVERAGES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def risks(
    right: FloatArray,
    confidence: FloatArray,
    table: pd.DataFrame,
    clusters: Sequence[str],
    coverages: Sequence[float] = COVERAGES,
) -> list[tuple[float, Measured]]:
    """Share of wrong answers among the surest, for several shares that are kept.

    Answers of equal confidence are kept together in part: each counts with the share of its kind that is kept, so the
    order of the rows says nothing.

    Args:
        right: 1.0 or 0.0, NaN where the answer was invalid ``[trials]``.
        confidence: Any ordering, NaN where it was invalid ``[trials]``; such trials are left out.
        table: The trials, with the cluster columns.
        clusters: Names of these.
        coverages: Shares that are kept, from 0 to 1.

    Returns:
        Each share with its risk; none where no trial is valid. Intervals take the trials that are kept as given.
    """
    valid = np.isfinite(right) & np.isfinite(confidence)
    truth, sure, rows = right[valid], confidence[valid], table[valid].reset_index(drop=True)
    if not len(truth):
        return []
    _, tie, size = np.unique(-sure, return_inverse=True, return_counts=True)
    error = np.bincount(tie, weights=1.0 - truth) / size  # the expected error within a tie
    order = np.argsort(tie, kind="stable")
    found = []
    for share in coverages:
        kept = order[: max(1, round(share * len(truth)))]
        last = tie[kept[-1]]
        values = np.where(tie[kept] == last, error[last], 1.0 - truth[kept])
        found.append((share, mean_of(values, rows.iloc[kept].reset_index(drop=True), clusters)))
    return found
