"""The best of many cells: what it shows by luck, and what it shows on concepts that did not choose it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from firsthand.analysis.inference import FloatArray


@dataclass(frozen=True)
class BestCell:
    """The cell with the highest rate.

    Attributes:
        names: Columns of the grid.
        values: Setting of the best cell.
        rate: Its mean.
        rows: Its rows.
        cells: Cells in the grid.
        tied: Cells that share the highest rate.
    """

    names: tuple[str, ...]
    values: tuple[object, ...]
    rate: float
    rows: int
    cells: int
    tied: int


def best_cell(table: pd.DataFrame, cells: Sequence[str], value: str = "correct") -> BestCell:
    """Find the cell with the highest mean; of several the first in the order of its columns.

    Args:
        table: Rows with the cell columns and the value.
        cells: Columns of the grid.
        value: The column to average.
    """
    means = table.groupby(list(cells), sort=True)[value].agg(["mean", "size"])
    top = means["mean"].max()
    tied = means[np.isclose(means["mean"], top)]
    values = tied.index[0]
    return BestCell(
        tuple(cells),
        values if isinstance(values, tuple) else (values,),
        float(top),
        int(tied["size"].iloc[0]),
        len(means),
        len(tied),
    )


@dataclass(frozen=True)
class LuckyBest:
    """What the best of a grid of equal cells shows by luck alone.

    Attributes:
        expected: Mean of the highest rate.
        reaches: Probability that the highest rate is at least the one observed.
    """

    expected: float
    reaches: float


def best_by_luck(sizes: Sequence[int], rate: float, observed: float) -> LuckyBest:
    """Distribution of the highest rate over independent cells that all have the same true rate, exactly.

    ``P(max <= r)`` is the product over cells of the binomial distribution function at ``r * n``.

    Args:
        sizes: Trials in each cell.
        rate: The common rate.
        observed: The highest rate observed.
    """
    counts = np.asarray(sizes, dtype=np.int64)
    possible = np.unique(np.concatenate([np.arange(size + 1) / size for size in np.unique(counts)]))
    unique, how_many = np.unique(counts, return_counts=True)
    log_below = np.zeros(len(possible))
    for size, number in zip(unique, how_many, strict=True):
        log_below += number * stats.binom.logcdf(np.floor(possible * size + 1e-9), size, rate)
    at_most = np.exp(log_below)
    mass = np.diff(np.concatenate([[0.0], at_most]))
    below = possible < observed - 1e-9
    reaches = 1.0 - (at_most[below][-1] if below.any() else 0.0)
    return LuckyBest(float(possible @ mass), float(max(reaches, 0.0)))


def confirmed(table: pd.DataFrame, cells: Sequence[str], unit: str, value: str = "correct") -> FloatArray:
    """What each unit shows in the cell that all *other* units choose.

    Choosing and judging never share a unit, so the mean is free of the luck of the choice.

    Args:
        table: Rows with the cell columns, the unit and the value.
        cells: Columns of the grid.
        unit: The independent unit, e.g. concept.
        value: The column to average.

    Returns:
        One value a row, NaN outside the chosen cell of the row's unit ``[rows]``.
    """
    grid = table.groupby(list(cells), sort=True).ngroup().to_numpy(dtype=np.int64)
    codes = pd.factorize(table[unit])[0].astype(np.int64)
    values = table[value].to_numpy(dtype=np.float64)
    known = np.isfinite(values)
    shape = (int(codes.max()) + 1, int(grid.max()) + 1)
    sums, counts = np.zeros(shape), np.zeros(shape)
    np.add.at(sums, (codes[known], grid[known]), values[known])
    np.add.at(counts, (codes[known], grid[known]), 1.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = (sums.sum(axis=0) - sums) / (counts.sum(axis=0) - counts)
    open_to = np.isfinite(others) & (counts > 0)  # a unit can be judged only in cells that it was measured in
    chosen = np.where(open_to.any(axis=1), np.where(open_to, others, -np.inf).argmax(axis=1), -1)
    return np.asarray(np.where(grid == chosen[codes], values, np.nan), dtype=np.float64)
