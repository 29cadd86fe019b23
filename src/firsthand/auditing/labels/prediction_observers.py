"""Observers of a model's behaviour: what the prompts tell to whoever saw some of its answers, or many more of them.

*Matched* observers learn from the examples that the model was shown, no more. *Informed* ones learn from every prompt
of the fit part. Both weigh classes alike, since that is how answers are scored; an informed one chooses how far it
trusts its features on folds that part no group.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.engine import Anatomy, LoadedModel
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.prompts import Prompt
from firsthand.studies.labels.prediction.properties import Settled
from firsthand.studies.labels.reading import states_of

Choice = NDArray[np.float64]
"""The class that an observer gives each judged prompt, NaN where it gives none ``[judged]``."""

_STRENGTHS: Final = (0.001, 0.01, 0.1, 1.0)
_USUAL: Final = 0.01
_FOLDS: Final = 5
_WORD: Final = r"(?u)\b\w+\b"  # a digit alone is a word, too


@dataclass(frozen=True, eq=False)
class Features:
    """What observers see of every prompt, those of the fit part first.

    Attributes:
        embedding_NH: Mean embedding ("layer 0"), ``[prompts, hidden]``.
        words: A bag of words and pairs of words, ``[prompts, words]``, sparse.
    """

    embedding_NH: NDArray[np.float32]
    words: Any

    def named(self) -> dict[str, Any]:
        """Both by name."""
        return {"layer 0": self.embedding_NH, "words": self.words}


def features_of(loaded: LoadedModel, anatomy: Anatomy, prompts: Sequence[Prompt]) -> Features:
    """Read the prompts' embeddings, and count their words; no answer is looked at."""
    texts = [one.shown for one in prompts]
    counted = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=_WORD)
    return Features(states_of(loaded, anatomy, texts, ()).embedding_NH, counted.fit_transform(texts))


def most_frequent(one: Settled) -> Choice:
    """The most frequent class of the fit part, every time."""
    known = one.fit_F[np.isfinite(one.fit_F)].astype(np.int64)
    return np.full(len(one.judged_J), float(np.bincount(known).argmax()))


def matched(bench: Bench, one: Settled, features: Features, count: int) -> dict[str, Choice]:
    """Observers that learn from the examples of each experiment.

    Args:
        bench: What is fixed.
        one: The property.
        features: What they see.
        count: Number of examples; without any there is no such observer.
    """
    if not count:
        return {}
    found = {name: np.full(len(bench.judged), np.nan) for name in features.named()}
    for experiment in range(bench.claim.experiments):
        items = bench.items(one, experiment)
        seen = bench.example_numbers(one, experiment, count)
        for name, of in features.named().items() if items else ():
            learned = _fitted(of[seen], one.fit_F[seen])
            found[name][items] = learned.predict(of[[bench.fit + item for item in items]])
    return {f"{name}, {count} examples": values for name, values in found.items()}


def informed(bench: Bench, one: Settled, features: Features) -> dict[str, Choice]:
    """Observers that learn from every prompt of the fit part that has the property."""
    known = np.flatnonzero(np.isfinite(one.fit_F))
    groups = [bench.prompts[i].group for i in known]
    new = slice(bench.fit, len(bench.prompts))
    return {
        f"{name}, {len(known)} prompts": np.asarray(
            _chosen(of[known], one.fit_F[known], groups).predict(of[new]), dtype=np.float64
        )
        for name, of in features.named().items()
    }


def _fitted(features: Any, labels: NDArray[np.float64]) -> Any:
    if len(set(labels.tolist())) == 1:
        return _Constant(float(labels[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _pipeline(features).fit(features, labels)


def _chosen(features: Any, labels: NDArray[np.float64], groups: Sequence[str]) -> Any:
    """A classifier whose strength is the best on held-out groups; the usual one where groups are too few."""
    folds = min(_FOLDS, len(set(groups)))
    if folds < 2 or len(set(labels.tolist())) == 1:
        return _fitted(features, labels)
    search = GridSearchCV(
        _pipeline(features),
        {"logisticregression__C": _STRENGTHS},
        cv=StratifiedGroupKFold(folds),
        scoring="balanced_accuracy",
        error_score=0.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return search.fit(features, labels, groups=list(groups))


def _pipeline(features: Any) -> Pipeline:
    scaler = StandardScaler(with_mean=isinstance(features, np.ndarray))
    return make_pipeline(scaler, LogisticRegression(C=_USUAL, class_weight="balanced", max_iter=300))


@dataclass(frozen=True)
class _Constant:
    """Gives the one class that it has seen."""

    value: float

    def predict(self, features: Any) -> Choice:
        return np.full(features.shape[0], self.value)
