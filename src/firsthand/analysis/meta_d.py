"""meta-d': how sensitive confidence is to correctness, in the units of the choice that it is about.

*meta-d'* is the d' of an ideal observer whose confidence would tell right from wrong answers as well as the confidence
that was measured (Maniscalco and Lau 2012, Consciousness and Cognition 21; fitted by maximum likelihood, with the
relative criterion ``c / d'`` held at that of the choices). With equal variances and two stimuli at ``-m / 2`` and
``+m / 2`` a rating is a part of the axis beyond the criterion of the choice; its probability given the response is the
mass of that part over the mass of the response. ``meta-d' / d'`` is 1 where confidence uses all that the choice used.

It is defined for a choice between two. A choice among more has no single d', so it has to be asked again as a choice
between two, with both orders; see ``docs/labels-confidence.md``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, stats
from scipy.special import log_ndtr

from firsthand.analysis.bootstrap import resampled_totals
from firsthand.analysis.inference import FEW_CLUSTERS, FloatArray, Inference, Measured
from firsthand.errors import AnalysisError

RATINGS: Final = 4
DRAWS: Final = 200
LEAST_D: Final = 0.3
"""Where d' is not shown to be above this, meta-d' and all that is made of it say more of noise than of confidence.

The criterion is fitted in units of d' (its place relative to meta-d' is that of the choice's criterion relative to d'),
and so hangs in the air where d' is near 0.
"""
FURTHEST: Final = 6.0
"""The bound of a fit, either way."""
_LEAST: Final = 1e-12


@dataclass(frozen=True)
class MetaD:
    """A fit.

    Attributes:
        d_prime: Sensitivity of the choice.
        criterion: Its criterion; above 0 the second response is given reluctantly.
        meta_d: Sensitivity of the confidence.
        log_likelihood: Of the ratings given stimulus and response, in nats.
        steps: Logarithms of the distances between the criteria of confidence, outwards from that of the choice.
    """

    d_prime: float
    criterion: float
    meta_d: float
    log_likelihood: float
    steps: tuple[float, ...] = ()

    @property
    def at_bound(self) -> bool:
        """Whether the likelihood still rose where the fit had to stop, so that meta-d' is beyond it."""
        return abs(self.meta_d) >= FURTHEST - 1e-6

    @property
    def ratio(self) -> float:
        """``meta-d' / d'``; NaN where the choice is not above chance."""
        return self.meta_d / self.d_prime if self.d_prime > 0 else float("nan")


def counts_of(
    stimulus: NDArray[np.int64], response: NDArray[np.int64], rating: NDArray[np.int64], ratings: int = RATINGS
) -> FloatArray:
    """How often each rating was given, as the published programs want it, ``[2 stimuli, 2 * ratings]``.

    Args:
        stimulus: 0 or 1 ``[trials]``.
        response: 0 or 1 ``[trials]``.
        rating: 0 (least sure) to ``ratings - 1`` ``[trials]``.
        ratings: Number of ratings.

    Returns:
        For each stimulus: response 0 from surest to least sure, then response 1 from least sure to surest.
    """
    place = np.where(response == 0, ratings - 1 - rating, ratings + rating)
    flat = np.bincount(stimulus * 2 * ratings + place, minlength=4 * ratings)
    return flat.reshape(2, 2 * ratings).astype(np.float64)


def rated(confidence: FloatArray, strata: NDArray[np.int64], ratings: int = RATINGS) -> NDArray[np.int64]:
    """Ratings of about equal number within each stratum; equal confidences get the same.

    Args:
        confidence: Any ordering ``[trials]``.
        strata: What is rated apart, such as the wording ``[trials]``.
        ratings: Number of ratings.
    """
    found = np.zeros(len(confidence), dtype=np.int64)
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        share = (stats.rankdata(confidence[rows]) - 0.5) / len(rows)
        found[rows] = np.clip((share * ratings).astype(np.int64), 0, ratings - 1)
    return found


