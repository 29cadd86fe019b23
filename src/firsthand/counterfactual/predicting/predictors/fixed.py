"""A predictor whose answers are known beforehand: it looks them up."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from firsthand.counterfactual.predicting.predictions import Kind, Prediction
from firsthand.counterfactual.predicting.questions import Question


@dataclass(frozen=True, eq=False)
class Fixed:
    """Says what was found for each claim before.

    Attributes:
        name: Name.
        kind: What it is.
        identity: Under which its predictions are kept.
        probabilities: Probability by claim; a claim that is not there, or is ``None``, gets no valid answer.
        note: What is said where there is none.
    """

    name: str
    identity: str
    probabilities: Mapping[str, float | None]
    kind: Kind = "floor"
    note: str = ""

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question."""
        return [self._one(question.claim) for question in questions]

    def _one(self, claim: str) -> Prediction:
        probability = self.probabilities.get(claim)
        note = self.note if probability is None else ""
        return Prediction(claim=claim, predictor=self.name, probability=probability, note=note)
