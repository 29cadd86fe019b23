"""How what a model says about strings goes with its own probabilities, and with those of other models.

The design is that of Song, Hu and Mahowald (2025, arXiv 2503.07513). Each of M models has a *direct* judgement of every
pair (difference of log-probabilities) and a *meta* judgement (log-odds of what it says when it is asked). The *self
advantage* of a model over a rival is ``r(meta, own direct) - r(meta, direct of the rival)``, over the same pairs.

Two rival explanations are measured beside it. A rival whose direct judgements are simply noisier loses to everybody: if
one common opinion of the strings lies behind all four judgements of two models, then
``r(m, m) r(n, n) - r(m, n) r(n, m)``, Spearman's *tetrad* difference (1904), is 0 however noisy each of them is, and
only what a model's two judgements share beyond that opinion makes it positive. And the *partial* correlation of meta
with own direct given the rival's survives with two models, but is positive for any common opinion that is measured with
noise: it is shown, and never decides.

Items (pairs that share a string are one) and phenomena are the independent units, and the more cautious of the two
speaks. Who else could have said the same is in :mod:`firsthand.analysis.outsiders`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import ClusterSums, Statistic, Totals
from firsthand.analysis.inference import FloatArray, Inference, Measured
from firsthand.analysis.means import DRAWS, clusters_of
from firsthand.errors import AnalysisError

NEEDED: Final = ("key", "model", "direct", "meta", "coverage")
FEATURES: Final = ("characters", "words")
"""Columns of what anybody sees of a pair: by how much the better string is longer."""
CORRELATION: Final = (-1.0, 1.0)
DIFFERENCE: Final = (-2.0, 2.0)
LEAST_SPREAD: Final = 1e-3
"""Least standard deviation of meta over pairs, in nats; below it the answer is the same whatever is asked about."""
TINY: Final = 1e-10
"""Product of variances, relative to those of all pairs, below which a resample does not vary."""


@dataclass(frozen=True, eq=False)
class Judged:
    """The judgements of several models of the same pairs.

    Attributes:
        models: Names of the models.
        direct_MN: Direct judgements, ``[models, pairs]``, in nats.
        meta_MN: Meta judgements, NaN where an answer is invalid, ``[models, pairs]``, in nats.
        coverage_MN: Probability mass on the labels, ``[models, pairs]``.
        pairs: One row a pair, with the cluster columns.
        clusters: Names of those columns.
        draws: Draws of the bootstrap.
    """

    models: tuple[str, ...]
    direct_MN: FloatArray
    meta_MN: FloatArray
    coverage_MN: FloatArray
    pairs: pd.DataFrame
    clusters: tuple[str, ...]
    draws: int = DRAWS

    def valid(self, *models: int) -> np.ndarray:
        """Where the answers of all these models are valid ``[pairs]``."""
        return np.asarray(np.isfinite(self.meta_MN[list(models)]).all(axis=0))


def arranged(table: pd.DataFrame, clusters: Sequence[str] = ("key", "phenomenon"), draws: int = DRAWS) -> Judged:
    """Check a table of judgements and arrange it by model.

    Args:
        table: One row a model and pair: ``key``, ``model``, ``direct``, ``meta`` (NaN if invalid), ``coverage`` and the
            cluster columns; ``phenomenon`` and :data:`FEATURES` are kept where they are there.
        clusters: Columns of independent units.
        draws: Draws of the bootstrap.

    Raises:
        AnalysisError: If a column is missing, there are fewer than two models, a model has a pair twice or lacks one
            that another has, a direct judgement is no finite number, or a pair's cluster differs between models.
    """
    missing = [name for name in (*NEEDED, *clusters) if name not in table.columns]
    if missing or not clusters:
        raise AnalysisError(f"The judgements lack {', '.join(missing) or 'named clusters'}.", "Add the columns.")
    models = tuple(dict.fromkeys(table["model"]))
    if len(models) < 2:
        raise AnalysisError(
            f"There are judgements of {len(models)} model: with no other, nothing can be its own.",
            "Judge the same pairs with at least two models, better three.",
        )
    if table.duplicated(["model", "key"]).any():
        raise AnalysisError("A model judged a pair twice.", "Analyse one phrasing at a time, or average over them.")
    wide = {name: table.pivot(index="key", columns="model", values=name) for name in NEEDED[2:]}
    if len(table) != wide["direct"].size or not np.isfinite(wide["direct"].to_numpy(dtype=np.float64)).all():
        raise AnalysisError(
            "Not every model has a direct judgement of every pair.", "Judge the same pairs with every model."
        )
    kept = [name for name in ("phenomenon", *FEATURES) if name in table.columns]
    pairs = table[list(dict.fromkeys(["key", *clusters, *kept]))].drop_duplicates()
    if len(pairs) != len(wide["direct"]):
        raise AnalysisError("A pair belongs to different clusters for different models.", "Name them alike.")
    keys = list(pairs["key"])
    direct, meta, coverage = (wide[n].loc[keys, list(models)].to_numpy(dtype=np.float64).T for n in NEEDED[2:])
    return Judged(models, direct, meta, coverage, pairs.reset_index(drop=True), tuple(clusters), draws)


def over_phrasings(table: pd.DataFrame) -> pd.DataFrame:
    """One row a model and pair: meta averaged over those phrasings whose answers are valid; NaN without any.

    A phrasing that moves answers more than another is no better for it, so each model's answers to each phrasing are
    divided by their standard deviation first (not centred: signs stay), and one that hardly moves them at all says
    nothing, 0.

    Args:
        table: Rows as for :func:`arranged`, one a model, pair and ``phrasing``.
    """
    spread = table.groupby(["model", "phrasing"])["meta"].transform("std", ddof=0)
    scaled = table["meta"] * (1.0 / spread).where(spread >= LEAST_SPREAD, 0.0)
    same = [name for name in ("key", "item", "phenomenon", "model", "direct", *FEATURES) if name in table.columns]
    return table.assign(meta=scaled).groupby(same, sort=False, as_index=False)[["meta", "coverage"]].mean()


class Follows:
    """Which direct judgements the meta judgement of one model follows, over the pairs that it answered validly.

    Args:
        judged: The judgements.
        reporter: Number of the model that is asked.
        outsiders: What others than these models say of the pairs ``[pairs]``, by name; they are numbered after them.

    Attributes:
        names: Names of the models and of the outsiders, by number.
        pairs: Number of pairs.
    """

    def __init__(self, judged: Judged, reporter: int, outsiders: Mapping[str, FloatArray] | None = None) -> None:
        others = outsiders or {}
        self._reporter = reporter
        self.names = (*judged.models, *others)
        keep = judged.valid(reporter)
        self.pairs = int(keep.sum())
        judges = [*judged.direct_MN, *others.values()]
        named = {"meta": judged.meta_MN[reporter, keep]} | {_direct(n): one[keep] for n, one in enumerate(judges)}
        agreeing = {_same(n): _same_sign(named["meta"], named[_direct(n)]) for n in range(len(judges))}
        self._sums = _sums(named, judged, keep, agreeing)

    def correlation(self, other: int) -> Measured:
        """Correlation of meta with the direct judgement of a model."""
        return self._measure(lambda t: _correlation(t, "meta", _direct(other)), CORRELATION)

    def same_sign(self, other: int) -> Measured:
        """Share of pairs of which meta prefers what a model's direct judgement prefers; a tie is worth a half."""
        return self._measure(lambda t: np.asarray(t[_same(other)] / t["n"]), (0.0, 1.0))

    def advantage(self, rival: int) -> Measured:
        """Correlation with one's own direct judgement minus that with the rival's."""
        own = _direct(self._reporter)
        return self._measure(
            lambda t: np.asarray(_correlation(t, "meta", own) - _correlation(t, "meta", _direct(rival))), DIFFERENCE
        )

    def partial(self, rival: int) -> Measured:
        """Correlation of meta with one's own direct judgement when the rival's is held fixed."""
        own, other = _direct(self._reporter), _direct(rival)

        def partial(t: Totals) -> FloatArray:
            r, s, both = (_correlation(t, *pair) for pair in (("meta", own), ("meta", other), (own, other)))
            return np.asarray((r - s * both) / np.sqrt((1 - s**2) * (1 - both**2)))

        return self._measure(partial, CORRELATION)

    def _measure(self, statistic: Statistic, span: tuple[float, float]) -> Measured:
        return self._sums.measure(statistic, span=span, n_trials=self.pairs)


