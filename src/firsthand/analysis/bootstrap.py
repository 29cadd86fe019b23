"""Cluster bootstrap and cluster jackknife of any statistic that is a function of per-cluster sums.

A resample of clusters is a vector of multinomial weights over clusters, so every resampled total is one matrix
product of the weights ``[draws, G]`` with the per-cluster sums ``[G, columns]``. Accuracies, rates, paired
differences and (through their influence functions) areas under curves all come from such totals; the trials
themselves are never copied.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from firsthand.analysis.inference import FEW_CLUSTERS, FloatArray, Inference, Measured

Totals = Mapping[str, FloatArray]
"""Totals of each named column: one number, or one number for every resample."""

Statistic = Callable[[Totals], FloatArray]
"""A vectorised function of totals; it must not depend on their common scale."""

_CHUNK_CELLS = 1_000_000
_KEPT_CELLS = 32_000_000


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which independent unit each trial belongs to.

    Attributes:
        codes: For every cluster column the unit of each trial ``[trials]``, numbered from 0 without holes.
        draws: Bootstrap draws.
        seed: Seed of the draws; the same seed gives the same weights for every statistic.
    """

    codes: Mapping[str, NDArray[np.int64]]
    draws: int
    seed: int


@dataclass(frozen=True, eq=False)
class _Column:
    cluster: str
    units: int
    left_out: dict[str, FloatArray]
    draws: dict[str, FloatArray] | None


class ClusterSums:
    """Named per-trial columns, summed by cluster and resampled once for all statistics made from them.

    Args:
        columns: Per-trial values ``[trials]`` by name, e.g. ``{"n": ..., "right": ...}``.
        clusters: The cluster columns, number of draws and seed.
    """

    def __init__(self, columns: Mapping[str, FloatArray], clusters: Clusters) -> None:
        self._names = tuple(columns)
        self.totals: dict[str, FloatArray] = {name: np.asarray(columns[name].sum()) for name in self._names}
        self._columns = [
            self._summed(name, codes, columns, clusters.draws, clusters.seed) for name, codes in clusters.codes.items()
        ]

    def _summed(
        self, cluster: str, codes: NDArray[np.int64], columns: Mapping[str, FloatArray], draws: int, seed: int
    ) -> _Column:
        units = int(codes.max()) + 1
        summed = [np.bincount(codes, weights=columns[name], minlength=units) for name in self._names]
        sums = np.column_stack(summed).astype(np.float64)
        left_out = (sums.sum(axis=0) - sums) * (units / max(units - 1, 1))
        resampled = resampled_totals(sums, draws, seed) if units >= FEW_CLUSTERS else None
        return _Column(cluster, units, self._named(left_out), None if resampled is None else self._named(resampled))

    def _named(self, matrix: FloatArray) -> dict[str, FloatArray]:
        return {name: np.ascontiguousarray(matrix[:, i]) for i, name in enumerate(self._names)}

    def measure(self, statistic: Statistic, *, span: tuple[float, float], n_trials: int) -> Measured:
        """Evaluates a statistic on the data, on every leave-one-cluster-out sample and on every resample.

        Args:
            statistic: Function of the named totals.
            span: Smallest and largest value that it can take.
            n_trials: Trials that it rests on.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            value = float(statistic(self.totals))
            parts = tuple(self._part(column, statistic, value, span) for column in self._columns)
        return Measured(parts, n_trials)

    @staticmethod
    def _part(column: _Column, statistic: Statistic, value: float, span: tuple[float, float]) -> Inference:
        pseudo = column.units * value - (column.units - 1) * statistic(column.left_out)
        pseudo = np.where(np.isfinite(pseudo), pseudo, value)
        se = float(np.sqrt(pseudo.var(ddof=1) / column.units)) if column.units > 1 else float("nan")
        draws = None if column.draws is None else statistic(column.draws)
        return Inference(column.cluster, column.units, value, se, span, pseudo, draws)


def resampled_totals(sums: FloatArray, draws: int, seed: int) -> FloatArray:
    """Totals under ``draws`` resamples of the clusters.

    The products are taken in single precision: totals of counts stay exact (below 2**24), others agree to about 1e-6.
    One thread does them, so that results do not depend on the number of cores and a busy machine does not stall them.

    Args:
        sums: Per-cluster sums ``[G, columns]``.
        draws: Number of resamples.
        seed: Seed; equal seeds and cluster numbers give equal weights.

    Returns:
        Totals ``[draws, columns]``.
    """
    units = len(sums)
    single = sums.astype(np.float32)
    chunks = _kept_weights(units, draws, seed) if units * draws <= _KEPT_CELLS else _weights(units, draws, seed)
    with _threads().limit(limits=1, user_api="blas"):
        return np.concatenate([weights.astype(np.float32) @ single for weights in chunks]).astype(np.float64)


@lru_cache(maxsize=1)
def _threads() -> ThreadpoolController:
    """Looking for the libraries that run threads takes longer than most products, so it is done once."""
    return ThreadpoolController()


@lru_cache(maxsize=2)
def _kept_weights(units: int, draws: int, seed: int) -> tuple[NDArray[np.uint16], ...]:
    return tuple(_weights(units, draws, seed))


def _weights(units: int, draws: int, seed: int) -> Iterator[NDArray[np.uint16]]:
    """How often each cluster is drawn, in chunks of resamples ``[chunk, G]``."""
    rng = np.random.default_rng([seed, units])
    chunk = max(1, min(draws, _CHUNK_CELLS // units))
    for start in range(0, draws, chunk):
        rows = min(chunk, draws - start)
        picks = rng.integers(0, units, size=(rows, units), dtype=np.int64) + np.arange(rows)[:, None] * units
        yield np.bincount(picks.ravel(), minlength=rows * units).reshape(rows, units).astype(np.uint16)
