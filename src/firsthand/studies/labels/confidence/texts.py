"""How the model is asked, in our own words.

Each report has two wordings that undo each other's leaning: one asks whether the answer is right, the other whether it
is wrong; percentages are listed upwards and downwards; a code means the opposite in the second. A model that says
"yes", a number or a code whatever it is asked gets the confidence of one half.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firsthand.studies.labels.direct_meta.phrasings import Forms

ANSWER: Final = "Answer with the letter of one option."
ANSWER_STEM: Final = "Answer:"
SET_UP: Final = {
    "student": "A student was asked this. Read it, and do not answer.",
    "hidden": "Read this, and do not answer yet.",
}
READ: Final = "I have read it."
"""A turn of its own between question and report: asked in one turn, a small model answers the question instead."""
CODES: Final = "QUVXYZSTWN"
"""Letters from which opaque codes are drawn; none is the letter of an option."""


class Frame(StrEnum):
    """What a prompt asks about."""

    ANSWER = "answer"
    """Nothing yet: the answer itself."""
    OWN = "own"
    """The model's own answer, in its own turn."""
    OTHER = "other"
    """Another wrong option, drawn by lot, put in its turn as though it had answered so: the shuffled answers."""
    STUDENT = "student"
    """The model's answer, said to be a student's: the same model in the third person."""
    HIDDEN = "hidden"
    """The answer that it would give, before any is given."""


@dataclass(frozen=True)
class Wording:
    """One way of asking for a report.

    Attributes:
        request: The request, with ``{answer}`` for whose answer it is and ``{x}`` and ``{y}`` for codes.
        stem: How the reply begins.
        labels: For each possible reply the ways of writing it, with ``{x}`` and ``{y}`` for codes.
        values: The probability of a right answer that each reply stands for.
    """

    request: str
    stem: str
    labels: tuple[Forms, ...]
    values: tuple[float, ...]


_YES_NO: Final = ((" yes", " Yes"), (" no", " No"))
_NUMBERS: Final = ("15", "35", "55", "75", "95")
# No number begins another, and each is two digits: one token further where digits are tokens of their own.
_PER_CENT: Final = tuple((f" {number}",) for number in _NUMBERS)
_CODES: Final = "Option {{x}}: {{answer}} is {x}. Option {{y}}: {{answer}} is {y}. Choose option {{x}} or option {{y}}."
_SHARES: Final = tuple(int(number) / 100 for number in _NUMBERS)

WORDINGS: Final[dict[str, tuple[Wording, Wording]]] = {
    "true": (
        Wording("Is {answer} right? Say yes or no.", "Answer:", _YES_NO, (1.0, 0.0)),
        Wording("Is {answer} wrong? Say yes or no.", "Answer:", _YES_NO, (0.0, 1.0)),
    ),
    "percent": (
        Wording(
            "How likely is it, in per cent, that {answer} is right? Give one number: 15, 35, 55, 75 or 95.",
            "Per cent:",
            _PER_CENT,
            _SHARES,
        ),
        Wording(
            "How likely is it, in per cent, that {answer} is wrong? Give one number: 95, 75, 55, 35 or 15.",
            "Per cent:",
            _PER_CENT,
            tuple(1.0 - share for share in _SHARES),
        ),
    ),
    "code": (
        Wording(_CODES.format(x="right", y="wrong"), "I choose option", ((" {x}",), (" {y}",)), (1.0, 0.0)),
        Wording(_CODES.format(x="wrong", y="right"), "I choose option", ((" {x}",), (" {y}",)), (0.0, 1.0)),
    ),
    "know": (
        Wording("Would {answer} be right? Say yes or no.", "Reply:", _YES_NO, (1.0, 0.0)),
        Wording("Would {answer} be wrong? Say yes or no.", "Reply:", _YES_NO, (0.0, 1.0)),
    ),
}

OWNERS: Final = {
    Frame.OWN: "your answer",
    Frame.OTHER: "your answer",
    Frame.STUDENT: "the student's answer",
    Frame.HIDDEN: "your answer",
}

TITLES: Final = {
    "true": "P(True): is the answer right, yes or no",
    "percent": "Stated percentage",
    "code": "Opaque code for right or wrong",
    "know": "P(I know): would the answer be right, before it is given",
}
