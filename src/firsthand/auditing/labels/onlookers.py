"""Observers of labelled texts: what the texts tell to whoever was shown the same labels, or many more of them.

*Matched* observers learn from the shots that the model was shown, no more (arXiv 2605.26242, section 5.1.1: probes on
the mean of the embedding, "layer 0"). *Informed* ones learn from all texts that the axes were fitted on, labelled along
the same axis: the report has to beat the best reader of the text, not one that is short of examples.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from firsthand.states.axes import logistic_axis

Choice = NDArray[np.float64]
"""The class that an observer gives each answer, NaN where it was not asked ``[answers]``."""


def matched(
    embedding_NH: NDArray[np.float32],
    texts: Sequence[str],
    labels: NDArray[np.int64],
    asked_A2: NDArray[np.int64],
    judged_from: int,
) -> dict[str, Choice]:
    """Observers that learn from the shots before each answer.

    Args:
        embedding_NH: Mean embedding of each text of the conversation, in its order, ``[texts, hidden]``.
        texts: The texts.
        labels: Their labels.
        asked_A2: For each answer the number of shots before it and the place of its text, ``[answers, 2]``.
        judged_from: Answers after fewer shots are left out.

    Returns:
        What each gives: ``layer 0``, ``words`` (a bag of words), ``most frequent``.
    """
    words = _counted(texts)
    found = {name: np.full(len(asked_A2), np.nan) for name in ("layer 0", "words", "most frequent")}
    for count in sorted(set(asked_A2[:, 0].tolist()) - set(range(max(judged_from, 1)))):
        here = asked_A2[:, 0] == count
        seen, queries = labels[:count], asked_A2[here, 1]
        found["most frequent"][here] = float(seen.mean() > 0.5)
        for name, features in (("layer 0", embedding_NH), ("words", words)):
            found[name][here] = _given(features[:count], seen, features[queries])
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
    seen, new = vectorizer.fit_transform(fit_texts), vectorizer.transform(texts)
    folds = min(3, int(np.bincount(fit_labels, minlength=2).min()))
    words = LogisticRegression(solver="liblinear", class_weight="balanced")
    if folds > 1:
        words = GridSearchCV(words, {"C": (0.1, 1.0, 10.0)}, cv=folds, scoring="balanced_accuracy")
    probe = logistic_axis(fit_NH, fit_labels)  # its regularisation is chosen on those texts: no weak opponent
    return {
        f"layer 0, {len(fit_texts)} texts": (probe.scores(embedding_NH) > 0).astype(np.float64),
        f"words, {len(fit_texts)} texts": words.fit(seen, fit_labels).predict(new).astype(np.float64),
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


def _given(seen: NDArray[np.floating], labels: NDArray[np.int64], new: NDArray[np.floating]) -> Choice:
    if len(set(labels.tolist())) == 1:
        return np.full(len(new), float(labels[0]))
    # Its regularisation is chosen by leaving out one shot at a time: no weak opponent with few shots or many.
    learner = RidgeClassifierCV(alphas=np.logspace(-1, 5, 7), class_weight="balanced")
    return np.asarray(make_pipeline(StandardScaler(), learner).fit(seen, labels).predict(new), dtype=np.float64)
