"""Means of per-trial values by trial kind, truth and stratum, all resampled together.

A value that is NaN is left out of its mean, numerator and denominator alike; it is never counted as 0.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import ClusterSums, Statistic, Totals
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import KindRow
from firsthand.analysis.table import Scored
from firsthand.vocabulary import Kind

EVERY_KIND = tuple(Kind)
UNCHANGED = tuple(kind for kind in Kind if kind is not Kind.TARGET)

Mean = Callable[[Totals], FloatArray]


class Cells:
    """Sums and counts of named values in every cell (kind, truth, stratum).

    Args:
        data: The checked table.
        values: Per-trial values by name ``[trials]``, NaN where a trial does not count.
        strata: Stratum of each trial, from 0 ``[trials]``; only :meth:`apart` tells strata apart.
    """

    def __init__(self, data: Scored, values: Mapping[str, FloatArray], strata: NDArray[np.int64] | None = None) -> None:
        within = np.zeros(len(data), dtype=np.int64) if strata is None else strata
        self.strata = range(int(within.max()) + 1)
        self._data = data
        self._values = values
        self.present = tuple(kind for kind in Kind if data.of(kind).any())
        counted = {name: np.isfinite(value) for name, value in values.items()}
        self._counted_as = {
            name: next(first for first in values if np.array_equal(counted[first], mask))
            for name, mask in counted.items()
        }
        columns: dict[str, FloatArray] = {}
        for kind in self.present:
            for truth, stratum in product((0, 1), self.strata):
                inside = data.of(kind) & (data.truth == truth) & (within == stratum)
                if not inside.any():
                    continue
                for name, value in values.items():
                    columns[_sum(name, kind, truth, stratum)] = np.where(inside & counted[name], value, 0.0)
                for name in set(self._counted_as.values()):
                    columns[_count(name, kind, truth, stratum)] = (inside & counted[name]).astype(np.float64)
        self._filled = frozenset(columns)
        self._sums = ClusterSums(columns, data.clusters)

    def mean(
        self, name: str, kinds: Sequence[Kind], truths: Sequence[int] = (0, 1), strata: Sequence[int] | None = None
    ) -> Mean:
        """Mean of a value over some kinds and truths (and over all trials of all strata), as a function of totals."""
        some = self.strata if strata is None else strata
        cells = [cell for cell in product(kinds, truths, some) if _sum(name, *cell) in self._filled]
        if not cells:
            return lambda t: np.full_like(next(iter(t.values())), np.nan)

        def mean(t: Totals) -> FloatArray:
            total = np.sum([t[_sum(name, *cell)] for cell in cells], axis=0)
            count = np.sum([t[_count(self._counted_as[name], *cell)] for cell in cells], axis=0)
            return np.asarray(total / count, dtype=np.float64)

        return mean

    def balanced(self, name: str, kinds: Sequence[Kind]) -> Mean:
        """Mean of the means on truth 1 and on truth 0: a constant answer is right in exactly one half."""
        ones, zeros = self.mean(name, kinds, (1,)), self.mean(name, kinds, (0,))
        return lambda t: (ones(t) + zeros(t)) / 2.0

    def between_truths(self, name: str, kinds: Sequence[Kind]) -> Mean:
        """Mean on truth 1 minus mean on truth 0."""
        ones, zeros = self.mean(name, kinds, (1,)), self.mean(name, kinds, (0,))
        return lambda t: ones(t) - zeros(t)

    def apart(
        self, name: str, kinds: Sequence[Kind], others: Sequence[Kind], strata: Sequence[int] | None = None
    ) -> Mean:
        """Mean over some kinds minus mean over others, taken within each stratum; every stratum counts alike.

        A stratum without trials on one side is left out of both sides.
        """
        leads = [
            difference(self.mean(name, kinds, strata=(s,)), self.mean(name, others, strata=(s,)))
            for s in (self.strata if strata is None else strata)
        ]

        def balanced(t: Totals) -> FloatArray:
            each = np.stack([lead(t) for lead in leads])
            known = np.isfinite(each)
            return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0), dtype=np.float64)

        return balanced

    def measure(
        self,
        statistic: Statistic,
        *,
        about: str,
        kinds: Sequence[Kind] = EVERY_KIND,
        span: tuple[float, float] = (0, 1),
    ) -> Measured:
        """A statistic of these means with its uncertainty; ``about`` names the value whose trials are counted."""
        counted = np.isfinite(self._values[about]) & self._data.of(*kinds)
        return self._sums.measure(statistic, span=span, n_trials=int(counted.sum()))


def _sum(name: str, kind: Kind, truth: int, stratum: int) -> str:
    return f"{name}/{kind}/{truth}/{stratum}/sum"


def _count(name: str, kind: Kind, truth: int, stratum: int) -> str:
    return f"{name}/{kind}/{truth}/{stratum}/count"


def halves(t: Mean, u: Mean) -> Mean:
    """The mean of two means, each counted alike."""
    return lambda totals: (t(totals) + u(totals)) / 2.0


def difference(t: Mean, u: Mean) -> Mean:
    """One mean minus another."""
    return lambda totals: t(totals) - u(totals)


def right(truth: FloatArray, answer: FloatArray) -> FloatArray:
    """1.0 where the answer is the truth, 0.0 where not, NaN where it is invalid; an answer of 0.5 earns a half."""
    return np.asarray(1.0 - np.abs(answer - truth), dtype=np.float64)


def decided(values: FloatArray, threshold: float) -> FloatArray:
    """1.0 above the threshold, 0.0 below, 0.5 on it (a coin toss)."""
    return np.asarray(np.heaviside(values - threshold, 0.5), dtype=np.float64)


def contrast_of(data: Scored) -> tuple[FloatArray, float]:
    """The logit contrast with NaN where it is not finite ``[trials]``, and its range."""
    finite = np.where(np.isfinite(data.contrast), data.contrast, np.nan)
    reach = float(np.nanmax(finite) - np.nanmin(finite)) if np.isfinite(finite).any() else 0.0
    return finite, reach


def kind_rows(data: Scored, rates: Mapping[Kind, Measured], alpha: float, invalid: FloatArray) -> tuple[KindRow, ...]:
    """One row a trial kind: rate, coverage, invalid answers, and impact where it was recorded."""

    def average(name: str, kind: Kind) -> float | None:
        values = data.extras[name][data.of(kind)] if name in data.extras else np.array([])
        return float(np.nanmean(values)) if np.isfinite(values).any() else None

    return tuple(
        KindRow(
            kind=kind,
            rate=rate.estimate(alpha),
            coverage=float(data.coverage[data.of(kind)].mean()),
            invalid_rate=float(invalid[data.of(kind)].mean()),
            mean_kl=average("impact_kl", kind),
            mean_entropy=average("entropy", kind),
        )
        for kind, rate in rates.items()
    )
