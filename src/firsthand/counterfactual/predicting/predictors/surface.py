"""What the surface of an edit gives away: its kind, size and place, and the baseline rate, without any text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.predictors.crossfit import cross_fitted, logistic
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.surface import table_of


def surface(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """A logistic regression on :func:`~firsthand.counterfactual.surface.table_of`, fitted on other clusters."""
    rows = table_of(claims)

    def fit(train: Sequence[int], labels: NDArray[np.int64], test: Sequence[int]) -> NDArray[np.float64]:
        model = scaled().fit(rows[list(train)], labels)
        return np.asarray(model.predict_proba(rows[list(test)])[:, 1], dtype=np.float64)

    return cross_fitted("surface", 2, claims, questions, fit)


def scaled() -> Any:
    """A logistic regression on standardised columns."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), logistic(0.5))
