"""The crossed bootstrap: two kinds of unit that were combined freely, each resampled apart.

Where every concept was tried on every carrier text, rows share both, and neither alone is the unit. Concepts and
carriers are resampled independently; a row counts with the product of its two weights (Owen 2007, "The pigeonhole
bootstrap", Annals of Applied Statistics 1). With few units all resamples can be listed: ``G`` units drawn ``G`` times
make ``C(2G - 1, G)`` different counts, each with its multinomial probability, and the interval is exact. Otherwise it
is simulated from a named stream.

Three carriers remain three carriers: the percentile interval of so few is narrow (their variance is understated by a
factor ``(G - 1) / G``), so tests here also look at each kind of unit alone, with Student's t.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from firsthand.analysis.bootstrap import Statistic
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import Estimate
from firsthand.trials.randomness import stream

MOST_LISTED = 1_000_000
DRAWS = 40_000


@lru_cache(maxsize=8)
def compositions(units: int) -> tuple[FloatArray, FloatArray]:
    """All ways to draw ``units`` times from as many units.

    Returns:
        How often each unit is drawn ``[ways, units]``, and the probability of each way ``[ways]``.
    """
    ways = comb(2 * units - 1, units)
    bars = np.array(list(combinations(range(2 * units - 1), units - 1)), dtype=np.int64).reshape(ways, units - 1)
    edges = np.column_stack([np.full(ways, -1), bars, np.full(ways, 2 * units - 1)])
    counts = (np.diff(edges, axis=1) - 1).astype(np.float64)
    log_p = gammaln(units + 1) - gammaln(counts + 1).sum(axis=1) - units * np.log(units)
    return counts, np.exp(log_p)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Totals of named columns under every (or many) crossed resamples.

    Attributes:
        names: The two kinds of unit.
        sizes: How many of each there are.
        method: ``exact`` where every resample was listed, else ``simulated``.
        resamples: How many there are.
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    method: Literal["exact", "simulated"]
    resamples: int
    rows: int
    _totals: Mapping[str, FloatArray]
    _resampled: Mapping[str, FloatArray]
    _weights: FloatArray

    def estimate(self, statistic: Statistic, alpha: float, reference: float | None = None) -> Estimate:
        """A statistic of the totals with its percentile interval.

        Args:
            statistic: Vectorised function of the named totals.
            alpha: Probability beyond each end.
            reference: Where given, ``p`` is the share of resamples at or below it.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(statistic(self._totals))
            drawn = np.asarray(statistic(self._resampled), dtype=np.float64)
        known = np.isfinite(drawn)
        low, high = weighted_quantiles(drawn[known], self._weights[known], (alpha, 1.0 - alpha))
        p = None
        if reference is not None:
            share = self._weights[known][drawn[known] <= reference + 1e-12].sum() / self._weights[known].sum()
            p = float(min(1.0, share if self.method == "exact" else share + 1.0 / (self.resamples + 1)))
        return Estimate(
            value=value,
            low=low,
            high=high,
            level=1.0 - 2.0 * alpha,
            n_trials=self.rows,
            units=min(self.sizes),
            cluster=f"{self.names[0]} ({self.sizes[0]}) x {self.names[1]} ({self.sizes[1]})",
            p=p,
        )


def crossed(
    columns: Mapping[str, FloatArray],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    names: tuple[str, str],
    *,
    most_listed: int = MOST_LISTED,
    draws: int = DRAWS,
    seed: int = 0,
) -> Crossed:
    """Resample two kinds of unit independently.

    Args:
        columns: Per-row values by name, zero where a row does not count ``[rows]``.
        first: Unit of the first kind of each row, from 0 without holes ``[rows]``.
        second: Unit of the second kind ``[rows]``.
        names: What the two kinds are called.
        most_listed: List all resamples where there are at most this many.
        draws: Resamples otherwise.
        seed: Seed of the stream otherwise.
    """
    a, b = int(first.max()) + 1, int(second.max()) + 1
    sums = {}
    for name, values in columns.items():
        sums[name] = np.zeros((a, b))
        np.add.at(sums[name], (first, second), values)
    totals = {name: np.asarray(matrix.sum()) for name, matrix in sums.items()}
    rows = len(first)
    if comb(2 * a - 1, a) * comb(2 * b - 1, b) <= most_listed:
        (u, pu), (v, pv) = compositions(a), compositions(b)
        drawn = {name: (u @ matrix @ v.T).ravel() for name, matrix in sums.items()}
        return Crossed(names, (a, b), "exact", len(pu) * len(pv), rows, totals, drawn, np.outer(pu, pv).ravel())
    rng = stream(seed, "crossed bootstrap", a, b)
    u = rng.multinomial(a, np.full(a, 1 / a), size=draws).astype(np.float64)
    v = rng.multinomial(b, np.full(b, 1 / b), size=draws).astype(np.float64)
    drawn = {name: ((u @ matrix) * v).sum(axis=1) for name, matrix in sums.items()}
    return Crossed(names, (a, b), "simulated", draws, rows, totals, drawn, np.full(draws, 1 / draws))


def weighted_quantiles(values: FloatArray, weights: FloatArray, levels: tuple[float, ...]) -> tuple[float, ...]:
    """Smallest values whose cumulative weight reaches each level.

    Values that differ by rounding only are one value.
    """
    if not len(values):
        return tuple(float("nan") for _ in levels)
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order]) / weights.sum()
    places = np.searchsorted(cumulative, np.asarray(levels) - 1e-12)
    return tuple(float(values[order][min(int(place), len(values) - 1)]) for place in places)
