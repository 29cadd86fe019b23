"""A supervised classifier on public traces: words and public numbers, logistic regression."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.observers.base import Past
from firsthand.observers.features import matrix, text
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

LEAST_TEXTS = 3
"""In how many past texts a word must occur to be used."""


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
            ngram_range=(1, 2),
            min_df=LEAST_TEXTS,
            sublinear_tf=True,
            analyzer="word",
            tokenizer=str.split,
            token_pattern=None,
        )
        both = csr_matrix(matrix([*past.views, *views]))
        train, test = both[: len(past.views)], both[len(past.views) :]
        texts = [text(v) for v in past.views]
        if _has_frequent_word(texts):
            train = hstack([words.fit_transform(texts), train]).tocsr()
            test = hstack([words.transform([text(v) for v in views]), test]).tocsr()
        model = LogisticRegression(C=0.5, max_iter=1000).fit(train, past.truth)
        return np.asarray(model.predict_proba(test)[:, 1])


def _has_frequent_word(texts: Sequence[str]) -> bool:
    counts = Counter(word for text in texts for word in set(text.lower().split()))
    return max(counts.values(), default=0) >= LEAST_TEXTS
