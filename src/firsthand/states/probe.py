"""A linear probe: does the state reach the place from which the report is made?

Fitted on other blocks than it reads (cross-fitting), standardised, with the ridge strength chosen inside the training
blocks, so that its success on a block shows that the information is there and not that the probe has seen it.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import AnalysisError

FOLDS = 6
STRENGTHS = (1e-4, 1e-2, 1.0)


def cross_fitted_reading(
    residual_TH: NDArray[np.float32], truth: NDArray[np.int64], groups: Sequence[str], folds: int = FOLDS
) -> NDArray[np.float64]:
    """Decision values of a logistic probe, each from a fit that never saw the trial's block.

    Args:
        residual_TH: Residuals at the report position, ``[trials, hidden]``.
        truth: What is to be read, 0 or 1.
        groups: Block of each trial.
        folds: Most folds.

    Returns:
        Decision values, above 0 for class 1, ``[trials]``; NaN where the training blocks held one class only.

    Raises:
        AnalysisError: If there are fewer than three groups.
    """
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.model_selection import GroupKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    names = np.asarray(list(groups))
    distinct = len(set(groups))
    if distinct < 3:
        raise AnalysisError("A probe needs at least three blocks to be fitted, tuned and read.", "Use more blocks.")
    values = np.full(len(truth), np.nan)
    for train, test in GroupKFold(min(folds, distinct)).split(residual_TH, truth, names):
        if len(set(truth[train].tolist())) < 2:
            continue
        splits = GroupKFold(min(3, len(set(names[train].tolist())))).split(
            residual_TH[train], truth[train], names[train]
        )
        inner = [split for split in splits if len(set(truth[train][split[0]].tolist())) == 2]
        tuned = (
            LogisticRegressionCV(
                Cs=list(STRENGTHS), cv=inner, max_iter=2000, class_weight="balanced", scoring="balanced_accuracy"
            )
            if inner
            else LogisticRegression(C=STRENGTHS[1], max_iter=2000, class_weight="balanced")
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make_pipeline(StandardScaler(), tuned).fit(residual_TH[train], truth[train])
        values[test] = model.decision_function(residual_TH[test])
    return values
