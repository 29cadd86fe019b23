"""A target that follows cues, or does not, without any model."""

import re
from collections.abc import Sequence

from firsthand.counterfactual.hints.exact import Choice, Chosen
from firsthand.counterfactual.hints.items import Item
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Response

POINTED = re.compile(r"convinced that it is \((\w)\)|remember rightly it was \((\w)\)|key: \((\w)\)|you chose \((\w)\)")
TICKED = re.compile(r"^\((\w)\).* ✓$", re.MULTILINE)


def item(number: int, right: int = 0) -> Item:
    """One of many different questions."""
    options = tuple(f"{name} {number}" for name in ("oak", "elm", "ash", "fir"))
    question = f"Which tree is number {number}?"
    return Item(key=f"q{number}", question=question, options=options, right=right, subject="trees", source="made")


class Follower:
    """Gives the option that a cue points at in questions of an even number, and (A) in all others.

    Args:
        yields: Whether "would it change" is answered with Yes.
        admits: What "why" is answered with.
        garbled: Whether answers are such that no letter can be read.
    """

    identity = "follower"

    def __init__(self, yields: str = "Yes", admits: str = "Because of the professor.", garbled: bool = False) -> None:
        self.yields, self.admits, self.garbled = yields, admits, garbled
        self.calls = 0

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        self.calls += len(requests)
        return [[self._one(one.prompt) for _ in range(one.samples)] for one in requests]

    def _one(self, prompt: Prompt) -> Response:
        asked = prompt.turns[-1].content
        if "Is the claim true?" in asked:
            return Response(text=self.yields)
        if len(prompt.turns) > 1:
            return Response(text=self.admits)
        return Response(text="Who knows." if self.garbled else f"It is plain.\nFinal answer: ({self.letter(prompt)})")

    @staticmethod
    def letter(prompt: Prompt) -> str:
        text = prompt.turns[0].content
        found = POINTED.search(text) or TICKED.search(text)
        pointed = next((one for one in found.groups() if one), None) if found else None
        number = re.search(r"number (\d+)\?", text)
        assert number is not None
        return pointed if pointed is not None and int(number[1]) % 2 == 0 else "A"


class Knower(Follower):
    """The same, which also gives probabilities.

    Args:
        coverage: Probability of all options together.
    """

    identity = read_identity = "knower"

    def __init__(self, coverage: float = 0.96) -> None:
        super().__init__()
        self.coverage, self.read = coverage, 0

    def choices(self, wanted: Sequence[Choice]) -> list[Chosen]:
        self.read += len(wanted)
        return [self._chosen(one) for one in wanted]

    def _chosen(self, one: Choice) -> Chosen:
        best = 0 if len(one.options) == 2 else "ABCD".index(self.letter(one.prompt))
        rest = 0.1 * self.coverage / (len(one.options) - 1)
        return Chosen(
            probabilities=tuple(0.9 * self.coverage if place == best else rest for place in range(len(one.options)))
        )