def fit_meta_d(counts: FloatArray, *, padding: bool = True, start: MetaD | None = None) -> MetaD:
    """Fit meta-d' to counts (see :func:`counts_of`).

    Args:
        counts: ``[2, 2 * ratings]``.
        padding: Add ``1 / (2 * ratings)`` to every count, which keeps empty cells from deciding the fit (Hautus 1995).
        start: A fit of similar counts, to begin with.

    Raises:
        AnalysisError: If the counts have another shape, are negative, or a stimulus or response never occurred.
    """
    counts = np.asarray(counts, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != 2 or counts.shape[1] < 4 or counts.shape[1] % 2 or (counts < 0).any():
        raise AnalysisError(
            f"meta-d' cannot be fitted to counts of shape {counts.shape}.",
            "Give for each of two stimuli the counts of both responses by at least two ratings.",
        )
    counts = counts + (1.0 / counts.shape[1] if padding else 0.0)
    ratings = counts.shape[1] // 2
    second = counts[:, ratings:].sum(1) / np.maximum(counts.sum(1), _LEAST)
    if not ((second > 0) & (second < 1)).all():
        raise AnalysisError(
            "A stimulus or a response never occurred, so the choice has no d'.", "Use more trials, or padding."
        )
    z = stats.norm.ppf(second)
    d_prime, criterion = float(z[1] - z[0]), float(-z.sum() / 2)
    relative = criterion / (d_prime if abs(d_prime) > _LEAST else _LEAST)
    if start is not None and len(start.steps) == 2 * ratings - 2:
        guesses = [np.r_[start.meta_d, start.steps]]
    else:
        guesses = [np.r_[value, np.full(2 * ratings - 2, np.log(0.5))] for value in dict.fromkeys((d_prime, 0.0))]
    bounds = [(-FURTHEST, FURTHEST), *[(-9.0, 2.0)] * (2 * ratings - 2)]
    fits = [
        optimize.minimize(_loss, guess, args=(counts, relative), method="L-BFGS-B", bounds=bounds) for guess in guesses
    ]
    best = min(fits, key=lambda fit: float(fit.fun))
    return MetaD(d_prime, criterion, float(best.x[0]), -float(best.fun), tuple(best.x[1:].tolist()))


def _loss(parameters: FloatArray, counts: FloatArray, relative: float) -> float:
    """Minus the log-likelihood; type-2 criteria are distances from the criterion, kept in order by their logarithms."""
    ratings = counts.shape[1] // 2
    meta_d, steps = parameters[0], np.exp(parameters[1:])
    centre = meta_d * relative
    left = centre - np.cumsum(steps[: ratings - 1])[::-1]
    right = centre + np.cumsum(steps[ratings - 1 :])
    edges = np.r_[-np.inf, left, centre, right, np.inf]
    means = np.array([[-meta_d / 2], [meta_d / 2]])
    # Masses are kept as logarithms, the mass above as that below the mirrored edges: both stay exact far out.
    below = log_ndtr(edges[: ratings + 1] - means)
    above = log_ndtr(means - edges[ratings:])
    lower = _log_less(below[:, 1:], below[:, :-1]) - below[:, -1:]
    upper = _log_less(above[:, :-1], above[:, 1:]) - above[:, :1]
    return float(-(counts * np.concatenate([lower, upper], axis=1)).sum())


def _log_less(larger: FloatArray, smaller: FloatArray) -> FloatArray:
    """Logarithm of the difference of two masses that are given by theirs."""
    gap = np.minimum(smaller - larger, -np.finfo(np.float64).tiny)
    return np.asarray(larger + np.log(-np.expm1(gap)), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class MetaDMeasured:
    """A fit with its uncertainty over independent units.

    Attributes:
        d_prime: Sensitivity of the choice.
        meta_d: Sensitivity of the confidence; ``None`` where d' is not shown to be above :data:`LEAST_D`.
        difference: ``meta-d' - d'``, or ``None``.
        ratio: ``meta-d' / d'``, or ``None``.
        at_bound: Whether the fit lies at its bound, so that all three are at least as far from 0 as they say.
        draws_at_bound: Share of the resamples whose fit does.
    """

    d_prime: Measured
    meta_d: Measured | None
    difference: Measured | None
    ratio: Measured | None
    at_bound: bool = False
    draws_at_bound: float = 0.0


def measured_meta_d(
    counts_by_trial: FloatArray, table: pd.DataFrame, clusters: Sequence[str], alpha: float, seed: int = 0
) -> MetaDMeasured:
    """Fit meta-d', and again on every resample of the units and with every unit left out.

    Args:
        counts_by_trial: Which count each trial adds to, one of them 1, ``[trials, 2, 2 * ratings]``.
        table: The trials, with their cluster columns.
        clusters: Names of these.
        alpha: One-sided level at which d' must be above :data:`LEAST_D` for a quotient.
        seed: Seed of the resamples.

    Raises:
        AnalysisError: As :func:`fit_meta_d` does.
    """
    shape = counts_by_trial.shape[1:]
    flat = counts_by_trial.reshape(len(table), -1)
    whole = fit_meta_d(flat.sum(0).reshape(shape))
    parts: dict[str, list[Inference]] = {"d_prime": [], "meta_d": [], "difference": [], "ratio": []}
    for name in clusters:
        codes = pd.factorize(table[name])[0]
        units = int(codes.max()) + 1
        columns = [np.bincount(codes, weights=column, minlength=units) for column in flat.T]
        sums: FloatArray = np.stack(columns, axis=1).astype(np.float64)
        left_out = _values(sums.sum(0) - sums, shape, whole)
        draws = None
        if units >= FEW_CLUSTERS:
            draws = _values(np.asarray(np.round(resampled_totals(sums, DRAWS, seed)), dtype=np.float64), shape, whole)
        for what, value in _all(whole).items():
            pseudo = units * value - (units - 1) * left_out[what]
            pseudo = np.where(np.isfinite(pseudo), pseudo, value)
            se = float(np.sqrt(pseudo.var(ddof=1) / units)) if units > 1 else float("nan")
            span = (-4 * FURTHEST, 4 * FURTHEST)
            parts[what].append(Inference(name, units, value, se, span, pseudo, None if draws is None else draws[what]))
    found = {what: Measured(tuple(each), len(table)) for what, each in parts.items()}
    d_prime = found["d_prime"]
    if d_prime.unknown or d_prime.low(alpha) <= LEAST_D:
        return MetaDMeasured(d_prime, None, None, None)
    drawn = [part.draws for part in parts["meta_d"] if part.draws is not None]
    stuck = max((float(np.mean(np.abs(draws) >= FURTHEST - 1e-6)) for draws in drawn), default=0.0)
    return MetaDMeasured(d_prime, found["meta_d"], found["difference"], found["ratio"], whole.at_bound, stuck)


def _all(fit: MetaD) -> dict[str, float]:
    return {
        "d_prime": fit.d_prime,
        "meta_d": fit.meta_d,
        "difference": fit.meta_d - fit.d_prime,
        "ratio": fit.ratio,
    }


def _values(totals: FloatArray, shape: tuple[int, ...], whole: MetaD) -> dict[str, FloatArray]:
    each = [_all(fit_meta_d(one.reshape(shape), start=whole)) for one in totals]
    return {what: np.array([one[what] for one in each]) for what in _all(whole)}
