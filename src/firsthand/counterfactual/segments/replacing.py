"""Neutral substitutions: something else of the same kind stands where a segment stood.

A name becomes an invented name and an identifier another one in the same style, wherever in the prompt they stand. A
number becomes another with as many digits; a year stays in its century. A word becomes a word with the same ending, as
far as endings tell its class. Quoted texts, sentences, paragraphs and code blocks become text of about the same length
that is about nothing, so that length stays and content goes; an item becomes the name of a thing. A line of code has no
neutral substitute: its identifiers do.
"""

import re
from collections.abc import Sequence

from firsthand.counterfactual.edits import Edit, Operation
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments.exact import Change, exact_replacements
from firsthand.counterfactual.segments.neutral_words import (
    ADJECTIVE_ENDINGS,
    IDENTIFIERS,
    ITEMS,
    NAMES,
    SENTENCES,
    SHORT,
    WORDS,
)
from firsthand.counterfactual.segments.tree import Segment, item_mark
from firsthand.errors import CounterfactualError


def replaced(prompt: Prompt, segments: Sequence[Segment], variant: int = 0) -> Edit:
    """The edit that puts something neutral in place of segments.

    Args:
        prompt: The prompt.
        segments: Segments that do not overlap.
        variant: Which of two substitutes, 0 or 1; they differ from each other.

    Raises:
        CounterfactualError: If a segment is a line of code, or nothing changes.
    """
    whole = "\n".join(turn.content for turn in prompt.turns)
    substitutes: dict[tuple[str, str], str] = {}
    changes: dict[int, set[Change]] = {}
    for segment in sorted(segments, key=lambda one: (one.turn, one.start)):
        key = (segment.kind, segment.text)
        if key not in substitutes:
            taken = {text for (kind, _), text in substitutes.items() if kind in ("name", "identifier", "item")}
            substitutes[key] = _substitute(segment, whole, taken, variant, len(substitutes))
        for one in _places(prompt, segment):
            changes.setdefault(one[0], set()).add((one[1], one[2], substitutes[key]))
    operations: list[Operation] = []
    for number, some in sorted(changes.items()):
        operations += exact_replacements(number, prompt.turns[number].content, _outermost(some))
    if not operations:
        raise CounterfactualError("The substitutes are what stands there already.", "Name other segments.")
    return Edit(operations=tuple(operations))


def shortened(prompt: Prompt, segments: Sequence[Segment]) -> Edit:
    """The edit that puts a few letters about nothing in place of each of some segments that are longer.

    Raises:
        CounterfactualError: If that would leave more than half of their length.
    """
    changes: dict[int, list[Change]] = {}
    for segment in segments:
        if segment.end - segment.start > len(SHORT):
            changes.setdefault(segment.turn, []).append((segment.start, segment.end, SHORT))
    length = sum(segment.end - segment.start for segment in segments)
    saved = sum(end - start - len(SHORT) for some in changes.values() for start, end, _ in some)
    if 2 * saved <= length:
        raise CounterfactualError("The segments are short already.", "Name longer ones.")
    operations: list[Operation] = []
    for number, some in sorted(changes.items()):
        operations += exact_replacements(number, prompt.turns[number].content, some)
    return Edit(operations=tuple(operations))


def _places(prompt: Prompt, segment: Segment) -> list[tuple[int, int, int]]:
    """Where a segment's text is replaced: there, or as a whole word wherever a name or identifier stands."""
    if segment.kind not in ("name", "identifier"):
        return [(segment.turn, segment.start, segment.end)]
    pattern = re.compile(rf"(?<!\w){re.escape(segment.text)}(?!\w)")
    return [
        (number, found.start(), found.end())
        for number, turn in enumerate(prompt.turns)
        for found in pattern.finditer(turn.content)
    ]


def _outermost(changes: set[Change]) -> list[Change]:
    """Changes without those that lie within a longer one."""
    found: list[Change] = []
    for change in sorted(changes, key=lambda one: (one[0], -one[1])):
        if not found or change[0] >= found[-1][1]:
            found.append(change)
    return found


