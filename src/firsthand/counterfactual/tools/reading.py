"""What a tool is: something that says a text about some tokens of a transcript, and changes nothing."""

from collections.abc import Sequence
from typing import Literal, Protocol

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.questions import Question

Takes = Literal["positions", "segment"]
"""What a call names: ``positions`` are tokens chosen one by one, each of which is described by itself; a ``segment`` is
a run of tokens, about which a question is asked."""


class Reading(Part):
    """What a tool says about one token, or about a segment.

    Attributes:
        position: Number of the token in the transcript; of a segment its first.
        token: Text of the token, or of the segment.
        text: What the tool says.
    """

    position: int
    token: str
    text: str


class Tool(Protocol):
    """Something that reads a target's activations."""

    @property
    def name(self) -> str:
        """Name under which a predictor calls it: letters, digits and underscores."""
        ...

    @property
    def description(self) -> str:
        """What a predictor is told of it: what it says, and how far that can be trusted."""
        ...

    @property
    def identity(self) -> str:
        """Says which weights, labels and settings: equal only where it says the same."""
        ...

    @property
    def takes(self) -> Takes:
        """What a call names."""
        ...

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """Readings of some tokens of a question's transcript.

        Args:
            question: The question; only its prompt and response are looked at.
            positions: Numbers of tokens, ascending, each once, all of them in the transcript.
            ask: What is asked of a segment; empty where ``takes`` is ``positions``.
        """
        ...
