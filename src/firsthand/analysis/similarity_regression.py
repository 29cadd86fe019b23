"""Agreement of what models say with what models do, against how similar the models are.

Over all ordered pairs of models, own included: agreement ``r(meta of m, direct of n)`` on similarity ``r(direct of m,
direct of n)``, with an intercept for every model that is asked and an indicator for a model's own direct judgement
(after Song, Hu and Mahowald 2025).

The indicator describes and does not decide, for what it should be is less plain than it looks. A model that says
nothing but its own direct judgement, with noise of constant size c, agrees with every other as c times their
similarity, and with itself as c times 1: it lies *on* the line, the slope is c and the indicator 0. Where all models
say one common opinion, similarity 1 is higher than own agreement deserves, and the indicator is below 0. Above 0 it
says that a model knows more of itself than the line through its rivals gives, which is more than introspection needs.
"""

from typing import Any, Final

import numpy as np
import statsmodels.api as sm
from pydantic import BaseModel, ConfigDict

from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import Estimate
from firsthand.errors import AnalysisError

LEAST_MODELS: Final = 3
LEAST_SPREAD: Final = 0.005
"""Least standard deviation of similarity between models; with less the line cannot be told from its intercepts."""


class SimilarityRegression(BaseModel):
    """What the line says.

    Attributes:
        models: Number of models that everything rests on.
        model_pairs: Number of ordered pairs, own ones included.
        own: Agreement with one's own direct judgement beyond what the line gives, with ``p`` of "above 0".
        slope: Change of agreement by similarity, with ``p`` of "above 0".
        r_squared: Share of the variance of agreement within the models that are asked, explained by both.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: int
    model_pairs: int
    own: Estimate
    slope: Estimate
    r_squared: float


def similarity_regression(agreement_MM: FloatArray, similarity_MM: FloatArray, alpha: float) -> SimilarityRegression:
    """Fit the line by ordinary least squares.

    Args:
        agreement_MM: Correlation of what row m says with what column n does, ``[models, models]``.
        similarity_MM: Correlation of what both do, ``[models, models]``, 1 on the diagonal.
        alpha: Probability beyond each end of the intervals.

    Returns:
        The coefficients with intervals by Student's t on the residual degrees of freedom. They take pairs of models for
        independent once the model that is asked is known, and say nothing about other pairs of strings.

    Raises:
        AnalysisError: If there are fewer than three models, an agreement is unknown, or all models are equally similar.
    """
    models = len(agreement_MM)
    if models < LEAST_MODELS:
        raise AnalysisError(
            f"A line of agreement on similarity cannot be told from one's own agreement with {models} models.",
            f"Judge the same pairs with at least {LEAST_MODELS} models.",
        )
    others = similarity_MM[~np.eye(models, dtype=bool)]
    if not np.isfinite(agreement_MM).all() or not np.isfinite(others).all():
        raise AnalysisError("An agreement or a similarity of two models is unknown.", "Leave that model out.")
    if others.std() < LEAST_SPREAD:
        raise AnalysisError(
            f"All models are equally similar (standard deviation {others.std():.4f}), so there is no line.",
            "Add a model that is more, or less, like the others.",
        )
    reporters = np.repeat(np.eye(models), models, axis=0)
    own, similar = np.eye(models).ravel(), similarity_MM.ravel()
    fitted = sm.OLS(agreement_MM.ravel(), np.column_stack([own, similar, reporters])).fit()
    within = agreement_MM - agreement_MM.mean(axis=1, keepdims=True)
    return SimilarityRegression(
        models=models,
        model_pairs=models**2,
        own=_estimate(fitted, 0, alpha, models),
        slope=_estimate(fitted, 1, alpha, models),
        r_squared=float(1.0 - fitted.ssr / max(float((within**2).sum()), 1e-12)),
    )


def _estimate(fitted: Any, at: int, alpha: float, models: int) -> Estimate:
    low, high = fitted.conf_int(alpha=2.0 * alpha)[at]
    two_sided, t = float(fitted.pvalues[at]), float(fitted.tvalues[at])
    return Estimate(
        value=float(fitted.params[at]),
        low=float(low),
        high=float(high),
        level=1.0 - 2.0 * alpha,
        n_trials=models**2,
        units=models,
        cluster="model",
        p=two_sided / 2.0 if t > 0 else 1.0 - two_sided / 2.0,
    )
