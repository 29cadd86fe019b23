"""What a predictor says of a claim, and who predicts."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Protocol

from pydantic import Field

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import Question

Kind = Literal["floor", "observer", "tools", "base", "self", "cross"]
"""What a predictor is.

``floor`` sees no transcript (a constant, or the surface of the edit), ``observer`` reads the transcript, ``tools``
reads the target's activations as well, ``base`` is the target untrained, ``self`` the target trained on claims about
itself, and ``cross`` another model trained on the same claims.
"""

WAITS: Final = "waits: "
"""Begins the note of a prediction whose call was lost: it is no answer, and the next run asks for it again."""


class Prediction(Part):
    """One answer.

    Attributes:
        claim: Identifier of the claim.
        predictor: Name of the predictor.
        probability: Probability that the claim is true; ``None`` if no valid answer was given, which is never a "no".
        coverage: Probability mass on valid answers, where the predictor's probabilities are known; else 1.
        calls: Tool calls that were made.
        note: Why there is no valid answer, or what the predictor says besides.
    """

    claim: str
    predictor: str
    probability: Annotated[float, Field(ge=0.0, le=1.0)] | None
    coverage: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0
    calls: Annotated[int, Field(ge=0)] = 0
    note: str = ""

    @property
    def waits(self) -> bool:
        """Whether its call was lost, so that nothing was answered yet."""
        return self.probability is None and self.note.startswith(WAITS)


class Predictor(Protocol):
    """Someone who foretells what edits do."""

    @property
    def name(self) -> str:
        """Name, one for each predictor of a run."""
        ...

    @property
    def kind(self) -> Kind:
        """What it is."""
        ...

    @property
    def identity(self) -> str:
        """Says which model, weights, prompt and tools: predictions are kept under it."""
        ...

    def predict(self, questions: Sequence[Question]) -> list[Prediction]:
        """One prediction for each question, in order; a call that fails for good gives one without probability."""
        ...
