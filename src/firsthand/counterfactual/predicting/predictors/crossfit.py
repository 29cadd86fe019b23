"""Answers of a classifier about claims whose clusters it was not fitted on."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.predictions import Kind
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.predicting.reading import units_named
from firsthand.trials.canonical import digest

FOLDS: Final = 10
_SEED: Final = 0
_LEAST: Final = 1e-6
_UNFIT: Final = "The other clusters hold no claims of both labels to learn from."

FitPredict = Callable[[Sequence[int], NDArray[np.int64], Sequence[int]], NDArray[np.float64]]
"""From numbers of the claims that are learnt from, their labels, and numbers of those that are asked about, to
probabilities."""


def held_out(labels: NDArray[np.int64], clusters: Sequence[str], fit: FitPredict) -> list[float | None]:
    """Probabilities for every claim, from classifiers that saw no claim of its cluster.

    Answers of all folds are ranked together, and a fold that learnt from more true claims would rank its own too high,
    just where there are fewer of them. So folds have about equal shares of true claims, and the log-odds of each are
    centred on its own mean, which no label enters. Where there is nothing to learn and clusters are few, a floor may
    still fall below one half: constant floors stand beside it.

    Args:
        labels: 1 for a true claim, else 0 ``[claims]``.
        clusters: Cluster of each claim ``[claims]``.
        fit: The classifier.

    Returns:
        One for each claim; ``None`` where the other clusters hold claims of one label only.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    found: list[float | None] = [None] * len(labels)
    folds = min(FOLDS, len(set(clusters)), int(np.bincount(labels, minlength=2).min()))
    if folds < 2:
        return found
    splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=_SEED)
    for train, test in splitter.split(np.zeros(len(labels)), labels, np.asarray(clusters)):
        if len(set(labels[train].tolist())) < 2:
            continue
        given = np.clip(fit(train.tolist(), labels[train], test.tolist()), _LEAST, 1.0 - _LEAST)
        odds = np.log(given) - np.log1p(-given)
        centred = 1.0 / (1.0 + np.exp(odds.mean() - odds))
        for number, probability in zip(test.tolist(), centred.tolist(), strict=True):
            found[number] = probability
    return found


def cross_fitted(
    name: str,
    version: int,
    claims: Sequence[Claim],
    questions: Sequence[Question],
    fit: FitPredict,
    kind: Kind = "floor",
) -> Fixed:
    """A predictor that is fitted on other clusters' claims.

    Args:
        name: Its name.
        version: Number that changes with what it learns from.
        claims: All claims.
        questions: Their questions, in the same order.
        fit: The classifier.
        kind: What it is.
    """
    labels = np.array([claim.label for claim in claims], dtype=np.int64)
    probabilities = held_out(labels, units_named(claims), fit)
    seen = digest([[question.model_dump(mode="json") for question in questions], labels.tolist()])
    by_claim = {question.claim: one for question, one in zip(questions, probabilities, strict=True)}
    return Fixed(name, f"{name} {version} {seen}", by_claim, kind, _UNFIT)


def logistic(regularised: float) -> Any:
    """A logistic regression that takes both labels for equally likely: folds differ only in what they learnt."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=regularised, max_iter=2000, class_weight="balanced")