def _substitute(segment: Segment, whole: str, taken: set[str], variant: int, salt: int) -> str:
    text = segment.text
    match segment.kind:
        case "name":
            return " ".join(
                _free(NAMES, whole, taken, variant + 2 * salt + place) for place in range(len(text.split()))
            )
        case "number":
            return _other_number(text, 3 + 2 * variant)
        case "identifier":
            return _other_identifier(text, whole, taken, variant)
        case "word":
            return _other_word(text, variant)
        case "quote":
            inner = text[1:-1]
            other = _filler(len(inner), variant).rstrip(".") if " " in inner.strip() else _other_word(inner, variant)
            return text[0] + other + text[-1]
        case "item":
            mark = item_mark(text)
            return text[:mark] + _free(ITEMS[variant % 2], whole, taken, salt)
        case "line":
            raise CounterfactualError("A line of code has no neutral substitute.", "Replace its identifiers.")
        case "sentence" | "paragraph" | "turn" | "code":
            return _filler(len(text), variant)


def _free(choices: Sequence[str], whole: str, taken: set[str], first: int) -> str:
    """The first of some choices, from one on, that the prompt does not hold; numbered if all are there."""
    used = {word for text in taken for word in (text, *text.split())}
    for step in range(len(choices)):
        choice = choices[(first + step) % len(choices)]
        if choice not in whole and choice not in used:
            return choice
    return f"{choices[first % len(choices)]} {first + 1}"


def _other_number(text: str, step: int) -> str:
    digits = [int(character) for character in text if character.isdigit()]
    year = bool(re.fullmatch(r"(?:19|20)\d\d", text))
    if year:
        return text[:2] + f"{(int(text[2:]) + 10 * step + 7) % 100:02d}"
    others = [(digit + step) % 10 for digit in digits]
    if others[0] == 0 and (len(others) > 1 or digits[0] != 0):
        others[0] = 9 if digits[0] != 9 else 8
    rest = iter(others)
    return "".join(str(next(rest)) if character.isdigit() else character for character in text)


def _other_identifier(text: str, whole: str, taken: set[str], variant: int) -> str:
    number = 1
    while True:
        base = IDENTIFIERS[(number - 1 + 3 * variant) % len(IDENTIFIERS)]
        plain = text.strip("_")
        if plain.isupper():
            name = f"{base.upper()}_{number}"
        elif "_" in plain:
            name = f"{base}_{number}"
        elif plain[:1].isupper():
            name = f"{base.capitalize()}{number}"
        else:
            name = f"{base}{number}"
        name = text[: len(text) - len(text.lstrip("_"))] + name
        if name not in whole and name not in taken:
            return name
        number += 1


def _other_word(text: str, variant: int) -> str:
    lower = text.lower()
    if lower.endswith(("ly", "ing", "ed")) and len(lower) > 4:
        choices = WORDS["ly" if lower.endswith("ly") else "ing" if lower.endswith("ing") else "ed"]
    elif lower.endswith(ADJECTIVE_ENDINGS) and len(lower) > 4:
        choices = WORDS["adjective"]
    else:
        choices = WORDS["s" if lower.endswith("s") and not lower.endswith("ss") else ""]
    choice = choices[variant % len(choices)]
    if choice == lower:
        choice = choices[(variant + 2) % len(choices)]
    if text.isupper() and len(text) > 1:
        return choice.upper()
    return choice.capitalize() if text[0].isupper() else choice


def _filler(length: int, variant: int) -> str:
    """Text about nothing, of about that many characters and never more than the shortest sentence too long."""
    sentences = SENTENCES[variant % 2]
    found = ""
    number = 0
    while len(found) < length:
        found += (" " if found else "") + sentences[number % len(sentences)]
        number += 1
    if len(found) > length:
        cut = found[: length + 1].rfind(" ")
        found = found[: cut if cut > 0 else found.find(" ")].rstrip(" .") + "."
    return found
