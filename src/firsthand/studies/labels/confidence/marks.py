"""What files mean by their answers: a letter, the text of an option, or its number from 0 or 1.

Whatever fits most rows of a file is taken; whether numbers begin at 0 or 1 is decided over all files together, since
one file may hold too few of them to tell. Where two ways fit as many rows and mean different options, nothing is
guessed: the wrong one would turn every answer that is right into a wrong one, and the other way round.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firsthand.errors import LabelsError

LETTERS: Final = "ABCDEFGHIJ"
"""Letters of options, as many as a question may have."""

Meaning = Callable[[str, Sequence[str]], int | None]


@dataclass(frozen=True)
class Raw:
    """A question as a file has it: texts without space around them, and the answer as it is written."""

    question: str
    options: tuple[str, ...]
    answer: str
    subject: str


def meant_by(files: Mapping[Path, Sequence[Raw]]) -> list[tuple[Raw, int | None]]:
    """The questions of some files with the number of the right option, ``None`` where the answer names none.

    Args:
        files: The questions by file.

    Raises:
        LabelsError: If the answers of a file can be read in two ways that differ.
    """
    numbers = _numbering([one for raw in files.values() for one in raw if _numeric(raw)])
    found: list[tuple[Raw, int | None]] = []
    for file, raw in files.items():
        found += zip(raw, _read(file, raw, numbers), strict=True)
    return found


def _read(file: Path, raw: Sequence[Raw], numbers: Sequence[str]) -> list[int | None]:
    read = {name: [way(one.answer, one.options) for one in raw] for name, way in _WAYS.items()}
    fits = {name: sum(place is not None for place in places) for name, places in read.items()}
    most = max((fits[name] for name in (LETTER, TEXT, *numbers)), default=0)
    best = [name for name in (LETTER, TEXT, *numbers) if fits[name] == most]
    differ = next((one for one in best[1:] if most and read[one] != read[best[0]]), None)
    if differ is not None:
        raise LabelsError(
            f"The answers of {file} can be read as {best[0]} and as {differ}: both fit {most} of {len(raw)} rows, and "
            "they mean different options.",
            "Give the answers as letters (A, B, ...) or as the texts of the options, in a column of their own, and "
            "name it by 'answer'.",
        )
    return read[best[0]]


def _numeric(raw: Sequence[Raw]) -> bool:
    """Whether numbers fit the answers of a file as well as anything does."""
    fits = {name: sum(way(one.answer, one.options) is not None for one in raw) for name, way in _WAYS.items()}
    return max(fits[name] for name in NUMBERS) >= max(fits[LETTER], fits[TEXT])


def _numbering(raw: Sequence[Raw]) -> tuple[str, ...]:
    """Which ways of counting options fit most questions: one, or both where they fit as many."""
    fits = {name: sum(_WAYS[name](one.answer, one.options) is not None for one in raw) for name in NUMBERS}
    return tuple(name for name in NUMBERS if fits[name] == max(fits.values()))


def _letter(answer: str, options: Sequence[str]) -> int | None:
    mark = answer.strip("().: ").upper()
    place = LETTERS.find(mark) if len(mark) == 1 else -1
    return place if 0 <= place < len(options) else None


def _own_text(answer: str, options: Sequence[str]) -> int | None:
    return list(options).index(answer) if list(options).count(answer) == 1 else None


def _number(first: int) -> Meaning:
    def numbered(answer: str, options: Sequence[str]) -> int | None:
        if not answer.isdecimal():
            return None
        place = int(answer) - first
        return place if 0 <= place < len(options) else None

    return numbered


LETTER: Final = "letters"
TEXT: Final = "texts of options"
NUMBERS: Final = ("numbers from 0", "numbers from 1")
_WAYS: Final[Mapping[str, Meaning]] = {
    LETTER: _letter,
    TEXT: _own_text,
    NUMBERS[0]: _number(0),
    NUMBERS[1]: _number(1),
}
