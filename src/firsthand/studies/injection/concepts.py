"""The concepts that are injected, the words they are compared with, and the forms in which an answer may name them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from firsthand.errors import StatesError

CONCEPTS: Final[tuple[str, ...]] = (
    "apple", "astronomy", "democracy", "sushi", "football", "rivers", "algorithms", "poetry",
    "economics", "gardening", "malice", "goodness", "fear", "justice", "bliss", "sea",
    "america", "success", "music", "philosophy", "history", "art", "war", "failure",
    "devotion", "olives", "sand", "Zurich", "friendship", "vagueness", "courage", "patience",
)  # fmt: skip
"""The 32 concepts of "Can LLMs introspect? A reality check" (arXiv 2605.26242, appendix C), spelled as there."""

BASELINE_WORDS: Final[tuple[str, ...]] = (
    "anchor", "balcony", "barrel", "basket", "bell", "blanket", "bottle", "bridge", "broom", "bucket",
    "button", "cabin", "candle", "carpet", "castle", "cellar", "chain", "chair", "chimney", "clock",
    "coat", "corner", "cradle", "cupboard", "curtain", "cushion", "desk", "door", "drawer", "drum",
    "elbow", "engine", "envelope", "fence", "finger", "flute", "fork", "fountain", "frame", "garage",
    "gate", "glove", "hallway", "hammer", "handle", "harbour", "helmet", "hinge", "jacket", "kettle",
    "key", "kitchen", "ladder", "lamp", "lantern", "leaf", "letter", "lid", "lift", "magnet",
    "mattress", "meadow", "mirror", "mug", "nail", "napkin", "needle", "notebook", "oven", "paddle",
    "parcel", "pencil", "pillow", "pipe", "plate", "pocket", "pump", "rail", "ribbon", "roof",
    "rope", "rug", "saddle", "scarf", "screw", "shelf", "shovel", "spoon", "stamp", "staircase",
    "suitcase", "ticket", "towel", "tunnel", "umbrella", "valley", "wagon", "wheel", "window", "zipper",
)  # fmt: skip
"""100 common nouns, none of them a concept: the baseline of vectors as Lindsey (2025) makes them. The list is ours."""

_VOWELS: Final = "aeiou"
# What the rules below get wrong, and the few derived words that say the same. The choice is ours.
_IRREGULAR: Final[dict[str, tuple[str, ...]]] = {
    "america": ("america", "american", "americans", "americas"),
    "zurich": ("zurich", "zürich", "zuerich"),
    "gardening": ("gardening", "garden", "gardens", "gardener", "gardeners"),
    "economics": ("economics", "economic", "economy", "economies"),
    "goodness": ("goodness",),
    "vagueness": ("vagueness", "vague"),
}


def baseline_for(concepts: Sequence[str]) -> tuple[str, ...]:
    """The baseline words without those that are, in some form, one of the given concepts."""
    taken = {form.casefold() for concept in concepts for form in surface_forms(concept)}
    return tuple(word for word in BASELINE_WORDS if word.casefold() not in taken)


def read_concepts(path: Path) -> tuple[str, ...]:
    """Read a list of concepts: one a line; ``#`` begins a comment.

    Raises:
        StatesError: If the file cannot be read, holds no concept, a blank line, braces, or a concept twice (in
            whatever case).
    """
    found: dict[str, int] = {}
    words: list[str] = []
    for number, line in enumerate(read_lines(path, "concepts"), start=1):
        word = " ".join(line.partition("#")[0].split())
        if not word and "#" in line:
            continue
        if not word:
            raise StatesError(f"{path}, line {number} is blank.", "Remove the line, or begin it with '#'.")
        if re.search(r"[{}]", word):
            raise StatesError(f"{path}, line {number}: {word!r} holds a brace.", "Write the plain word.")
        first = found.setdefault(word.casefold(), number)
        if first != number:
            raise StatesError(f"{path}, line {number}: {word!r} stands already in line {first}.", "Give it once.")
        words.append(word)
    if not words:
        raise StatesError(f"{path} holds no concept.", "Write one a line.")
    return tuple(words)


def read_lines(path: Path, what: str) -> list[str]:
    """The lines of a UTF-8 text file.

    Raises:
        StatesError: If the file is missing or no text.
    """
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError) as error:
        raise StatesError(f"The list of {what} {path} cannot be read: {error}.", "Give a UTF-8 text file.") from error


def surface_forms(concept: str) -> tuple[str, ...]:
    """The written forms that count as naming a concept: itself, singular and plural, simple inflections, capitalised.

    Derived words of another meaning ("artist", "warrior") do not count.
    """
    words = concept.split()
    before, last = words[:-1], words[-1]
    forms = [concept, *(" ".join([*before, form]) for form in _inflections(last))]
    return tuple(dict.fromkeys(cased for form in forms for cased in (form, form.lower(), form[:1].upper() + form[1:])))


def mentions(text: str, concept: str) -> bool:
    """Whether a text holds a form of the concept as a whole word, in whatever case.

    It says nothing about what is claimed of it: "I do not notice any sand" mentions sand. A judge decides that.
    """
    forms = "|".join(re.escape(form) for form in sorted(surface_forms(concept), key=len, reverse=True))
    return re.search(rf"(?<!\w)(?:{forms})(?!\w)", text, flags=re.IGNORECASE) is not None


def _inflections(word: str) -> tuple[str, ...]:
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    singular = _singular(lower)
    return (lower, singular, _plural(singular))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is", "ics")) and len(word) > 3:
        return word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith("y") and word[-2:-1] not in _VOWELS:
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    return word + "s"
