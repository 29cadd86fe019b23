"""What the surface of an edit gives away: its kind, size and place, and the baseline rate, without any text."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import changes
from firsthand.counterfactual.predicting.predictors.crossfit import cross_fitted, logistic
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt

_KINDS: Final = ("replace", "rewrite", "drop", "insert")
_REGULARISED: Final = 0.5
_BREAK: Final = "\n\u241e\n"
"""Stands between turns; in no way part of them."""


def surface(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """A logistic regression on :func:`features`, fitted on other clusters."""
    rows = np.array([features(claim) for claim in claims], dtype=np.float64)

    def fit(train: Sequence[int], labels: NDArray[np.int64], test: Sequence[int]) -> NDArray[np.float64]:
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        model = make_pipeline(StandardScaler(), logistic(_REGULARISED)).fit(rows[list(train)], labels)
        return np.asarray(model.predict_proba(rows[list(test)])[:, 1], dtype=np.float64)

    return cross_fitted("surface", 1, claims, questions, fit)


def features(claim: Claim) -> list[float]:
    """Numbers of an edit, none of which depends on what any text says or on what the edit did.

    Kinds of operations; characters that went and came, as they are and beside the prompt's length; where the first and
    last change stand, from 0 to 1; the turn that is changed first, from the end; lengths of prompt and description;
    the baseline rate and its distance from one half, which bound how far a rate can move.
    """
    operations = claim.edit.operations
    counts = [float(sum(one.kind == kind for one in operations)) for kind in _KINDS]
    gone, new, first, last = _measured(_text(claim.prompt), _text(claim.edited))
    size = max(1, claim.prompt.characters)
    share = claim.baseline.share
    rate = 0.5 if share is None else share
    last_turn = len(claim.prompt.turns) - 1
    return [
        *counts,
        float(np.log1p(gone)),
        float(np.log1p(new)),
        gone / size,
        new / size,
        first,
        last,
        float(max(0, last_turn - min(one.turn for one in operations))),
        float(new == 0),
        float(np.log1p(size)),
        float(np.log1p(len(claim.intervention))),
        rate,
        abs(rate - 0.5),
        max(rate, 1.0 - rate),
    ]


def _text(prompt: Prompt) -> str:
    return _BREAK.join(turn.content for turn in prompt.turns)


def _measured(before: str, after: str) -> tuple[int, int, float, float]:
    """Characters that went and that came, and where the first and the last of the changes stand."""
    gone = new = at = 0
    places: list[int] = []
    for kind, text in changes(before, after):
        if kind == "same":
            at += len(text)
            continue
        places.append(at)
        if kind == "gone":
            gone += len(text)
            at += len(text)
            places.append(at)
        else:
            new += len(text)
    size = max(1, len(before))
    return gone, new, (min(places) if places else 0) / size, (max(places) if places else 0) / size
