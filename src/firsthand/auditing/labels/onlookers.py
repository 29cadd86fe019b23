"""Observers of labelled texts: what the texts tell to whoever was shown the same labels, or many more of them.

*Matched* observers learn from the shots that the model was shown, no more (arXiv 2605.26242, section 5.1.1: probes on
the mean of the embedding, "layer 0"). *Informed* ones learn from all texts that the axes were fitted on, labelled along
the same axis: the report has to beat the best reader of the text, not one that is short of examples.
"""

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.states.axes import logistic_axis

Choice = NDArray[np.float64]
"""The class that an observer gives each answer, NaN where it was not asked ``[answers]``."""


def matched(
    embedding_NH: NDArray[np.float32], texts: Sequence[str], labels: NDArray[np.int64], judged_from: int
) -> dict[str, Choice]:
    """Observers that learn from the shots before each answer.

    Args:
        embedding_NH: Mean embedding of each text of the conversation, in its order, ``[shots, hidden]``.
        texts: The texts.
        labels: Their labels.
        judged_from: Answers after fewer shots are left out.

    Returns:
        What each gives: ``layer 0``, ``words`` (a bag of words), ``most frequent``.
    """
    words = _counted(texts)
    found = {name: np.full(len(texts), np.nan) for name in ("layer 0", "words", "most frequent")}
    for place in range(max(judged_from, 1), len(texts)):
        seen = labels[:place]
        found["most frequent"][place] = float(seen.mean() > 0.5)
        for name, features in (("layer 0", embedding_NH), ("words", words)):
            found[name][place] = _one(features[:place], seen, features[place : place + 1])
    return found


def informed(
    fit_NH: NDArray[np.float32],
    fit_texts: Sequence[str],
    fit_labels: NDArray[np.int64],
    embedding_NH: NDArray[np.float32],
    texts: Sequence[str],
) -> dict[str, Choice]:
    """Observers that learn from every text that the axes were fitted on.

    Args:
        fit_NH: Mean embedding of those texts, ``[texts, hidden]``.
        fit_texts: The texts.
        fit_labels: Their labels along the axis.
        embedding_NH: Mean embedding of the texts to be labelled, ``[answers, hidden]``.
        texts: The texts to be labelled.
    """
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    words = _fitted(vectorizer.fit_transform(fit_texts), fit_labels).predict(vectorizer.transform(texts))
    probe = logistic_axis(fit_NH, fit_labels)  # its regularisation is chosen on those texts: no weak opponent
    return {
        f"layer 0, {len(fit_texts)} texts": (probe.scores(embedding_NH) > 0).astype(np.float64),
        f"words, {len(fit_texts)} texts": words.astype(np.float64),
    }


def meanings(fit_meant: NDArray[np.int64], fit_labels: NDArray[np.int64], meant: NDArray[np.int64]) -> Choice:
    """An observer that knows what the data call each text, and which label that mostly goes with.

    Args:
        fit_meant: What the data call the texts that the axes were fitted on, 0 or 1.
        fit_labels: Their labels along the axis.
        meant: What the data call the texts to be labelled.
    """
    mostly = [float(fit_labels[fit_meant == one].mean() > 0.5) for one in (0, 1)]
    return np.where(meant == 1, mostly[1], mostly[0])


def _counted(texts: Sequence[str]) -> NDArray[np.float64]:
    """Words of each text, weighted by how few texts hold them: their labels are not looked at."""
    found = TfidfVectorizer(sublinear_tf=True).fit_transform(texts)
    return np.asarray(found.toarray(), dtype=np.float64)


def _one(seen: NDArray[np.floating], labels: NDArray[np.int64], new: NDArray[np.floating]) -> float:
    if len(set(labels.tolist())) == 1:
        return float(labels[0])
    return float(_fitted(seen, labels).predict(new)[0])


def _fitted(features: object, labels: NDArray[np.int64]) -> Pipeline:
    scaler = StandardScaler(with_mean=isinstance(features, np.ndarray))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return make_pipeline(scaler, LogisticRegression(C=0.01, max_iter=300)).fit(features, labels)
