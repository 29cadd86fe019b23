"""Targets of a known rule, without any model: investigators are tested on them.

A rule gives each prompt the rate at which the behaviour occurs; draws are seeded by the request, so that a batch is the
same however requests are pooled. Behaviour is the word "plover" in the response (:data:`BEHAVIOUR`).
"""

import re
from collections.abc import Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.edits import changes, turn_changes
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Role
from firsthand.counterfactual.responses import Request, Response
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

BEHAVIOUR: Final = Pattern(question="Does the response name a plover?", pattern=r"\bplover\b")
"""What planted targets do or leave."""

_ITEM: Final = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(.*)$", re.MULTILINE)
_YES: Final = Response(text="A plover runs along the shore.", tokens=8)
_NO: Final = Response(text="A heron stands in the shallows.", tokens=8)
_WITHHELD: Final = Response(text="", ended="filter")

Share: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0)]


class Planted(Part):
    """What every rule has.

    Attributes:
        low: Rate where the rule does not hold.
        high: Rate where it holds.
    """

    low: Share = 0.10
    high: Share = 0.85


class Constant(Part):
    """The prompt makes no difference."""

    kind: Literal["constant"] = "constant"
    share: Share = 0.60

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        return self.share


class Present(Planted):
    """Texts stand in the prompt as whole words: a word, a name, a number, an identifier, part of a line or result.

    Attributes:
        texts: The texts.
        need: All of them, or any.
        role: In whose turns; ``None``: in anyone's.
    """

    kind: Literal["present"] = "present"
    texts: Annotated[tuple[str, ...], Field(min_length=1)]
    need: Literal["all", "any"] = "all"
    role: Role | None = None

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        found = [_stands(text, prompt, self.role) for text in self.texts]
        return self.high if (all(found) if self.need == "all" else any(found)) else self.low


class Graded(Part):
    """Each text that stands in the prompt adds to the rate.

    Attributes:
        texts: The texts.
        low: Rate with none.
        step: What each adds.
    """

    kind: Literal["graded"] = "graded"
    texts: Annotated[tuple[str, ...], Field(min_length=1)]
    low: Share = 0.10
    step: Share = 0.25

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        return min(1.0, self.low + self.step * sum(_stands(text, prompt, None) for text in self.texts))


class First(Planted):
    """The first line of the prompt that is marked as a list item holds a text.

    Attributes:
        text: The text.
    """

    kind: Literal["first"] = "first"
    text: str

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        first = next((found for turn in prompt.turns if (found := _ITEM.search(turn.content))), None)
        return self.high if first and self.text in first[1] else self.low


class Form(Planted):
    """An expression is found in the prompt, whatever matches it: deletion breaks the form, substitution keeps it.

    Attributes:
        pattern: The expression.
    """

    kind: Literal["form"] = "form"
    pattern: str

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        return self.high if any(re.search(self.pattern, turn.content) for turn in prompt.turns) else self.low


class Long(Planted):
    """The prompt is long, whatever it says.

    Attributes:
        characters: From how many characters on.
    """

    kind: Literal["long"] = "long"
    characters: Annotated[int, Field(ge=1)]

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        return self.high if prompt.characters >= self.characters else self.low


class Fragile(Planted):
    """The prompt is as it was, or nearly: it matters how much of it is touched, and not what.

    Attributes:
        intact: The prompt as it was.
        characters: As many of its characters may be gone (deleted, replaced or moved) as are fewer than this. 0: any
            edit at all undoes it.
    """

    kind: Literal["fragile"] = "fragile"
    intact: Prompt
    characters: Annotated[int, Field(ge=0)] = 0

    def rate(self, prompt: Prompt) -> float:
        """Rate on a prompt."""
        if not self.characters:
            return self.high if prompt.turns == self.intact.turns else self.low
        pairs = turn_changes(self.intact, prompt)
        gone = sum(
            len(text)
            for before, after in pairs
            for kind, text in changes(before.content if before else "", after.content if after else "")
            if kind == "gone"
        )
        return self.low if gone >= self.characters else self.high


Rule: TypeAlias = Annotated[Constant | Present | Graded | First | Form | Long | Fragile, Field(discriminator="kind")]


class PlantedTarget(Part):
    """A target that follows a rule.

    Attributes:
        rule: The rule.
        seed: Seed of all draws.
        withheld: Share of responses that are withheld, and so cannot be judged.
    """

    rule: Rule
    seed: Annotated[int, Field(ge=0)] = 0
    withheld: Share = 0.0

    @property
    def identity(self) -> str:
        """Says the rule, the seed and what is withheld."""
        return f"planted:{self.rule.kind}:{digest(self.model_dump(mode='json'))[:16]}"

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        """Responses, drawn for each request by itself."""
        return [self._batch(request) for request in requests]

    def _batch(self, request: Request) -> list[Response]:
        draws = stream("planted", request.key(self.identity)).random((request.samples, 2))
        rate = self.rule.rate(request.prompt)
        return [_WITHHELD if a < self.withheld else _YES if b < rate else _NO for a, b in draws.tolist()]


def _stands(text: str, prompt: Prompt, role: Role | None) -> bool:
    pattern = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    return any(pattern.search(turn.content) for turn in prompt.turns if role in (None, turn.role))
