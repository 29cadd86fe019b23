"""Observers of behaviour: what a prompt tells to whoever saw the same examples of it, or many more of them.

They see the prompt as it is quoted to the model, and classes of other prompts' answers; no state and no answer of the
model that is judged. *Matched* observers learn from the examples that the model was shown, no more. *Informed* ones
learn from every prompt of the fit part. All weigh classes alike, since that is how answers are scored, and choose how
far they trust their features on folds that part no group.

Each kind of feature is scaled so that a prompt has a length of about one in it, whatever the number of features; words
keep the weights of TF-IDF, which are made so already. Neither looks at an answer.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedGroupKFold
from sklearn.preprocessing import StandardScaler

from firsthand.analysis.inference import FloatArray
from firsthand.engine import Anatomy, LoadedModel
from firsthand.studies.labels.prediction.bench import Bench
from firsthand.studies.labels.prediction.prompts import Prompt
from firsthand.studies.labels.prediction.properties import Settled
from firsthand.studies.labels.reading import states_of

Choice = NDArray[np.float64]
"""The class that an observer gives each judged prompt, NaN where it gives none ``[judged]``."""
LAYER_0, WORDS, FORM, EVERYTHING = "layer 0", "words", "form", "everything public"

_STRENGTHS: Final = (0.1, 1.0, 10.0, 100.0, 1000.0)
_USUAL: Final = 10.0
_FOLDS: Final = 5
_WORD: Final = r"(?u)\b\w+\b"  # a digit alone is a word, too


@dataclass(frozen=True, eq=False)
class Features:
    """What observers see of every prompt, those of the fit part first.

    Attributes:
        embedding_NH: Mean embedding ("layer 0"), ``[prompts, hidden]``.
        words: A bag of words and pairs of words, ``[prompts, words]``, sparse.
        form_NF: Length and other outward features (see :func:`form_of`), ``[prompts, features]``.
    """

    embedding_NH: NDArray[np.float32]
    words: Any
    form_NF: FloatArray

    def named(self) -> dict[str, Any]:
        """Each by name, scaled, and all of them together, ``[prompts, features]``."""
        parts = {LAYER_0: scaled(self.embedding_NH), WORDS: self.words, FORM: scaled(self.form_NF)}
        return {**parts, EVERYTHING: together(list(parts.values()))}


@dataclass(frozen=True, eq=False)
class Outsider:
    """What another language model knows of every prompt, those of the fit part first.

    Attributes:
        name: Its name.
        classes_N: The class of what it answers itself, NaN where that has none ``[prompts]``.
        states: For some of its layers, its states of the prompts, ``[prompts, hidden]``.
    """

    name: str
    classes_N: FloatArray
    states: Mapping[int, NDArray[np.float32]]


def features_of(loaded: LoadedModel, anatomy: Anatomy, prompts: Sequence[Prompt]) -> Features:
    """Read the prompts' embeddings, count their words, and measure them; no answer is looked at."""
    texts = [one.shown for one in prompts]
    counted = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=_WORD)
    read = states_of(loaded, anatomy, texts, ())
    return Features(read.embedding_NH, counted.fit_transform(texts), form_of(texts, read.tokens))


def form_of(texts: Sequence[str], tokens: Sequence[int]) -> FloatArray:
    """Logarithms of the tokens, characters and digits of texts, and whether they end in "?" or "," ``[texts, 5]``."""
    rows = [
        [
            np.log1p(count),
            np.log1p(len(text)),
            np.log1p(sum(character.isdigit() for character in text)),
            float(text.endswith("?")),
            float(text.endswith(",")),
        ]
        for text, count in zip(texts, tokens, strict=True)
    ]
    return np.asarray(rows, dtype=np.float64)


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
    named = features.named()
    found = {name: np.full(len(bench.judged), np.nan) for name in named}
    for experiment in range(bench.claim.experiments):
        items = bench.items(one, experiment)
        seen = bench.example_numbers(one, experiment, count)
        groups = [bench.prompts[i].group for i in seen]
        for name, of in named.items() if items else ():
            learned = classifier(of[seen], one.fit_F[seen], groups)[0]
            found[name][items] = learned.predict(of[[bench.fit + item for item in items]])
    return {f"{name}, {count} examples": values for name, values in found.items()}


