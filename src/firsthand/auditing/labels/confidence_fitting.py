"""Fits on other questions: what is fitted is read on folds with whole subjects held out, where there are enough.

A prediction that is held out carries the base rate of the other folds, which is higher where the own fold is lower; of
every fold the mean over its training rows is taken off, so that knowing nothing is worth one half and not less.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.analysis.auroc import area
from firsthand.analysis.inference import FloatArray

FOLDS: Final = 5
STRENGTHS: Final = (1e-3, 1e-2, 1.0)
COMPONENTS: Final = 16
WORD: Final = r"\w+|[^\w\s]+"
"""Words of one letter and runs of signs count, too: an option may be nothing else."""


@dataclass(frozen=True, eq=False)
class Features:
    """What an observer of several kinds of things learns from, one row a question.

    Attributes:
        numbers: Numbers, used as they are ``[questions, features]``.
        embeddings: Mean embeddings of several texts, each ``[questions, hidden]``, used by their principal components.
        texts: A text of each question, used by its words; ``None`` for none.
    """

    numbers: FloatArray
    embeddings: Sequence[NDArray[np.float32]] = ()
    texts: NDArray[Any] | None = None


def words() -> Pipeline:
    """Words and pairs of words, weighted by how few texts hold them."""
    return make_pipeline(_vectorizer(), _regression())


def dense() -> Pipeline:
    """Numbers as they are."""
    return make_pipeline(StandardScaler(), _regression())


def together(features: Features, right: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """What is foreseen from numbers, embeddings and words at once, each held out (see :func:`held_out`)."""
    known = [len(train) for train, _ in splits(right, groups)]
    blocks: list[NDArray[Any]] = [features.numbers]
    parts: list[tuple[str, Any, Any]] = [("numbers", StandardScaler(), slice(0, features.numbers.shape[1]))]
    start = features.numbers.shape[1]
    for number, embedding in enumerate(features.embeddings):
        components = min((COMPONENTS, embedding.shape[1], *known))  # no more than a fold has rows to find them in
        if components > 0:
            reduced = make_pipeline(StandardScaler(), PCA(components, random_state=0))
            parts.append((f"embedding {number}", reduced, slice(start, start + embedding.shape[1])))
            blocks.append(embedding)
            start += embedding.shape[1]
    if features.texts is not None:
        parts.append(("words", _vectorizer(), start))
        blocks = [block.astype(object) for block in (*blocks, features.texts[:, None])]
    model = make_pipeline(ColumnTransformer(parts), _regression())
    return held_out(model, np.concatenate(blocks, axis=1), right, groups)


def held_out(model: Pipeline, features: NDArray[Any], right: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Log odds of a right answer, each from a fit that saw none of its group, above the mean of that fit's own rows.

    Args:
        model: A pipeline that ends in a logistic regression.
        features: One row a question.
        right: 1 or 0, NaN where nothing can be learned from an answer.
        groups: What must not be on both sides of a split.

    Returns:
        Log odds ``[questions]``; 0 where a fit would have seen one class only.
    """
    values = np.zeros(len(right))
    for train, test in splits(right, groups):
        fitted = _fitted(model, features[train], right[train].astype(np.int64), groups[train])
        values[test] = fitted.decision_function(features[test]) - fitted.decision_function(features[train]).mean()
    return values


def splits(
    right: FloatArray, groups: NDArray[np.int64], folds: int = FOLDS
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows to learn from, all with a valid answer, and rows to be foreseen; only where both classes can be learned."""
    names = np.unique(groups)
    count = min(folds, len(names))
    if count < 2:
        return
    # Folds are dealt out in the order of the groups' numbers; questions come subject by subject in turn, so without a
    # lot all questions of a subject might fall into one fold.
    mixed = np.random.default_rng(0).permutation(len(names))[np.searchsorted(names, groups)]
    for train, test in GroupKFold(count).split(np.zeros(len(right)), groups=mixed):
        known = train[np.isfinite(right[train])]
        if len(np.unique(right[known])) == 2:
            yield known, test


def _fitted(model: Pipeline, features: NDArray[Any], right: NDArray[np.int64], groups: NDArray[np.int64]) -> Pipeline:
    inner = [
        (train, test) for train, test in splits(right.astype(np.float64), groups, 3) if len(np.unique(right[test])) == 2
    ]
    made = clone(model)
    name, last = made.steps[-1]
    if not inner:
        made.steps[-1] = (name, LogisticRegression(C=STRENGTHS[1], max_iter=1000))
    else:
        last.set_params(cv=inner)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made.fit(features, right)


def _vectorizer() -> TfidfVectorizer:
    return TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=WORD)


def _regression() -> LogisticRegressionCV:
    return LogisticRegressionCV(Cs=list(STRENGTHS), max_iter=1000, scoring="neg_log_loss")


def probe(states_NLH: NDArray[np.float32], right: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Whether an answer is right, as a probe reads it in the activations; the layer is chosen on other folds.

    Args:
        states_NLH: Residual streams, ``[questions, layers, hidden]``.
        right: 1 or 0, NaN where an answer is invalid.
        groups: What must not be on both sides of a split.

    Returns:
        Above 0 for a right answer ``[questions]``; NaN where nothing could be fitted.
    """
    model = make_pipeline(
        StandardScaler(), LogisticRegressionCV(Cs=list(STRENGTHS), max_iter=1000, class_weight="balanced")
    )
    values = np.full(len(right), np.nan)
    for train, test in splits(right, groups):
        layer = _best_layer(model, states_NLH[train], right[train], groups[train])
        fitted = _fitted(model, states_NLH[train, layer], right[train].astype(np.int64), groups[train])
        values[test] = fitted.decision_function(states_NLH[test, layer])
    return values


def _best_layer(model: Pipeline, states_NLH: NDArray[np.float32], right: FloatArray, groups: NDArray[np.int64]) -> int:
    plain = make_pipeline(StandardScaler(), LogisticRegression(C=STRENGTHS[2], max_iter=1000, class_weight="balanced"))
    scores = []
    for layer in range(states_NLH.shape[1]):
        read = np.zeros(len(right))
        for train, test in splits(right, groups, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = plain.fit(states_NLH[train, layer], right[train])
            read[test] = fitted.decision_function(states_NLH[test, layer])
        scores.append(np.nan_to_num(area(right, read).value, nan=0.5))
    return int(np.argmax(scores))
