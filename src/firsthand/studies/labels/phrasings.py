"""How a pair of strings is asked about, in our own words: which of the two is better, or whether one alone will do."""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Forms: TypeAlias = tuple[str, ...]
"""The ways in which one label can continue a stem, such as ``" yes"`` and ``" Yes"``."""


@dataclass(frozen=True)
class Phrasing:
    """One way of asking.

    Attributes:
        name: Identifier.
        shows: Whether a prompt shows ``both`` strings of a pair, or one ``alone``.
        question: The user's turn, with ``{first}`` and ``{second}``, or with ``{sentence}``.
        stem: How the answer begins.
        labels: Forms of the label for the first string, and of that for the second; where one string is shown, of the
            label that accepts it and of that which does not.
    """

    name: str
    shows: Literal["both", "alone"]
    question: str
    stem: str
    labels: tuple[Forms, Forms]


_LIST: Final = "\n(1) {first}\n(2) {second}"
_NUMBERS: Final = (("1",), ("2",))

PHRASINGS: Final = (
    Phrasing(
        "better",
        "both",
        "Which of these two sentences is the better sentence? Answer with its number, (1) or (2)." + _LIST,
        "The better sentence is (",
        _NUMBERS,
    ),
    Phrasing(
        "acceptable",
        "both",
        "Only one of these two sentences is acceptable English. Give the number of the acceptable one, (1) or (2)."
        + _LIST,
        "The acceptable sentence is (",
        _NUMBERS,
    ),
    Phrasing(
        "careful-writer",
        "both",
        "A careful writer hesitates between two sentences. Which one goes to print? Answer with its number, (1) or (2)."
        + _LIST,
        "The writer prints (",
        _NUMBERS,
    ),
    Phrasing(
        "alone",
        "alone",
        "Is this an acceptable English sentence? Answer yes or no.\n{sentence}",
        "Answer:",
        ((" yes", " Yes"), (" no", " No")),
    ),
)
"""How a pair is asked about, in our own words."""
