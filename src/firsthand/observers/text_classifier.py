"""A supervised classifier on public traces: words and public numbers, logistic regression."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.observers.base import Past
from firsthand.observers.features import matrix, text
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability


class TextClassifier:
    """TF-IDF of the visible text's words and word pairs, beside the public numbers, in one logistic regression."""

    name = "text_classifier"

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """Fit on the past and give the probability of truth 1; the past's base rate if it held one class only."""
        from scipy.sparse import csr_matrix, hstack
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression

        if len(set(past.truth.tolist())) < 2:
            return np.full(len(views), float(np.mean(past.truth)))
        words = TfidfVectorizer(
            ngram_range=(1, 2), min_df=3, sublinear_tf=True, analyzer="word", tokenizer=str.split, token_pattern=None
        )
        past_words = words.fit_transform([text(v) for v in past.views])
        both = matrix([*past.views, *views])
        train = hstack([past_words, csr_matrix(both[: len(past.views)])]).tocsr()
        test = hstack([words.transform([text(v) for v in views]), csr_matrix(both[len(past.views) :])]).tocsr()
        model = LogisticRegression(C=0.5, max_iter=1000).fit(train, past.truth)
        return np.asarray(model.predict_proba(test)[:, 1])
