"""Who foretells without being a model: floors, and readers of words that were fitted on the training claims.

They are fitted on the very claims that the models are trained on, and judged on the same held-out ones.
"""

from collections.abc import Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from firsthand.counterfactual.predicting.predictions import Kind, Prediction
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.training.examples import Item

FLOOR, SURFACE, WORDS = "always the same", "lengths", "words"


def readers(train: Sequence[Item], held_out: Sequence[Item]) -> dict[tuple[str, Kind], list[Prediction]]:
    """Predictions of everybody who only reads, by name and kind.

    *Always the same* gives the share of true claims. *Lengths* sees how long prompt, response, edit and claim are, and
    the baseline. *Words* sees how often every word and sign of transcript and claim occurs.

    Args:
        train: Claims to fit on.
        held_out: Claims to foretell.
    """
    labels = np.array([item.label for item in train])
    share = float(labels.mean())
    asked = [item.question for item in held_out]
    known = [item.question for item in train]
    found: dict[tuple[str, Kind], list[Prediction]] = {(FLOOR, "floor"): _said(FLOOR, asked, [share] * len(asked))}
    fitted: tuple[tuple[str, Kind, Pipeline], ...] = (
        (SURFACE, "floor", make_pipeline(FunctionTransformer(_lengths), StandardScaler(), _regression())),
        (WORDS, "observer", make_pipeline(FunctionTransformer(_texts), _counts(), _regression())),
    )
    for name, kind, model in fitted:
        model.fit(known, labels)
        found[name, kind] = _said(name, asked, model.predict_proba(asked)[:, list(model.classes_).index(True)])
    return found


def _regression() -> LogisticRegression:
    return LogisticRegression(max_iter=2000)


def _counts() -> CountVectorizer:
    return CountVectorizer(token_pattern=r"\w+|[^\w\s]")  # noqa: S106 - tokens of text


def _texts(questions: Sequence[Question]) -> list[str]:
    return ["\n".join(turn.content for turn in question.follow_up.turns) for question in questions]


def _lengths(questions: Sequence[Question]) -> np.ndarray:
    return np.array(
        [
            [
                question.prompt.characters,
                len(question.response.text),
                len(question.intervention),
                len(question.intervention.split()),
                len(question.text),
                0.5 if question.baseline is None else question.baseline,
            ]
            for question in questions
        ],
        dtype=np.float64,
    )


def _said(name: str, questions: Sequence[Question], probabilities: Sequence[float]) -> list[Prediction]:
    return [
        Prediction(claim=question.claim, predictor=name, probability=float(p))
        for question, p in zip(questions, probabilities, strict=True)
    ]
