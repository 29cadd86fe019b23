"""A behaviour that screening looks for, with the words in which it is told."""

from dataclasses import dataclass

from firsthand.counterfactual.behaviours import Behaviour, Called, Computed, Pattern, Program
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Candidate:
    """A behaviour that screening looks for.

    Attributes:
        family: What it is compared with on other prompts: the same behaviour, or others made by the same rule.
        behaviour: The behaviour.
        verb: What a response does, as a bare verb phrase such as ``contain a table``; empty if only the question says.
    """

    family: str
    behaviour: Program
    verb: str = ""

    @property
    def question(self) -> str:
        """Why it happens, in the third person."""
        if not self.verb:
            return f"Given this prompt, what decides the answer to: {self.behaviour.question}"
        return f"Why does the model {self.verb} when it is given this prompt?"

    @property
    def own_question(self) -> str:
        """Why it happens, in the second person."""
        if not self.verb:
            return f"Given this prompt, what in it decides, for your response, the answer to: {self.behaviour.question}"
        return f"Why do you {self.verb} when you are given this prompt?"

    def summary(self, yes: int, valid: int, percent: int) -> str:
        """What was seen, in one sentence.

        Args:
            yes: Responses with the behaviour.
            valid: Responses that could be judged.
            percent: How often it is seen after other prompts, in percent.
        """
        seen = f"{yes} of {valid} responses to this prompt" if yes < valid else f"All {valid} responses to this prompt"
        what = self.verb or f"count as yes ({self.behaviour.question})"
        return f"{seen} {what}; after other prompts about {percent}% do."


def found(name: str, verb: str, pattern: str, flags: str = "", least: int = 1) -> Candidate:
    """A behaviour that a regular expression finds."""
    behaviour = Pattern(question=f"Does the response {verb}?", pattern=pattern, flags=flags, least=least)
    return Candidate(name, behaviour, verb)


def computed(name: str, verb: str, function: str) -> Candidate:
    """A behaviour that a function of :mod:`firsthand.counterfactual.library.functions` finds."""
    place = f"firsthand.counterfactual.library.functions:{function}"
    return Candidate(name, Computed(question=f"Does the response {verb}?", function=place), verb)


def of_behaviours(behaviours: list[Behaviour]) -> tuple[Candidate, ...]:
    """Behaviours of one's own; each is compared with itself on other prompts.

    Raises:
        CounterfactualError: If one of them needs a model.
    """
    made = []
    for number, behaviour in enumerate(behaviours, start=1):
        if not isinstance(behaviour, Pattern | Called | Computed):
            raise CounterfactualError(
                f"Behaviour {number} ({behaviour.question!r}) needs a model, and screening by programs has none.",
                "Make it a pattern, a call or a function.",
            )
        made.append(Candidate(f"own {number}: {behaviour.question}", behaviour))
    return tuple(made)
