"""One number with its uncertainty: intervals and one-sided p-values that respect the number of independent clusters.

Four cases, in this order:

*Nothing known* (no trials in a needed cell): the interval is the whole possible range and every p-value is 1.

*No variation between clusters* (accuracy 1.000 in every block): neither bootstrap nor t can see the uncertainty, and
a zero-width interval would pretend that there is none. If clusters that would have shown something else occur with
probability ``q``, then seeing none in ``G`` has probability ``(1 - q) ** G``; each may be as bad as the range allows.
The p-value is that exact probability; the interval end is its mid-p bound, ``(2 * alpha) ** (1 / G)`` in place of
Clopper and Pearson's ``alpha ** (1 / G)`` (Lancaster 1961), because whole clusters failing at once is already the
worst case.

*Fewer than 20 clusters*: Student's t with ``G - 1`` degrees on the jackknife standard error over clusters.

*Otherwise*: the expanded percentile interval of the cluster bootstrap (Hesterberg 2015, "What teachers should know
about the bootstrap", section 5.3): the tail is ``Phi(-sqrt(G / (G - 1)) * t)``, which mends the narrowness of the
percentile interval at moderate ``G``. The p-value inverts the same formula, so interval and test agree.

A p-value is never below ``2 ** -m`` where ``m`` clusters speak for or against the reference at all: a sign test on them
could not give less. That keeps sparse answers (three "yes" in 240 trials) from looking like evidence.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from firsthand.analysis.results import Estimate

FloatArray = NDArray[np.float64]

FEW_CLUSTERS = 20
"""Below this number of clusters the t distribution takes the place of the bootstrap."""

_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Inference:
    """A statistic as seen through one cluster column.

    Attributes:
        cluster: Name of the cluster column.
        units: Number of clusters ``G``.
        value: Point estimate; NaN where a needed cell is empty.
        se: Jackknife standard error over clusters.
        span: Smallest and largest value that the statistic can take.
        pseudo: Jackknife pseudo-values ``[G]``, or ``None`` where only value and standard error are known.
        draws: Bootstrap draws ``[B]``, or ``None`` to use the t distribution.
    """

    cluster: str
    units: int
    value: float
    se: float
    span: tuple[float, float]
    pseudo: FloatArray | None = None
    draws: FloatArray | None = None

    @property
    def unknown(self) -> bool:
        """Whether the statistic could not be computed at all."""
        return not np.isfinite(self.value) or self.units < 2

    @property
    def degenerate(self) -> bool:
        """Whether every cluster says exactly the same, so that no spread can be estimated."""
        return self.se <= _TOLERANCE

    def mirrored(self) -> "Inference":
        """The same statistic with its sign changed: upper bounds are lower bounds seen in a mirror."""
        return replace(
            self,
            value=-self.value,
            span=(-self.span[1], -self.span[0]),
            pseudo=None if self.pseudo is None else -self.pseudo,
            draws=None if self.draws is None else -self.draws,
        )

    def low(self, alpha: float) -> float:
        """Lower confidence bound at one-sided level ``alpha``."""
        floor = self.span[0]
        if self.unknown:
            return floor
        if self.degenerate:
            share = 1.0 - min(1.0, 2.0 * alpha) ** (1.0 / self.units)
            return float(self.value - share * (self.value - floor))
        if self.draws is None:
            bound = self.value - _t_quantile(1.0 - alpha, self.units - 1) * self.se
        else:
            bound = float(np.quantile(np.where(np.isfinite(self.draws), self.draws, floor), _tail(alpha, self.units)))
        return float(np.clip(bound, floor, self.span[1]))

    def high(self, alpha: float) -> float:
        """Upper confidence bound at one-sided level ``alpha``."""
        return -self.mirrored().low(alpha)

    def p_above(self, reference: float) -> float:
        """One-sided p-value against "not greater than ``reference``"."""
        if self.unknown:
            return 1.0
        if self.degenerate:
            return _p_without_variation(self.value, reference, self.span[0], self.units)
        if self.draws is None:
            p = float(stats.t.sf((self.value - reference) / self.se, self.units - 1))
        else:
            at_or_below = int(np.count_nonzero(~(self.draws > reference)))
            raw = stats.norm.ppf((1 + at_or_below) / (len(self.draws) + 2))
            p = float(stats.t.cdf(raw / _stretch(self.units), self.units - 1))
        return max(p, self._sign_floor(reference))

    def p_below(self, reference: float) -> float:
        """One-sided p-value against "not less than ``reference``"."""
        return self.mirrored().p_above(-reference)

    def _sign_floor(self, reference: float) -> float:
        if self.pseudo is None:
            return 0.0
        speaking = int(np.count_nonzero(np.abs(self.pseudo - reference) > _TOLERANCE))
        return float(0.5**speaking)


@lru_cache(maxsize=256)
def _t_quantile(level: float, degrees: int) -> float:
    return float(stats.t.ppf(level, degrees))


@lru_cache(maxsize=256)
def _tail(alpha: float, units: int) -> float:
    """Share of bootstrap draws left out below, by the expanded percentile interval."""
    return float(stats.norm.cdf(-_stretch(units) * _t_quantile(1.0 - alpha, units - 1)))


def _stretch(units: int) -> float:
    return float(np.sqrt(units / (units - 1)))


def _p_without_variation(value: float, reference: float, floor: float, units: int) -> float:
    if value <= reference + _TOLERANCE:
        return 1.0
    if reference <= floor:
        return 0.0
    return float((1.0 - (value - reference) / (value - floor)) ** units)


@dataclass(frozen=True, eq=False)
class Measured:
    """A statistic under every cluster column; the most cautious column speaks each time.

    Attributes:
        parts: One :class:`Inference` a cluster column.
        n_trials: Trials that the statistic rests on.
    """

    parts: tuple[Inference, ...]
    n_trials: int

    @classmethod
    def approximate(
        cls, value: float, se: float, units: int, span: tuple[float, float] = (-1.0, 1.0), cluster: str = "block"
    ) -> "Measured":
        """A statistic known only by its value and standard error, judged by the t distribution."""
        return cls((Inference(cluster, units, value, se, span),), n_trials=units)

    @property
    def value(self) -> float:
        """Point estimate (the same under every cluster column)."""
        return self.parts[0].value

    @property
    def unknown(self) -> bool:
        """Whether the statistic could not be computed."""
        return any(part.unknown for part in self.parts)

    def widest(self, alpha: float) -> Inference:
        """The cluster column with the widest interval."""
        return max(self.parts, key=lambda part: part.high(alpha) - part.low(alpha))

    def low(self, alpha: float) -> float:
        """Lowest lower bound over the cluster columns."""
        return min(part.low(alpha) for part in self.parts)

    def high(self, alpha: float) -> float:
        """Highest upper bound over the cluster columns."""
        return max(part.high(alpha) for part in self.parts)

    def p_above(self, reference: float) -> float:
        """Largest p-value of "greater than" over the cluster columns."""
        return max(part.p_above(reference) for part in self.parts)

    def p_below(self, reference: float) -> float:
        """Largest p-value of "less than" over the cluster columns."""
        return max(part.p_below(reference) for part in self.parts)

    def estimate(self, alpha: float, reference: float | None = None) -> Estimate:
        """The number as shown to a user; ``p`` is filled in where a reference is tested.

        Where nothing is known the interval is the whole range, the value its middle and ``n_trials`` is 0.
        """
        widest = self.widest(alpha)
        low, high = self.low(alpha), self.high(alpha)
        return Estimate(
            value=(low + high) / 2 if self.unknown else self.value,
            low=low,
            high=high,
            level=1.0 - 2.0 * alpha,
            n_trials=0 if self.unknown else self.n_trials,
            units=widest.units,
            cluster=widest.cluster,
            p=None if reference is None else self.p_above(reference),
        )
