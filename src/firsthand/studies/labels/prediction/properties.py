"""Properties of an answer: pure functions from what was answered to a class, one entry each.

A property is worth asking about only if answers differ in it. Where nearly all are of one class, whoever names that
class is right, and nothing can be learned of a report; Binder et al. (2024) excluded the same by the entropy of the
behaviour. Classes that hardly occur are left out, together with the answers that have them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST_TRUE: Final = 5
"""Fewer answers of a class, to learn from or to judge, and the class is left out."""
LEAST_JUDGED: Final = 20
"""Fewer judged answers, and a property is not asked about."""
LEAST_GROUPS: Final = 5
"""Fewer groups of judged prompts, and an interval over them says nothing."""
_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|\d+")
_GOES_ON: Final = re.compile(r"[\d,]*")  # an answer that was cut off here may go on with the same number


@dataclass(frozen=True)
class Answer:
    """What a model answered to a prompt.

    Attributes:
        text: The first line, without space around it.
        finished: Whether it came to its end, and was not cut at the greatest number of tokens.
        option: Number of the letter that is likeliest to be given; ``None`` where the likeliest token is none of them,
            or there is nothing to choose from.
    """

    text: str
    finished: bool = True
    option: int | None = None


def _no_cut(_: Sequence[Answer]) -> float:
    return 0.0


@dataclass(frozen=True)
class Property:
    """Something that may be asked about an answer.

    Attributes:
        name: Identifier.
        title: Heading.
        what: What is asked about, as a part of a sentence, with ``{answer}`` for "your answer" and the like.
        classes: The classes in words.
        of: The class of an answer, or ``None`` where it has none, given the cut.
        cut: A number that is learned from the answers of the fit part, such as their median length.
    """

    name: str
    title: str
    what: str
    classes: tuple[str, ...]
    of: Callable[[Answer, float], int | None]
    cut: Callable[[Sequence[Answer]], float] = field(default=_no_cut)


def is_vowel(character: str) -> bool:
    """Whether a letter is one of a, e, i, o and u."""
    return character.lower() in set("aeiou")


def first_character(answer: Answer, _: float = 0.0) -> int | None:
    """0 for a vowel, 1 for another letter, 2 for anything else."""
    if not answer.text:
        return None
    return 2 if not _is_letter(answer.text[0]) else 0 if is_vowel(answer.text[0]) else 1


def second_character(answer: Answer, _: float = 0.0) -> int | None:
    """0 for a vowel, 1 for another letter; ``None`` if there is no second character or it is no letter."""
    if len(answer.text) < 2 or not _is_letter(answer.text[1]):
        return None
    return 0 if is_vowel(answer.text[1]) else 1


def number_parity(answer: Answer, _: float = 0.0) -> int | None:
    """0 if the first whole number is even, 1 if it is odd; ``None`` without one, or if it may have been cut off.

    A comma belongs to a number only before three digits: "7,8" is a 7 and an 8.
    """
    found = _NUMBER.search(answer.text)
    if found is None or (not answer.finished and _GOES_ON.fullmatch(answer.text, found.end())):
        return None
    return int(found.group()[-1]) % 2


def letter_parity(answer: Answer, _: float = 0.0) -> int | None:
    """0 if the first word has an even number of letters, 1 if an odd one; ``None`` without one or if it was cut off."""
    found = re.search(r"[^\W\d_]+", answer.text)
    if found is None or (not answer.finished and found.end() == len(answer.text)):
        return None
    return len(found.group()) % 2


def alphabet_half(answer: Answer, _: float = 0.0) -> int | None:
    """0 if the first character is a letter from A to M, 1 if from N to Z; else ``None``."""
    first = answer.text[:1].lower()
    return None if not first or not "a" <= first <= "z" else int(first > "m")


def ending(answer: Answer, _: float = 0.0) -> int | None:
    """0 if the last character is a letter or digit, 1 if it is another; ``None`` if the answer was cut off."""
    return None if not answer.text or not answer.finished else int(not answer.text[-1].isalnum())


def option(answer: Answer, _: float = 0.0) -> int | None:
    """The number of the chosen letter."""
    return answer.option


def length(answer: Answer, cut: float) -> int | None:
    """1 if the answer has more characters than the cut; ``None`` where an answer that was cut off may yet have had."""
    longer = len(answer.text) > cut
    return None if not answer.text or (not longer and not answer.finished) else int(longer)


def median_length(answers: Sequence[Answer]) -> float:
    """Median number of characters of the answers that have any."""
    found = [len(answer.text) for answer in answers if answer.text]
    return float(np.median(found)) if found else 0.0


PROPERTIES: Final = {
    one.name: one
    for one in (
        Property(
            "first-character",
            "Kind of first character",
            "the first character of {answer}",
            ("a vowel", "a consonant", "a digit or another sign"),
            first_character,
        ),
        Property(
            "second-character",
            "Kind of second character",
            "the second character of {answer}",
            ("a vowel", "a consonant"),
            second_character,
        ),
        Property(
            "number-parity",
            "Even or odd number",
            "the first number in {answer}",
            ("an even number", "an odd number"),
            number_parity,
        ),
        Property(
            "letter-parity",
            "Even or odd number of letters",
            "the number of letters in the first word of {answer}",
            ("an even number of letters", "an odd number of letters"),
            letter_parity,
        ),
        Property(
            "option",
            "Chosen option",
            "the option that {answer} chooses",
            ("option A", "option B", "option C", "option D"),
            option,
        ),
        Property(
            "length",
            "Short or long",
            "the length of {answer}",
            ("a short answer", "a long answer"),
            length,
            median_length,
        ),
        Property(
            "starts-with",
            "First or second half of the alphabet",
            "the first letter of {answer}",
            ("a letter from A to M", "a letter from N to Z"),
            alphabet_half,
        ),
        Property(
            "ends-with",
            "Last character",
            "the last character of {answer}",
            ("a letter or digit", "a full stop or another sign"),
            ending,
        ),
    )
}
"""Every property by name."""


@dataclass(frozen=True, eq=False)
class Settled:
    """A property as it is asked about in one study.

    Attributes:
        property: The property.
        cut: What was learned from the fit part.
        classes: Words for the classes that are asked about, renumbered from 0.
        fit_F: Class of each answer of the fit part, NaN where it has none that is asked about, ``[fit]``.
        judged_J: The same of the judged part, ``[judged]``.
        kept: Numbers of those classes among the property's own.
        refused: Why it is not asked about; ``None`` if it is.
    """

    property: Property
    cut: float
    classes: tuple[str, ...]
    fit_F: NDArray[np.float64]
    judged_J: NDArray[np.float64]
    kept: tuple[int, ...]
    refused: str | None

    def of(self, answers: Sequence[Answer]) -> NDArray[np.float64]:
        """Class of each answer among those that are asked about, NaN where it has none of them ``[answers]``."""
        return _numbered(self.property, answers, self.cut, self.kept)


def settled(
    one: Property,
    fit: Sequence[Answer],
    judged: Sequence[Answer],
    groups: Sequence[str],
    constant: float,
    examples: int = 0,
) -> Settled:
    """Settle which classes of a property are asked about, and whether it can be judged at all.

    Nothing but the behaviour is looked at: what the model says of it is not yet known.

    Args:
        one: The property.
        fit: Answers of the fit part.
        judged: Answers of the judged part.
        groups: Group of each judged prompt.
        constant: Largest share that one class may have in either part.
        examples: Answers of the fit part that will be shown.
    """
    cut = one.cut(fit)
    every = tuple(range(len(one.classes)))
    counts = [np.bincount(_known(_numbered(one, part, cut, every)), minlength=len(every)) for part in (fit, judged)]
    kept = tuple(i for i in every if min(int(count[i]) for count in counts) >= LEAST_TRUE)
    fit_F, judged_J = (_numbered(one, part, cut, kept) for part in (fit, judged))
    there = {group for group, value in zip(groups, judged_J, strict=True) if np.isfinite(value)}
    refused = _refused(one, counts, kept, judged_J, len(there), constant)
    known = int(np.isfinite(fit_F).sum())
    if refused is None and known < examples:
        refused = f"{known} answers to learn from have it, and {examples} examples are wanted"
    return Settled(one, cut, tuple(one.classes[i] for i in kept), fit_F, judged_J, kept, refused)


def _refused(
    one: Property,
    counts: Sequence[NDArray[np.int64]],
    kept: Sequence[int],
    judged_J: NDArray[np.float64],
    groups: int,
    constant: float,
) -> str | None:
    for part, count in zip(("to learn from", "to judge"), counts, strict=True):
        if not count.sum():
            return f"no answer {part} has this property"
        most = int(count.argmax())
        if count[most] > constant * count.sum():
            return (
                f"the behaviour is constant: {count[most] / count.sum():.1%} of the answers {part} have "
                f"{one.classes[most]}, more than {constant:.0%}, and whoever says so every time is right"
            )
    if len(kept) < 2:
        return f"fewer than two classes have {LEAST_TRUE} answers to learn from and {LEAST_TRUE} to judge"
    judged = int(np.isfinite(judged_J).sum())
    if judged < LEAST_JUDGED or groups < LEAST_GROUPS:
        return (
            f"{judged} answers of {groups} groups can be judged, and {LEAST_JUDGED} of {LEAST_GROUPS} groups are needed"
        )
    return None


def entropy_of(classes: NDArray[np.float64]) -> float:
    """Entropy of a distribution of classes, in bits; classes that are not known are left out."""
    share = np.bincount(_known(classes)) / max(1, len(_known(classes)))
    return float(-(share[share > 0] * np.log2(share[share > 0])).sum()) + 0.0


def _known(classes: NDArray[np.float64]) -> NDArray[np.int64]:
    return classes[np.isfinite(classes)].astype(np.int64)


def _numbered(one: Property, answers: Sequence[Answer], cut: float, kept: Sequence[int]) -> NDArray[np.float64]:
    place = {number: float(i) for i, number in enumerate(kept)}
    found = [one.of(answer, cut) for answer in answers]
    return np.array([np.nan if value is None else place.get(value, np.nan) for value in found], dtype=np.float64)


def _is_letter(character: str) -> bool:
    return character.isalpha()
