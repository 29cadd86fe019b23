"""Does a model's statement about strings carry anything of its own? The verdict on direct and meta judgements.

Privileged access is shown only by a self advantage over *every* other model and over outsiders
(:mod:`firsthand.analysis.outsiders`) that is also more than what a better measure of a common opinion gives (see
:mod:`firsthand.analysis.direct_meta`, where all terms are explained). The rules are in
:mod:`firsthand.analysis.self_ruling`.

What would still pass: an opinion of strings that models which are trained alike share, where no such model is among
those that are asked; and knowledge of the language that a model uses twice, once in what it does and once in what it
says, without any look at itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.constancy import CONSTANT_SHARE, most_common
from firsthand.analysis.direct_meta import LEAST_SPREAD, Judged, arranged
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DRAWS, mean_of
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.results import Estimate
from firsthand.analysis.self_results import Advantage, Agreement, Hurdle, ReporterResult, SelfAdvantage
from firsthand.analysis.self_ruling import LEAST_PAIRS, Compared, Measures, Ruling, hurdles, largest_p, ruled
from firsthand.analysis.similarity_regression import SimilarityRegression, similarity_regression
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Verdict

__all__ = ["ALPHA", "LEAST_PAIRS", "MINIMUM_COVERAGE", "MINIMUM_SIMILARITY", "SelfAdvantage", "self_advantage"]

ALPHA: Final = 0.05
MINIMUM_COVERAGE: Final = 0.5
"""Least mean probability mass on the labels, and least share of valid answers."""
MINIMUM_SIMILARITY: Final = 0.5
"""Least correlation of direct judgements with those of the most similar rival."""


@dataclass(frozen=True, eq=False)
class Ruled:
    """Verdicts, and what they rest on.

    Attributes:
        compared: The judgements.
        taken: Hurdles of each model whose answers can be used, by its number.
        p: Their largest p-value for each model; corrected by Holm where any is below alpha.
        rulings: The verdict on each model, and its reasons.
    """

    compared: Compared
    taken: Mapping[int, Measures]
    p: Mapping[str, float]
    rulings: Mapping[int, Ruling]


def rule(
    table: pd.DataFrame,
    *,
    clusters: Sequence[str] = ("key", "phenomenon"),
    alpha: float = ALPHA,
    minimum_coverage: float = MINIMUM_COVERAGE,
    minimum_similarity: float = MINIMUM_SIMILARITY,
    draws: int = DRAWS,
    thorough: bool = True,
) -> Ruled:
    """The verdicts alone.

    Args:
        table: As for :func:`self_advantage`, and so are the others.
        clusters: Columns of independent units.
        alpha: One-sided level.
        minimum_coverage: Least mean coverage, and least share of valid answers.
        minimum_similarity: Least similarity of the most similar rival.
        draws: Draws of the bootstrap.
        thorough: Whether other forms of the judgements are looked at even where no advantage is shown as measured. The
            verdicts are the same.

    Raises:
        AnalysisError: If the table does not fit, or holds fewer than two models.
    """
    judged = arranged(table, clusters, draws)
    unusable = {m: _unusable(judged, m, minimum_coverage) for m in range(len(judged.models))}
    compared = Compared(judged, unusable)
    taken = {m: hurdles(compared, m, None if thorough else alpha) for m in unusable if unusable[m] is None}
    p = {name: largest_p(taken[m]) if m in taken else 1.0 for m, name in enumerate(judged.models)}
    p = holm(p) if min(p.values()) <= alpha else p
    rulings: dict[int, Ruling] = {
        m: (Verdict.INSUFFICIENT, (reason,))
        if reason is not None
        else ruled(compared, m, taken[m], p[judged.models[m]], alpha, minimum_similarity)
        for m, reason in unusable.items()
    }
    return Ruled(compared, taken, p, rulings)


def self_advantage(
    table: pd.DataFrame,
    phrasing: str = "",
    *,
    clusters: Sequence[str] = ("key", "phenomenon"),
    alpha: float = ALPHA,
    minimum_coverage: float = MINIMUM_COVERAGE,
    minimum_similarity: float = MINIMUM_SIMILARITY,
    draws: int = DRAWS,
) -> SelfAdvantage:
    """Judge what models say against what they do.

    Args:
        table: Judgements, one row a model and pair (see :func:`~firsthand.analysis.direct_meta.arranged`).
        phrasing: What the way of asking is called.
        clusters: Columns of independent units; the most cautious of them speaks.
        alpha: One-sided level of every test, and probability beyond each end of an interval.
        minimum_coverage: Least mean coverage, and least share of valid answers.
        minimum_similarity: Least correlation of direct judgements with those of the most similar rival.
        draws: Draws of the bootstrap.

    Raises:
        AnalysisError: If the table does not fit, or holds fewer than two models.
    """
    found = rule(
        table,
        clusters=clusters,
        alpha=alpha,
        minimum_coverage=minimum_coverage,
        minimum_similarity=minimum_similarity,
        draws=draws,
    )
    compared, names = found.compared, found.compared.judged.models
    regression, refused = _regression(compared, alpha)
    return SelfAdvantage(
        phrasing=phrasing,
        level=1.0 - 2.0 * alpha,
        reporters=tuple(_reporter(found, m, alpha) for m in found.rulings),
        agreements=tuple(
            Agreement(
                reporter=names[m],
                judge=names[n],
                correlation=one.correlation(n).estimate(alpha, 0.0),
                same_sign=one.same_sign(n).estimate(alpha, 0.5),
                similarity=compared.alike[m, n].estimate(alpha) if m != n else None,
            )
            for m, one in compared.follows.items()
            for n in range(len(names))
        ),
        advantages=_advantages(compared, alpha),
        regression=regression,
        regression_refused=refused,
    )


def _advantages(compared: Compared, alpha: float) -> tuple[Advantage, ...]:
    return tuple(
        Advantage(
            reporter=compared.judged.models[m],
            rival=one.names[n],
            followed=one.correlation(n).estimate(alpha, 0.0),
            advantage=one.advantage(n).estimate(alpha, 0.0),
            partial=one.partial(n).estimate(alpha, 0.0),
            tetrad=compared.tetrads[m, n].estimate(alpha, 0.0) if (m, n) in compared.tetrads else None,
        )
        for m, one in compared.follows.items()
        for n in compared.rivals(m)
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


def _reporter(found: Ruled, model: int, alpha: float) -> ReporterResult:
    compared, judged, taken = found.compared, found.compared.judged, found.taken.get(model, {})
    nearest, (verdict, reasons) = compared.nearest(model), found.rulings[model]
    valid = judged.valid(model)
    return ReporterResult(
        model=judged.models[model],
        verdict=verdict,
        reasons=reasons,
        pairs=len(judged.pairs),
        valid=int(valid.sum()),
        coverage=_mean(judged, np.clip(judged.coverage_MN[model], 0.0, 1.0)).estimate(alpha),
        right_direct=_preferred(judged, judged.direct_MN[model], alpha),
        right_meta=_preferred(judged, judged.meta_MN[model], alpha) if valid.any() else None,
        hurdles=tuple(
            Hurdle(name=name, variant=variant, found=measured.estimate(alpha, 0.0))
            for (name, variant), measured in taken.items()
        ),
        p=found.p[judged.models[model]],
        nearest=judged.models[nearest],
        similarity=compared.alike[model, nearest].estimate(alpha),
    )


def _preferred(judged: Judged, values: FloatArray, alpha: float) -> Estimate:
    """Share above 0; exactly 0 is worth a half, and what is NaN does not count."""
    return _mean(judged, np.where(np.isfinite(values), np.heaviside(values, 0.5), np.nan)).estimate(alpha, 0.5)


def _mean(judged: Judged, values: FloatArray) -> Measured:
    return mean_of(values, judged.pairs, judged.clusters)


def _regression(compared: Compared, alpha: float) -> tuple[SimilarityRegression | None, str | None]:
    """Agreement on similarity over the models whose answers can be correlated, or why there is none."""
    follows = compared.follows
    agreement = np.array([[follows[m].correlation(n).value for n in follows] for m in follows])
    similar = np.array([[compared.alike[m, n].value if m != n else 1.0 for n in follows] for m in follows])
    try:
        return similarity_regression(agreement, similar, alpha), None
    except AnalysisError as error:
        return None, str(error)
