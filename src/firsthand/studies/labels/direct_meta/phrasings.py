"""How a pair of strings is asked about, in our own words: which of the two is better, or whether one alone will do."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final, Literal, TypeAlias

from firsthand.errors import LabelsError
from firsthand.trials.canonical import digest

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

    def asked(self, first: str, second: str) -> str:
        """The user's turn about two strings in this order, or about the first alone."""
        shown = {"{first}": first, "{second}": second, "{sentence}": first}
        text = self.question
        for name, at in sorted(((n, text.find(n)) for n in shown if n in text), key=lambda found: -found[1]):
            text = text[:at] + shown[name] + text[at + len(name) :]  # from the end, so that a string may hold a brace
        return text


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
"""How a pair is asked about, in our own words. Questions stand before the sentences. After them, what was computed of
the sentences would serve them all, but SmolLM2 and Gemma 3 270M then name the better sentence less often."""

USUAL: Final = ("better", "alone")
"""What is asked unless more is wanted: 500 pairs in three minutes with a model of 135 million parameters."""


def named(names: Sequence[str]) -> tuple[Phrasing, ...]:
    """Ways of asking, by their names.

    Raises:
        LabelsError: If there is none of a name.
    """
    known = {one.name: one for one in PHRASINGS}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise LabelsError(f"There is no phrasing {', '.join(map(repr, unknown))}.", f"Choose among {', '.join(known)}.")
    return tuple(known[name] for name in names)


def digest_of_phrasings(phrasings: Sequence[Phrasing]) -> str:
    """SHA-256 of the wording of some ways of asking, in hexadecimal."""
    return digest([asdict(one) for one in phrasings])