def informed(
    bench: Bench, one: Settled, features: Features, outsiders: Sequence[Outsider] = ()
) -> dict[str, FloatArray]:
    """Observers that learn from every prompt of the fit part that has the property.

    Args:
        bench: What is fixed.
        one: The property.
        features: What they see.
        outsiders: Other models: their states are an observer each, of the layer that does best on held-out groups, and
            what they answer themselves is a part of everything that is public.

    Returns:
        The log-probability that each gives the classes of each judged prompt, ``[judged, classes]``.
    """
    known = np.flatnonzero(np.isfinite(one.fit_F))
    named = features.named()
    own = [one_hot(other.classes_N, len(one.classes)) for other in outsiders]
    named[EVERYTHING] = together([named[EVERYTHING], *own])
    found = {f"{name}, {len(known)} prompts": _foretold(bench, one, known, [of]) for name, of in named.items()}
    for other in outsiders:
        states = [scaled(of) for of in other.states.values()]
        if states:
            found[f"{other.name}, its states of {len(known)} prompts"] = _foretold(bench, one, known, states)
    return found


def likelier(logprobs_JC: FloatArray) -> Choice:
    """The likelier class, NaN where nothing was learned ``[judged]``."""
    lacking = ~np.isfinite(logprobs_JC).all(axis=1)
    return np.where(lacking, np.nan, np.nan_to_num(logprobs_JC).argmax(axis=1).astype(np.float64))


def scaled(features: NDArray[Any]) -> FloatArray:
    """Features of mean 0 that together give a prompt a length of about one, ``[prompts, features]``."""
    values = StandardScaler().fit_transform(np.asarray(features, dtype=np.float64))
    return np.asarray(values / np.sqrt(values.shape[1]), dtype=np.float64)


def together(parts: Sequence[Any]) -> Any:
    """Features of several kinds side by side, sparse ``[prompts, features]``."""
    return sparse.hstack([sparse.csr_matrix(one) for one in parts], format="csr")


def one_hot(classes_N: FloatArray, classes: int) -> FloatArray:
    """A column for each class, all 0 where there is none ``[prompts, classes]``."""
    return np.asarray(classes_N[:, None] == np.arange(classes), dtype=np.float64)


def classifier(features: Any, labels: FloatArray, groups: Sequence[str]) -> tuple[Any, float]:
    """A classifier whose strength is the best on held-out groups, and how well it does on them.

    Where groups or examples of a class are too few the strength is the usual one, and nothing is known of its worth.
    """
    counts = np.unique(labels, return_counts=True)[1]
    if len(counts) == 1:
        return _Constant(float(labels[0])), float("nan")
    folds = min(_FOLDS, len(set(groups)), int(counts.min()))
    plain = LogisticRegression(C=_USUAL, class_weight="balanced", max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if folds < 2:
            return plain.fit(features, labels), float("nan")
        folded = StratifiedGroupKFold(folds)
        search = GridSearchCV(plain, {"C": _STRENGTHS}, cv=folded, scoring="balanced_accuracy", error_score=0.0)
        search.fit(features, labels, groups=list(groups))
    return search.best_estimator_, float(search.best_score_)


def logprobs_of(learned: Any, features: Any, classes: int) -> FloatArray:
    """Log-probabilities that a classifier gives all classes, of which it may not have seen some ``[rows, classes]``."""
    found = np.full((features.shape[0], classes), np.log(1e-6))
    if isinstance(learned, _Constant):
        found[:, int(learned.value)] = 0.0
    else:
        found[:, learned.classes_.astype(int)] = np.maximum(learned.predict_log_proba(features), np.log(1e-6))
    return found


def _foretold(bench: Bench, one: Settled, known: NDArray[np.int64], candidates: Sequence[Any]) -> FloatArray:
    """What the best of several classifiers gives the judged prompts, chosen on groups of the fit part."""
    groups = [bench.prompts[i].group for i in known]
    fitted = [classifier(of[known], one.fit_F[known], groups) for of in candidates]
    best = int(np.nanargmax([-1.0 if np.isnan(worth) else worth for _, worth in fitted]))
    return logprobs_of(fitted[best][0], candidates[best][bench.fit :], len(one.classes))


@dataclass(frozen=True)
class _Constant:
    """Gives the one class that it has seen."""

    value: float

    def predict(self, features: Any) -> Choice:
        return np.full(features.shape[0], self.value)
