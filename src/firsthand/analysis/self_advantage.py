"""Does a model's statement about strings carry anything of its own? The verdict on direct and meta judgements.

Privileged access is shown only by a self advantage over *every* other model, an intersection-union test without further
correction, that is also more than what a better measure of a common opinion gives (see
:mod:`firsthand.analysis.direct_meta`, where all terms are explained).
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from firsthand.analysis.constancy import CONSTANT_SHARE, most_common
from firsthand.analysis.direct_meta import LEAST_SPREAD, Follows, Judged, arranged, similarity, tetrad
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import Estimate
from firsthand.analysis.similarity_regression import SimilarityRegression, similarity_regression
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Verdict

ALPHA: Final = 0.05
MINIMUM_COVERAGE: Final = 0.5
"""Least mean probability mass on the labels, and least share of valid answers."""
LEAST_PAIRS: Final = 20

_ByTwo: TypeAlias = dict[tuple[int, int], Measured]
Ruling: TypeAlias = tuple[Verdict, tuple[str, ...]]


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Agreement(_Result):
    """How what one model says goes with what a model does (itself, or another).

    Attributes:
        reporter: The model that is asked.
        judge: The model whose direct judgement it is held against.
        correlation: Correlation of meta with direct over pairs, with ``p`` of "above 0".
        same_sign: Share of pairs of which both prefer the same string.
        similarity: Correlation of the direct judgements of the two; ``None`` for the model itself.
    """

    reporter: str
    judge: str
    correlation: Estimate
    same_sign: Estimate
    similarity: Estimate | None = None


class Advantage(_Result):
    """What a model's statement has of its own, beyond a rival.

    Attributes:
        reporter: The model that is asked.
        rival: The other model.
        advantage: Correlation with one's own direct judgement minus that with the rival's.
        partial: Correlation with one's own when the rival's is held fixed. It never decides.
        tetrad: What the two models' own agreements share beyond one common opinion; ``None`` where too few answers of
            both are valid.
    """

    reporter: str
    rival: str
    advantage: Estimate
    partial: Estimate
    tetrad: Estimate | None


class ReporterResult(_Result):
    """One model's verdict.

    Attributes:
        model: The model that is asked.
        verdict: What the evidence allows to be said.
        reasons: The rules that led to it.
        pairs: Pairs that it was asked about.
        valid: Those among them with valid answers.
        coverage: Mean probability mass on the labels.
        right_direct: Share of pairs whose better string its direct judgement prefers.
        right_meta: Share of validly answered pairs of which its meta judgement does; ``None`` without any.
    """

    model: str
    verdict: Verdict
    reasons: tuple[str, ...]
    pairs: int
    valid: int
    coverage: float
    right_direct: float
    right_meta: float | None


class SelfAdvantage(_Result):
    """Everything about one way of asking.

    Attributes:
        phrasing: The way of asking.
        level: Coverage of every interval.
        reporters: One verdict a model.
        agreements: Every model that is asked with every direct judgement, as a matrix row by row.
        advantages: Every model that is asked against every other.
        regression: Agreement on similarity; ``None`` where it is refused.
        regression_refused: Why.
    """

    phrasing: str
    level: float
    reporters: tuple[ReporterResult, ...]
    agreements: tuple[Agreement, ...]
    advantages: tuple[Advantage, ...]
    regression: SimilarityRegression | None
    regression_refused: str | None


def self_advantage(
    table: pd.DataFrame,
    phrasing: str = "",
    *,
    clusters: Sequence[str] = ("key", "phenomenon"),
    alpha: float = ALPHA,
    minimum_coverage: float = MINIMUM_COVERAGE,
) -> SelfAdvantage:
    """Judge what models say against what they do.

    Args:
        table: Judgements, one row a model and pair (see :func:`~firsthand.analysis.direct_meta.arranged`).
        phrasing: What the way of asking is called.
        clusters: Columns of independent units; the most cautious of them speaks.
        alpha: One-sided level of every test, and probability beyond each end of an interval.
        minimum_coverage: Least mean coverage, and least share of valid answers.

    Raises:
        AnalysisError: If the table does not fit, or holds fewer than two models.
    """
    judged = arranged(table, clusters)
    numbers = range(len(judged.models))
    unusable = {m: _unusable(judged, m, minimum_coverage) for m in numbers}
    follows = {m: Follows(judged, m) for m in numbers if judged.valid(m).sum() >= LEAST_PAIRS}
    alike = {(m, n): similarity(judged, m, n) for m in numbers for n in numbers if m != n}
    tetrads = {(m, n): tetrad(judged, m, n) for m in follows for n in follows if m < n}
    tetrads |= {(n, m): found for (m, n), found in tetrads.items()}
    regression, refused = _regression(judged, follows, alike, alpha)
    return SelfAdvantage(
        phrasing=phrasing,
        level=1.0 - 2.0 * alpha,
        reporters=tuple(
            _reporter(judged, m, _ruled(judged, m, unusable, follows, alike, tetrads, alpha)) for m in numbers
        ),
        agreements=tuple(
            Agreement(
                reporter=judged.models[m],
                judge=judged.models[n],
                correlation=one.correlation(n).estimate(alpha, 0.0),
                same_sign=one.same_sign(n).estimate(alpha, 0.5),
                similarity=alike[m, n].estimate(alpha) if m != n else None,
            )
            for m, one in follows.items()
            for n in numbers
        ),
        advantages=_advantages(judged, follows, tetrads, alpha),
        regression=regression,
        regression_refused=refused,
    )


def _advantages(judged: Judged, follows: dict[int, Follows], tetrads: _ByTwo, alpha: float) -> tuple[Advantage, ...]:
    return tuple(
        Advantage(
            reporter=judged.models[m],
            rival=rival,
            advantage=one.advantage(n).estimate(alpha, 0.0),
            partial=one.partial(n).estimate(alpha, 0.0),
            tetrad=tetrads[m, n].estimate(alpha, 0.0) if (m, n) in tetrads else None,
        )
        for m, one in follows.items()
        for n, rival in enumerate(judged.models)
        if m != n
    )


def _unusable(judged: Judged, model: int, minimum: float) -> str | None:
    """Why the answers of a model allow no verdict, in words."""
    valid, pairs = judged.valid(model), len(judged.pairs)
    meta = judged.meta_MN[model, valid]
    coverage = float(judged.coverage_MN[model].mean())
    if coverage < minimum:
        return f"the labels hold {coverage:.1%} of the probability on average, less than {minimum:.0%}"
    if valid.mean() < minimum or len(meta) < LEAST_PAIRS:
        return (
            f"{len(meta)} of {pairs} pairs have valid answers, and {max(LEAST_PAIRS, minimum * pairs):.0f} are needed"
        )
    if meta.std() < LEAST_SPREAD or most_common(np.round(meta, 6))[1] >= CONSTANT_SHARE:
        return f"what it says is nearly the same for every pair (standard deviation {meta.std():.2g} nats)"
    if judged.direct_MN[model].std() < LEAST_SPREAD:
        return "its direct judgement is the same for every pair"
    return None


def _ruled(
    judged: Judged,
    model: int,
    unusable: dict[int, str | None],
    follows: dict[int, Follows],
    alike: _ByTwo,
    tetrads: _ByTwo,
    alpha: float,
) -> Ruling:
    """The verdict on one model, and the rules that led to it."""
    reason = unusable[model]
    if reason is not None:
        return Verdict.INSUFFICIENT, (reason,)
    numbers, name = range(len(judged.models)), judged.models
    rivals = [n for n in numbers if n != model]
    with_each = {n: follows[model].correlation(n) for n in numbers}
    own = with_each[model]
    if own.p_below(0.0) <= alpha:
        return Verdict.INVERTED, (f"it says the reverse of its own direct judgements: r = {own.value:.2f}",)
    against = {n: follows[model].advantage(n) for n in rivals}
    weakest = max(rivals, key=lambda n: against[n].p_above(0.0))
    p = against[weakest].p_above(0.0)
    ahead = f"self advantage over {name[weakest]} {against[weakest].value:+.2f}, p = {p:.3g}, the weakest of all"
    nearest = max(rivals, key=lambda n: alike[model, n].value)
    compared = f"the most similar rival is {name[nearest]}, r = {alike[model, nearest].value:.2f}"
    if p <= alpha and own.p_above(0.0) <= alpha:
        verdict, reason = _beyond_opinion(judged, model, unusable, follows, tetrads, alpha)
        return verdict, (ahead, reason, compared)
    followed = [n for n in numbers if with_each[n].p_above(0.0) <= alpha / len(name)]  # any one of them would do
    if set(followed) - {model}:
        best = max(set(followed) - {model}, key=lambda n: with_each[n].value)
        said = f"it follows the direct judgements of {name[best]} (r = {with_each[best].value:.2f}) as well as its own"
        return Verdict.PUBLIC_INFERENCE, (f"{said} (r = {own.value:.2f})", ahead, compared)
    said = (
        "it follows its own direct judgements"
        if model in followed
        else "it is not shown to follow any direct judgements"
    )
    return Verdict.INSUFFICIENT, (f"{said} (own r = {own.value:.2f}), and no self advantage is shown", ahead)


def _beyond_opinion(
    judged: Judged,
    model: int,
    unusable: dict[int, str | None],
    follows: dict[int, Follows],
    tetrads: _ByTwo,
    alpha: float,
) -> tuple[Verdict, str]:
    """Whether an advantage that is shown is more than a better measure of a common opinion."""
    name = judged.models
    for n in range(len(name)):
        if n == model or (unusable[n] is None and tetrads[model, n].p_above(0.0) <= alpha):
            continue
        if unusable[n] is not None or min(follows[n].correlation(k).p_above(0.0) for k in (model, n)) > alpha / 2:
            return (
                Verdict.INSUFFICIENT,
                f"whether its direct judgements are only the better measure cannot be told: what {name[n]} says "
                f"{'follows neither' if unusable[n] is None else 'cannot be used'}",
            )
        return (
            Verdict.PUBLIC_INFERENCE,
            f"one common opinion explains it: the tetrad difference with {name[n]} is {tetrads[model, n].value:+.2f}, "
            f"p = {tetrads[model, n].p_above(0.0):.3g}",
        )
    return Verdict.PRIVILEGED, "no common opinion explains it: the tetrad difference is above 0 with every other model"


def _reporter(judged: Judged, model: int, ruling: Ruling) -> ReporterResult:
    valid = judged.valid(model)
    return ReporterResult(
        model=judged.models[model],
        verdict=ruling[0],
        reasons=ruling[1],
        pairs=len(judged.pairs),
        valid=int(valid.sum()),
        coverage=float(judged.coverage_MN[model].mean()),
        right_direct=_preferred(judged.direct_MN[model]),
        right_meta=_preferred(judged.meta_MN[model, valid]) if valid.any() else None,
    )


def _preferred(values: FloatArray) -> float:
    """Share above 0; exactly 0 is worth a half."""
    return float(np.heaviside(values, 0.5).mean())


def _regression(
    judged: Judged, follows: dict[int, Follows], alike: _ByTwo, alpha: float
) -> tuple[SimilarityRegression | None, str | None]:
    """Agreement on similarity over the models whose answers can be correlated, or why there is none."""
    agreement = np.array([[follows[m].correlation(n).value for n in follows] for m in follows])
    similar = np.array([[alike[m, n].value if m != n else 1.0 for n in follows] for m in follows])
    try:
        return similarity_regression(agreement, similar, alpha), None
    except AnalysisError as error:
        return None, str(error)
