"""What the report of a training run shows of open explanations."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from firsthand.analysis.results import Estimate
from firsthand.counterfactual.explaining.attribution import NamingRates
from firsthand.counterfactual.explaining.simulatability import Simulatability


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class WriterRow(_Part):
    """One writer of explanations, over all seeds.

    Attributes:
        name: The model.
        kind: ``base`` the target untrained, ``self`` trained on itself, ``cross`` another model trained on the same.
        seeds: Seeds of its trainings.
        texts: Explanations.
        valid: Share of them that have the form of the training target.
        cut_off: Share of them that ended at the longest length.
        naming: How often measured causes are named, and how often what is none.
        example: The first of its explanations.
    """

    name: str
    kind: Literal["base", "self", "cross"]
    seeds: tuple[int, ...]
    texts: int
    valid: Estimate | None
    cut_off: float
    naming: NamingRates | None
    example: str


class HelpRow(_Part):
    """What one writer's explanations give one simulator, over all seeds."""

    writer: str
    found: Simulatability

    @property
    def says(self) -> str:
        """Whether they help, in a word or two."""
        return {True: "yes", False: "not shown", None: "insufficient"}[self.found.helps]


class OpenExplanations(_Part):
    """Explanations of held-out investigations.

    Attributes:
        investigations: Investigations of the run that was read.
        held_out: Investigations that were explained.
        units: Independent units among them.
        claims: Their claims.
        leaked: Claims that some text reports or repeats; nobody is compared on them.
        left_out: Investigations that give no explanation, by reason.
        claims_left_out: Claims that were not foretold, by reason.
        longest: Most tokens of an explanation.
        simulators: Identity of each simulator, by its name.
        writers: Everybody who wrote.
        helps: What each writer gave each simulator.
    """

    investigations: int
    held_out: int
    units: int
    claims: int
    leaked: int
    left_out: dict[str, int]
    claims_left_out: dict[str, int]
    longest: int
    simulators: dict[str, str]
    writers: tuple[WriterRow, ...]
    helps: tuple[HelpRow, ...]

    @property
    def estimates(self) -> list[Estimate]:
        """The estimates that are shown of writers and of what helps."""
        found = [one.valid for one in self.writers]
        found += [row for one in self.writers if one.naming for row in (one.naming.cause, one.naming.difference)]
        found += [row.found.accuracy.get("explanation") for row in self.helps]
        return [one for one in found if one is not None]
