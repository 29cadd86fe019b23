"""Observers of labelled texts: what the texts tell to whoever was shown the same labels, or many more of them.

*Matched* observers learn from the shots that the model was shown, no more (arXiv 2605.26242, section 5.1.1: probes on
the mean of the embedding, "layer 0"). *Informed* ones learn from hundreds of other texts labelled along the same axis.
Those are texts on which the axis was *not* fitted: on the ones that it was fitted on, a probe of many dimensions says
what it was taught, and whoever learned from that would learn another label than the one that is judged.

The report has to beat the best reader of the text, so each observer chooses its regularisation, on held-out groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Choice = NDArray[np.float64]
"""The class that an observer gives each answer, NaN where it was not asked ``[answers]``."""

DENSE, SPARSE = (1e1, 1e2, 1e3, 1e4), (0.1, 1.0, 10.0)
"""Regularisations to choose from, for features of unit variance and for weighted words."""
OTHER_TEXTS = "other texts"
_TOPICS = 64  # of a bag of words, where it stands beside other features


@dataclass(frozen=True, eq=False)
class Seen:
    """What anybody may see of some texts.

    Attributes:
        texts: The texts.
        embedding_NH: Mean embedding of each, ``[texts, hidden]``.
        groups: What must not be parted when a regularisation is chosen, such as contrast pairs.
    """

    texts: tuple[str, ...]
    embedding_NH: NDArray[np.float32]
    groups: tuple[int, ...]

    @property
    def form(self) -> NDArray[np.float64]:
        """Length and punctuation, which neither mean embeddings nor weighted words hold, ``[texts, features]``."""
        return np.array([_form(text) for text in self.texts], dtype=np.float64)


def matched(shown: Seen, labels: NDArray[np.int64], asked_A2: NDArray[np.int64], judged_from: int) -> dict[str, Choice]:
    """Observers that learn from the shots before each answer.

    Args:
        shown: The texts of the conversation, in its order.
        labels: Their labels.
        asked_A2: For each answer the number of shots before it and the place of its text, ``[answers, 2]``.
        judged_from: Answers after fewer shots are left out.

    Returns:
        What each gives: ``layer 0``, ``words`` (a bag of words), ``form``, ``most frequent``.
    """
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(shown.texts).toarray()  # no label is looked at
    features = {"layer 0": shown.embedding_NH, "words": words, "form": shown.form}
    found = {name: np.full(len(asked_A2), np.nan) for name in (*features, "most frequent")}
    for count in sorted(set(asked_A2[:, 0].tolist()) - set(range(max(judged_from, 1)))):
        here = asked_A2[:, 0] == count
        seen, queries = labels[:count], asked_A2[here, 1]
        found["most frequent"][here] = float(seen.mean() > 0.5)
        for name, values in features.items():
            found[name][here] = _given(values[:count], seen, values[queries])
    return found


def informed(known: Seen, labels: NDArray[np.int64], asked: Seen) -> dict[str, Choice]:
    """Observers that learn from other texts.

    With classes as they occur, so that an observer knows how frequent each label is; and, of everything together, once
    more with both classes counting alike, which is what accuracies are balanced to.

    Args:
        known: The texts to learn from.
        labels: Their labels along the axis, of both classes.
        asked: The texts to be labelled.
    """
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2 if len(labels) > 100 else 1)
    words = vectorizer.fit_transform(known.texts), vectorizer.transform(asked.texts)
    layer0, form = (known.embedding_NH, asked.embedding_NH), (known.form, asked.form)
    topics = TruncatedSVD(min(_TOPICS, min(words[0].shape) - 1), random_state=0) if min(words[0].shape) > 2 else None
    blocks = [layer0, form] + ([(topics.fit_transform(words[0]), topics.transform(words[1]))] if topics else [])
    everything = np.hstack([block[0] for block in blocks]), np.hstack([block[1] for block in blocks])
    found = {
        "layer 0": predicted(*layer0, labels, known.groups)[0],
        "words": predicted(*words, labels, known.groups)[0],
        "form": predicted(*form, labels, known.groups)[0],
    }
    found["everything"], found["everything, classes alike"] = predicted(*everything, labels, known.groups)
    return {f"{name}, {OTHER_TEXTS}": values for name, values in found.items()}


def meanings(known_meant: NDArray[np.int64], labels: NDArray[np.int64], meant: NDArray[np.int64]) -> Choice:
    """An observer that knows what the data call each text, and which label that mostly goes with.

    Args:
        known_meant: What the data call the texts to learn from, 0 or 1.
        labels: Their labels along the axis.
        meant: What the data call the texts to be labelled.
    """
    usual = float(labels.mean() > 0.5)
    mostly = [float(labels[known_meant == one].mean() > 0.5) if (known_meant == one).any() else usual for one in (0, 1)]
    return np.where(meant == 1, mostly[1], mostly[0])


def predicted(seen: Any, new: Any, labels: NDArray[np.int64], groups: Sequence[int]) -> tuple[Choice, Choice]:
    """Labels that a linear classifier gives, its regularisation chosen on held-out groups.

    Args:
        seen: Features to learn from, dense (standardised here) or sparse.
        new: Features of what is to be labelled.
        labels: Labels of the former, of both classes.
        groups: What must not be parted.

    Returns:
        What it gives with classes as they occur, and with both classes counting alike.
    """
    if isinstance(seen, np.ndarray):
        scaler = StandardScaler().fit(seen)
        seen, new = scaler.transform(seen), scaler.transform(new)
    chosen = _chosen(seen, labels, groups)
    alike = RidgeClassifier(alpha=chosen.best_params_["alpha"], class_weight="balanced").fit(seen, labels)
    return chosen.predict(new).astype(np.float64), alike.predict(new).astype(np.float64)


def worth(seen: NDArray[np.floating], labels: NDArray[np.int64], groups: Sequence[int]) -> float:
    """Accuracy of such a classifier on held-out groups, by which layers may be chosen without the judged texts."""
    return float(_chosen(StandardScaler().fit_transform(seen), labels, groups).best_score_)


def _chosen(seen: Any, labels: NDArray[np.int64], groups: Sequence[int]) -> GridSearchCV:
    """The best of some regularisations on held-out groups, or on held-out texts where there is one group only."""
    apart = len(set(groups)) > 1
    folds = GroupKFold(min(3, len(set(groups)))) if apart else KFold(2)
    alphas = DENSE if isinstance(seen, np.ndarray) else SPARSE
    search = GridSearchCV(RidgeClassifier(), {"alpha": alphas}, cv=folds, scoring="accuracy")
    return search.fit(seen, labels, groups=np.asarray(groups) if apart else None)


def _given(seen: NDArray[np.floating], labels: NDArray[np.int64], new: NDArray[np.floating]) -> Choice:
    if len(set(labels.tolist())) == 1:
        return np.full(len(new), float(labels[0]))
    # Regularised by leaving out one shot at a time: no weak opponent with few shots or many.
    learner = RidgeClassifierCV(alphas=(0.1, 1.0, *DENSE, 1e5), class_weight="balanced")
    return np.asarray(make_pipeline(StandardScaler(), learner).fit(seen, labels).predict(new), dtype=np.float64)


def _form(text: str) -> list[float]:
    words = text.split()
    return [
        np.log1p(len(words)),
        np.log1p(len(text)),
        len(text) / max(1, len(words)),
        float(text.rstrip().endswith(".")),
        float("?" in text),
        float(sum(character.isdigit() for character in text)),
        float(text.count(",")),
        float(any(mark in text for mark in "\"'“”‘’")),
    ]