def similarity(judged: Judged, one: int, other: int) -> Measured:
    """Correlation of the direct judgements of two models, over all pairs."""
    named = {"one": judged.direct_MN[one], "other": judged.direct_MN[other]}
    sums = _sums(named, judged, np.ones(len(judged.pairs), dtype=bool), {})
    return sums.measure(lambda t: _correlation(t, "one", "other"), span=CORRELATION, n_trials=len(judged.pairs))


def tetrad(judged: Judged, one: int, other: int) -> Measured:
    """What two models' own agreements share beyond one common opinion; see the head of this module.

    Args:
        judged: The judgements.
        one: Number of a model.
        other: Number of another.

    Returns:
        The difference of products of correlations, over the pairs that both answered validly; unknown below two.
    """
    keep = judged.valid(one, other)
    if keep.sum() < 2:
        return Measured((Inference(judged.clusters[0], 0, np.nan, np.nan, DIFFERENCE),), 0)
    named = {f"meta {m}": judged.meta_MN[m, keep] for m in (one, other)} | {
        _direct(m): judged.direct_MN[m, keep] for m in (one, other)
    }
    sums = _sums(named, judged, keep, {})

    def difference(t: Totals) -> FloatArray:
        own = [_correlation(t, f"meta {m}", _direct(m)) for m in (one, other)]
        crossed = [_correlation(t, f"meta {m}", _direct(n)) for m, n in ((one, other), (other, one))]
        return np.asarray(own[0] * own[1] - crossed[0] * crossed[1])

    return sums.measure(difference, span=DIFFERENCE, n_trials=int(keep.sum()))


