"""Predictors that run no model: floors, one a file, by name.

==============  ==============================================================================================
``always-yes``  says that every edit matters
``base-rate``   is told the share of true claims, and nothing else
``surface``     learns from the edit's kind, size and place, and from the baseline rate
``words``       learns from the words of claim and transcript
``nearest``     says what the most similar claims of other clusters turned out to be
==============  ==============================================================================================

A predictor that learns does so from the labels of other clusters than it is judged on. One that is not ahead of these
has shown nothing that the surface does not give away.
"""

from collections.abc import Callable, Sequence
from typing import Final

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.predictions import Predictor
from firsthand.counterfactual.predicting.predictors.constant import always_yes, base_rate
from firsthand.counterfactual.predicting.predictors.nearest import nearest
from firsthand.counterfactual.predicting.predictors.surface import surface
from firsthand.counterfactual.predicting.predictors.words import words
from firsthand.counterfactual.predicting.questions import Question
from firsthand.errors import CounterfactualError

Make = Callable[[Sequence[Claim], Sequence[Question]], Predictor]
"""Makes a predictor from all claims, whose labels it may learn from across clusters, and their questions."""

FLOORS: Final[dict[str, Make]] = {
    "always-yes": always_yes,
    "base-rate": base_rate,
    "surface": surface,
    "words": words,
    "nearest": nearest,
}
"""Every floor by name."""


def make_floor(name: str, claims: Sequence[Claim], questions: Sequence[Question]) -> Predictor:
    """A floor by its name.

    Raises:
        CounterfactualError: If there is none of that name.
    """
    if name not in FLOORS:
        raise CounterfactualError(f"There is no predictor {name!r}.", f"Name one of {', '.join(FLOORS)}.")
    return FLOORS[name](claims, questions)
