"""How well labels can be told without knowing anything: the floor that a predictor must beat.

Three learners that see neither prompt nor model are cross-validated with whole independent units held out: a logistic
regression and a small gradient boosting on surface numbers, and a logistic regression on the words of the claim. Each
claim is scored by a learner that saw no claim of its unit. Scores of different folds come from different learners, so
only pairs within a fold are compared (:mod:`~firsthand.analysis.auroc`), as everywhere in the analysis.

The interval resamples units, with the learners as they are: how much they would have learnt from other units is not in
it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.results import Estimate
from firsthand.analysis.type2 import Areas

LEAST_UNITS: Final = 10
"""Fewer independent units than this, or fewer of either label, measure no floor."""
FOLDS: Final = 5
LINEAR: Final = "surface, logistic regression"
BOOSTED: Final = "surface, gradient boosting"
WORDS: Final = "words of the claim"


class Guess(BaseModel):
    """How well one learner tells true claims from false ones.

    Attributes:
        learner: Who, and from what.
        auroc: Area under the curve of its scores, with an interval over units.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    learner: str
    auroc: Estimate


class Floor(BaseModel):
    """The floor of a set of claims.

    Attributes:
        claims: How many claims.
        true: How many of them are true.
        units: Independent units.
        guesses: What each learner reaches, the best one first; empty if the set is too small.
        why: Why there are none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    claims: int
    true: int
    units: int
    guesses: tuple[Guess, ...] = ()
    why: str = ""

    @property
    def best(self) -> Guess | None:
        """The learner that is to be beaten."""
        return self.guesses[0] if self.guesses else None

    @property
    def sentence(self) -> str:
        """What a reader of scores should know."""
        if self.best is None:
            return f"How far labels can be told without prompt and model is not known: {self.why}."
        found = self.best.auroc
        return (
            f"A predictor must beat this floor: without prompt and model, an AUROC of {found.value:.2f} "
            f"({found.low:.2f} to {found.high:.2f}, {found.units} independent units) is reached from the "
            f"{self.best.learner}."
        )


def floor_of(
    labels: Sequence[bool],
    columns: Mapping[str, FloatArray],
    texts: Sequence[str],
    units: NDArray[np.int64],
    *,
    draws: int = 2000,
    alpha: float = 0.025,
    seed: int = 0,
) -> Floor:
    """The floor of a set.

    Args:
        labels: Whether each claim is true ``[claims]``.
        columns: Surface numbers by name ``[claims]``.
        texts: What each claim says.
        units: Independent unit of each, numbered from 0 without holes ``[claims]``.
        draws: Bootstrap draws of the interval.
        alpha: One-sided level of its ends.
        seed: Seed of folds, learners and draws.
    """
    truth = np.array(labels, np.float64)
    count = int(units.max()) + 1 if len(units) else 0
    known = {"claims": len(truth), "true": int(truth.sum()), "units": count}
    if why := _too_few(truth, units):
        return Floor(**known, why=why)
    folds = _folds(truth, units, seed)
    table = np.column_stack([columns[name] for name in sorted(columns)])
    scores = {
        LINEAR: _scored(_linear, table, truth, folds, seed),
        BOOSTED: _scored(_boosted, table, truth, folds, seed),
        WORDS: _scored(_worded, np.array(texts, dtype=object), truth, folds, seed),
    }
    clusters = Clusters({"unit": units}, draws, seed)
    areas = Areas(truth, np.ones(len(truth), bool), folds, clusters, scores)
    guesses = [Guess(learner=name, auroc=areas.measure(name).estimate(alpha, 0.5)) for name in scores]
    return Floor(**known, guesses=tuple(sorted(guesses, key=lambda one: (-one.auroc.value, one.learner))))


def _too_few(truth: FloatArray, units: NDArray[np.int64]) -> str:
    for name, rows in (("", slice(None)), ("true ", truth == 1.0), ("false ", truth == 0.0)):
        found = len(np.unique(units[rows]))
        if found < LEAST_UNITS:
            return f"its {name}claims come from {found} independent units, and {LEAST_UNITS} are needed"
    return ""


def _folds(truth: FloatArray, units: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The fold of each claim, units kept whole and labels as even as that allows."""
    from sklearn.model_selection import StratifiedGroupKFold

    folds = np.zeros(len(truth), np.int64)
    splits = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed).split(truth, truth, units)
    for number, (_, held_out) in enumerate(splits):
        folds[held_out] = number
    return folds


def _scored(make: Any, seen: NDArray[Any], truth: FloatArray, folds: NDArray[np.int64], seed: int) -> FloatArray:
    """Each claim's score by a learner that saw the other folds ``[claims]``."""
    scores = np.full(len(truth), 0.5)
    for number in np.unique(folds):
        held_out = folds == number
        if len(np.unique(truth[~held_out])) == 2:
            learner = make(seed).fit(seen[~held_out], truth[~held_out])
            scores[held_out] = learner.predict_proba(seen[held_out])[:, 1]
    return scores


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.5, max_iter=1000, random_state=seed))


def _boosted(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier

    return GradientBoostingClassifier(n_estimators=60, max_depth=2, learning_rate=0.1, random_state=seed)


def _worded(seed: int) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, max_features=20_000)
    return make_pipeline(words, LogisticRegression(C=2.0, max_iter=1000, random_state=seed))
