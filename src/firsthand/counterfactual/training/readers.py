"""Who foretells without being a model: floors, and a reader of words, fitted on the training claims.

They see what the floors of `firsthand predict` see, and are fitted on the very claims that the models are trained on.
"""

from collections.abc import Sequence

import numpy as np

from firsthand.analysis.inference import FloatArray
from firsthand.counterfactual.predicting.predictions import Kind, Prediction
from firsthand.counterfactual.predicting.predictors.crossfit import logistic
from firsthand.counterfactual.predicting.predictors.surface import scaled
from firsthand.counterfactual.predicting.predictors.words import text_of, weighted
from firsthand.counterfactual.surface import table_of
from firsthand.counterfactual.training.examples import Item

FLOOR, SURFACE, WORDS = "always the same", "surface", "words"


def readers(train: Sequence[Item], held_out: Sequence[Item]) -> dict[tuple[str, Kind], list[Prediction]]:
    """Predictions of everybody who only reads, by name and kind.

    *Always the same* gives the share of true claims. *Surface* sees the edit's kind, size and place, lengths and the
    baseline. *Words* sees which words and signs occur in transcript and claim.

    Args:
        train: Claims to fit on.
        held_out: Claims to foretell.
    """
    labels = np.array([item.label for item in train])
    share = np.full(len(held_out), labels.mean())
    rows = table_of([item.claim for item in (*train, *held_out)])
    by_surface = scaled().fit(rows[: len(train)], labels)
    seen, asked = weighted(*([text_of(item.question) for item in some] for some in (train, held_out)))
    by_words = logistic(1.0).fit(seen, labels)
    return {
        (FLOOR, "floor"): _said(FLOOR, held_out, share),
        (SURFACE, "floor"): _said(SURFACE, held_out, by_surface.predict_proba(rows[len(train) :])[:, 1]),
        (WORDS, "observer"): _said(WORDS, held_out, by_words.predict_proba(asked)[:, 1]),
    }


def _said(name: str, items: Sequence[Item], probabilities: FloatArray) -> list[Prediction]:
    return [
        Prediction(claim=item.id, predictor=name, probability=float(p))
        for item, p in zip(items, probabilities, strict=True)
    ]
