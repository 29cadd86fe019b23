"""Counterfactual claims: would this edit change how often that happens? Labels are measured, and never judged.

A claim says that an edit changes a behaviour's rate by at least 30 points, in either direction; it is true if the
measured change is at least 50 points, false if it is at most 15, and what lies between makes no claim (arXiv
2608.16747, sections 2.2 and B.4).
"""

from typing import Annotated, Final

from pydantic import Field

from firsthand.counterfactual.behaviours import Behaviour, Verdict
from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.families import family_of, ties_of
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response
from firsthand.trials.canonical import digest

POINTS: Final = 30
"""Percentage points that a claim speaks of."""


class Answered(Part):
    """What the target said to the prompt as it is.

    Attributes:
        response: The response.
        verdict: Whether it has the behaviour; ``None`` where it was not judged.
    """

    response: Response
    verdict: Verdict | None = None


class Reproduction(Part):
    """Another implementation of an edit's description, and what it did.

    Attributes:
        edit: The other edit.
        rate: Counts with it, in a batch of its own.
        baseline: Counts on the prompt as it is, in a batch of their own; ``None`` where they are those of the label,
            whose chance errors label and reproduction then have in common.
    """

    edit: Edit
    rate: Rate
    baseline: Rate | None = None


class Claim(Part):
    """One claim.

    Attributes:
        investigation: Identifier of the investigation that it comes from.
        target: Identity of the target.
        prompt: The prompt as it was.
        edit: The edit that was measured.
        experiment: Number of the experiment that measured it.
        behaviour: The behaviour.
        baseline: Counts on the prompt as it was, in responses that were drawn after screening.
        rate: Counts on the edited prompt, in responses that were drawn after the edit was chosen.
        intervention: The edit in words, written without knowledge of what it did.
        label: Whether the claim is true.
        concreteness: How concrete the mechanism is, 1 to 4; ``None`` where nobody judged it.
        reproduced: Whether another implementation of the description had the same effect; ``None`` where none was run,
            or what it did does not decide.
        single_factor: Whether the edit changes one thing; ``None`` where nobody judged it.
        exact: Whether the rates are probabilities that the target gave, in parts of a thousand, and not counts.
        cluster: What claims must not be parted by when data are split.
        question: Why the target does this, asked in the third person.
        own_question: The same, asked of the target itself.
        responses: Some of what the target said to the prompt as it is: the transcript that a claim is about.
        reproduction: What another implementation did.
        filtered: Whether the claim is in the filtered set of the run that made it; ``None`` where there was none.
        matched: Whether it is among those of them that have a partner which looks alike.
    """

    investigation: str
    target: str
    prompt: Prompt
    edit: Edit
    experiment: Annotated[int, Field(ge=1)]
    behaviour: Behaviour
    baseline: Rate
    rate: Rate
    intervention: Annotated[str, Field(min_length=1)]
    label: bool
    concreteness: Annotated[int, Field(ge=1, le=4)] | None = None
    reproduced: bool | None = None
    single_factor: bool | None = None
    exact: bool = False
    cluster: str = ""
    question: str = ""
    own_question: str = ""
    responses: tuple[Answered, ...] = ()
    reproduction: Reproduction | None = None
    filtered: bool | None = None
    matched: bool | None = None

    @property
    def family(self) -> str:
        """Template family of the prompt."""
        return family_of(self.prompt)

    @property
    def ties(self) -> tuple[str, ...]:
        """What it shares with claims that are not independent of it: cluster, prompt, template family."""
        return ties_of(self.prompt, self.cluster)

    @property
    def id(self) -> str:
        """Identifier: one claim for each investigation and edited prompt, however it is described and filtered."""
        return digest([self.target, self.investigation, self.edited.id])[:16]

    @property
    def edited(self) -> Prompt:
        """The prompt after the edit."""
        return edited(self.prompt, self.edit)

    @property
    def change(self) -> float | None:
        """Measured change of the rate, from -1 to 1; ``None`` if one of the batches holds nothing valid."""
        before, after = self.baseline.share, self.rate.share
        return None if before is None or after is None else after - before

    @property
    def text(self) -> str:
        """The claim as a predictor reads it; nothing in it depends on what the edit did."""
        share = self.baseline.share
        percent = "unknown" if share is None else f"about {round(100 * share)}%"
        return (
            f"BEHAVIOUR (a response counts if the answer is yes): {self.behaviour.question}\n"
            f"BASELINE: with the prompt as it is, {percent} of responses count.\n"
            f"EDIT: {self.intervention}\n"
            f"CLAIM: with this edit, and with nothing else changed, the share of responses that count differs from the "
            f"baseline by at least {POINTS} percentage points, up or down."
        )
