"""What the words of claim and transcript give away, to a reader who does not understand them."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.documents import transcript
from firsthand.counterfactual.predicting.predictors.crossfit import cross_fitted, logistic
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.questions import Question

_REGULARISED: Final = 1.0


def words(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """A logistic regression on the words of claim and transcript, weighted by rarity, fitted on other clusters."""
    texts = [text_of(question) for question in questions]

    def fit(train: Sequence[int], labels: NDArray[np.int64], test: Sequence[int]) -> NDArray[np.float64]:
        seen, asked = weighted([texts[n] for n in train], [texts[n] for n in test])
        model = logistic(_REGULARISED).fit(seen, labels)
        return np.asarray(model.predict_proba(asked)[:, 1], dtype=np.float64)

    return cross_fitted("words", 1, claims, questions, fit)


def text_of(question: Question) -> str:
    """All that a reader is shown."""
    return "\n".join([question.text, *(text for _, text in transcript(question))])


def weighted(seen: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    """Words and word pairs of texts, rare ones weighing more; what the first texts do not hold is not counted."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    # A single letter is a word here: texts without any longer one must not be refused.
    words = {"token_pattern": r"(?u)\b\w+\b|\S"}
    counter = TfidfVectorizer(ngram_range=(1, 2), min_df=2 if len(seen) > 20 else 1, sublinear_tf=True, **words)
    return counter.fit_transform(seen), counter.transform(asked)
