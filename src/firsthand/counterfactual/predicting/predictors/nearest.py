"""What became of similar claims: the labels of the nearest claims of other clusters, by the words of the claim."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.predictors.crossfit import cross_fitted
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.predictors.words import weighted
from firsthand.counterfactual.predicting.questions import Question

NEIGHBOURS: Final = 7


def nearest(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """The share of true claims among the nearest of other clusters, each weighing as much as it is similar."""
    texts = [question.text for question in questions]

    def fit(train: Sequence[int], labels: NDArray[np.int64], test: Sequence[int]) -> NDArray[np.float64]:
        seen, asked = weighted([texts[n] for n in train], [texts[n] for n in test])
        alike = np.asarray((asked @ seen.T).todense(), dtype=np.float64)
        # Both labels count alike, however many claims of each there are to be near to.
        weights = np.where(labels == 1, 0.5 / max(1, labels.sum()), 0.5 / max(1, (1 - labels).sum()))
        found = np.full(len(test), 0.5)
        for row, similar in enumerate(alike):
            near = np.argsort(-similar, kind="stable")[:NEIGHBOURS]
            mass = similar[near] * weights[near]
            if mass.sum() > 0:
                found[row] = float(mass @ labels[near] / mass.sum())
        return found

    return cross_fitted("nearest", 1, claims, questions, fit)