def _sums(
    named: Mapping[str, FloatArray], judged: Judged, keep: np.ndarray, further: Mapping[str, FloatArray]
) -> ClusterSums:
    """Totals from which every correlation of some values follows; they are centred and scaled first, for precision."""
    standard = {name: scaled(values) for name, values in named.items()}
    columns = {"n": np.ones(int(keep.sum())), **standard, **further}
    for (name, x), (other, y) in combinations_with_replacement(standard.items(), 2):
        columns[f"{name} x {other}"] = x * y
    return ClusterSums(columns, replace(clusters_of(judged.pairs[keep], judged.clusters), draws=judged.draws))


def scaled(values: FloatArray) -> FloatArray:
    """Values less their mean, divided by their standard deviation where they have one."""
    spread = values.std() if len(values) else 0.0
    return np.asarray((values - values.mean()) / (spread or 1.0)) if len(values) else values


def _correlation(t: Totals, one: str, other: str) -> FloatArray:
    """Pearson's correlation from totals; not a number where a value does not vary."""

    def product(a: str, b: str) -> FloatArray:
        crossed = t[f"{a} x {b}"] if f"{a} x {b}" in t else t[f"{b} x {a}"]
        return np.asarray(crossed / t["n"] - t[a] * t[b] / t["n"] ** 2)

    spread = product(one, one) * product(other, other)
    return np.asarray(product(one, other) / np.sqrt(np.where(spread > TINY, spread, np.nan)))


def _same_sign(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.asarray((1.0 + np.sign(one) * np.sign(other)) / 2.0)


def _direct(model: int) -> str:
    return f"direct {model}"


def _same(model: int) -> str:
    return f"same {model}"
