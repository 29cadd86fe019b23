"""Copies of one measurement count once.

Two published rows are the same measurement when the same input gave the same output: with a deterministic readout the
second row says nothing new, however many are printed.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray


def collapse(table: pd.DataFrame, same: Sequence[str]) -> pd.DataFrame:
    """Keep the first of all rows that agree in every column of ``same``, and count them.

    Args:
        table: Published rows, with ``repeats`` and ``identical``.
        same: Columns of input and output; two missing values are the same.

    Returns:
        The distinct rows in their first order; ``repeats`` is summed, and ``identical`` stays true only where every
        merged row was. Rows with equal input but different output (sampled answers) stay apart.
    """
    if table.empty:
        return table
    groups = table.groupby(list(same), sort=False, dropna=False).ngroup().to_numpy(dtype=np.int64)
    first = np.unique(groups, return_index=True)[1]
    summed = np.bincount(groups, weights=table["repeats"].to_numpy(dtype=np.float64)).astype(np.int64)
    alike = np.bincount(groups, weights=~table["identical"].to_numpy(dtype=bool)) == 0
    kept = table.iloc[first].copy()
    kept["repeats"], kept["identical"] = summed, alike
    return kept.sort_index().reset_index(drop=True)


def unanimous(correct: FloatArray) -> NDArray[np.bool_]:
    """Rows whose repeats were all right or all wrong ``[rows]``."""
    return np.asarray(np.isin(correct, (0.0, 1.0)), dtype=np.bool_)


def chance_of_unanimity(rate: float, repeats: int) -> float:
    """Probability that independent answers with this rate of being right are all right or all wrong."""
    return float(rate**repeats + (1.0 - rate) ** repeats)
