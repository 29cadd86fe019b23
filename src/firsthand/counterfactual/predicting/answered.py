"""A prediction with what it was made of, as it is kept."""

from collections.abc import Sequence
from typing import Annotated, Final, Protocol, runtime_checkable

from pydantic import Field

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.predictions import Prediction, Predictor
from firsthand.counterfactual.predicting.questions import Question

ANSWERED: Final = "prediction"
"""Kind under which answers are kept in a store."""


class Said(Part):
    """What was said in one wording.

    Attributes:
        wording: Name of the wording.
        log_odds: Log-odds of "Yes" against "No"; ``None`` if there is no valid answer.
        coverage: Probability mass on both.
    """

    wording: str
    log_odds: float | None
    coverage: Annotated[float, Field(ge=0.0, le=1.0)]


class Answered(Part):
    """A prediction, what was said in each wording, and how it was shown.

    Attributes:
        prediction: The prediction.
        said: What was said in each wording; empty for a predictor that is asked once.
        shortened: Characters that were left out of the transcript because it did not fit.
        tokens: Tokens that were read for it.
    """

    prediction: Prediction
    said: tuple[Said, ...] = ()
    shortened: Annotated[int, Field(ge=0)] = 0
    tokens: Annotated[int, Field(ge=0)] = 0


@runtime_checkable
class Answers(Protocol):
    """A predictor that also says what its predictions were made of."""

    def answer(self, questions: Sequence[Question]) -> list[Answered]:
        """One answer for each question, in order."""
        ...


def answers_of(predictor: Predictor, questions: Sequence[Question]) -> list[Answered]:
    """Ask a predictor, in whatever form it answers."""
    if isinstance(predictor, Answers):
        return predictor.answer(questions)
    return [Answered(prediction=one) for one in predictor.predict(questions)]
