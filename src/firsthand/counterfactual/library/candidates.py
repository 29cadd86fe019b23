"""A behaviour that screening looks for, with the words in which it is told."""

from dataclasses import dataclass, replace

from firsthand.counterfactual.behaviours import Behaviour, Called, Computed, Decides, Pattern, Program
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
        return f"Why do the model's responses to this prompt {self.verb}?"

    @property
    def own_question(self) -> str:
        """Why it happens, in the second person."""
        if not self.verb:
            return f"Given this prompt, what in it decides, for your response, the answer to: {self.behaviour.question}"
        return f"Why do your responses to this prompt {self.verb}?"

    def within(self, tokens: int) -> "Candidate":
        """The same, about so many first tokens, which is all that is drawn of a response.

        What is decided by an opening, or by all of a response, asks what it asked. So do behaviours of one's own: their
        questions stay as they were written.
        """
        if not self.verb or isinstance(self.behaviour, Called) or self.behaviour.decided_by != "any":
            return self
        verb = f"{self.verb} within the first {tokens} tokens"
        bounded = {"question": f"Does the response {verb}?", "within": tokens}
        return replace(self, behaviour=self.behaviour.model_copy(update=bounded), verb=verb)

    def summary(self, yes: int, valid: int, percent: int, open_: int = 0) -> str:
        """What was seen, in one sentence.

        Args:
            yes: Responses with the behaviour.
            valid: Responses of which it could be said.
            percent: How often it occurs after other prompts, in per cent.
            open_: Responses that were cut off before it could be said.
        """
        seen = f"{yes} of {valid} responses to this prompt" if yes < valid else f"All {valid} responses to this prompt"
        what = self.verb or f"count as yes ({self.behaviour.question})"
        cut = f" ({open_} more were cut off before it could be said)" if open_ else ""
        return f"{seen} {what}{cut}; after other prompts about {percent}% do."


def found(
    name: str,
    verb: str,
    pattern: str,
    flags: str = "",
    least: int = 1,
    *,
    plain: bool = False,
    decided_by: Decides = "any",
) -> Candidate:
    """A behaviour that a regular expression finds, as it stands or in plain text; anywhere, or in the opening."""
    behaviour = Pattern(
        question=f"Does the response {verb}?",
        pattern=pattern,
        flags=flags,
        least=least,
        plain=plain,
        decided_by=decided_by,
    )
    return Candidate(name, behaviour, verb)


def computed(name: str, verb: str, function: str, decided_by: Decides) -> Candidate:
    """A behaviour that a function of :mod:`firsthand.counterfactual.library.functions` finds."""
    place = f"firsthand.counterfactual.library.functions:{function}"
    return Candidate(name, Computed(question=f"Does the response {verb}?", function=place, decided_by=decided_by), verb)


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
