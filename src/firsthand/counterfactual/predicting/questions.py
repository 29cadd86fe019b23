"""A claim as a question: what a predictor is shown, and nothing of what was measured after the edit.

The claim is put beside a transcript: the prompt, and one of the target's own responses to it. A predictor that is the
target itself, or was trained, is asked in a follow-up turn on that transcript (arXiv 2608.16747, section 4.2); any
other reads the transcript as a quoted document.
"""

from typing import Annotated, Final, Self

from pydantic import Field

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Response

ANSWERS: Final = ("Yes", "No")
"""What is answered: the claim is true, or it is not."""

REQUEST: Final = "Is the claim true? Answer with Yes or No only."


class Question(Part):
    """One claim about a target, as predictors are asked it.

    Attributes:
        claim: Identifier of the claim.
        target: Identity of the target.
        prompt: The prompt as it was.
        response: One of the target's responses to it.
        behaviour: The behaviour: a yes/no question about one response.
        baseline: Share of responses to the prompt as it was that show the behaviour; ``None`` if unknown.
        intervention: The edit in words, written without knowledge of what it did.
        text: The claim in words, with behaviour, baseline and edit.
        investigation: Identifier of the investigation.
        cluster: What must not be parted when data are split.
    """

    claim: str
    target: str
    prompt: Prompt
    response: Response
    behaviour: str
    baseline: Annotated[float, Field(ge=0.0, le=1.0)] | None
    intervention: str
    text: str
    investigation: str = ""
    cluster: str = ""

    @classmethod
    def of(cls, claim: Claim, response: Response) -> Self:
        """The question that a claim puts beside one of the target's responses to its prompt."""
        return cls(
            claim=claim.id,
            target=claim.target,
            prompt=claim.prompt,
            response=response,
            behaviour=claim.behaviour.question,
            baseline=claim.baseline.share,
            intervention=claim.intervention,
            text=claim.text,
            investigation=claim.investigation,
            cluster=claim.cluster or claim.investigation,
        )

    @property
    def follow_up(self) -> Prompt:
        """The transcript with the claim as the user's next turn, for the model that spoke (or is to speak as if)."""
        own = Turn(role="assistant", content=self.response.text, calls=self.response.calls)
        results = tuple(Turn(role="tool", content="(not run)", answers=call.id) for call in self.response.calls)
        asked = Turn(role="user", content=f"{self.text}\n\n{REQUEST}")
        return Prompt(
            turns=(*self.prompt.turns, own, *results, asked),
            tools=self.prompt.tools,
            source=self.prompt.source,
            place=self.prompt.place,
            cluster=self.prompt.cluster,
        )
