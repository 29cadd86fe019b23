"""Behaviours that take more than a regular expression: functions of one response, true, false or ``None``.

What a response that was cut off says of a behaviour follows from what decides it
(:data:`~firsthand.counterfactual.behaviours.Decides`). Where an opening of some length decides, ``None`` says that too
little of it was seen.
"""

import json
import re
from collections import Counter
from typing import Final

from firsthand.counterfactual.plain_text import plain, seen
from firsthand.counterfactual.responses import Response

_FEW_WORDS: Final = 8
_LINES: Final = 3
_SHORT_LINE: Final = 60
_LETTERS: Final = 12
_OPENING_LETTERS: Final = 40
_SENTENCE: Final = 20


def ends_early(response: Response) -> bool:
    """Whether it ended by itself, and was not cut off."""
    return response.ended == "stop"


def is_very_short(response: Response) -> bool | None:
    """Whether it ends by itself after a few words; ``None`` where it was cut off after so few."""
    return _has_at_most(response, _FEW_WORDS)


def is_one_word(response: Response) -> bool | None:
    """Whether it is one word; ``None`` where it was cut off in it."""
    return _has_at_most(response, 1)


def _has_at_most(response: Response, words: int) -> bool | None:
    if len(response.text.split()) > words:
        return False
    return None if response.ended == "length" else True


def begins_as_json(response: Response) -> bool | None:
    """Whether it is JSON, or, where it was cut off, begins as an object or a list of it; ``None`` if that is open."""
    text = re.sub(r"^\s*(?:```|~~~)(?:json)?\s*", "", response.text.replace("\ufeff", "")).strip()
    if response.ended == "length" and text in ("{", "[", "```json"[: len(text)]):
        return None
    if not re.match(r'(\{\s*"|\[\s*[\[{"])', text):
        return False
    if response.ended == "length":
        return True
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError:
        return False
    return True


def opens_as_verse(response: Response) -> bool | None:
    """Whether its first three lines are short and no items of a list; ``None`` where it was cut off in them."""
    lines = [line for line in response.text.split("\n") if line.strip()]
    whole = len(lines) - (response.ended == "length")
    first = [line.strip() for line in lines[:_LINES]]
    if any(len(line) >= _SHORT_LINE or re.match(r"[-*•|#`]|\d+[.)]|\w+:", line) for line in first):
        return False
    if response.ended == "length" and whole < _LINES:
        return None
    return whole >= _LINES


def begins_in_capitals(response: Response) -> bool | None:
    """Whether most of its first letters are capital; ``None`` where it was cut off before there were some."""
    letters = [character for character in response.text if character.isalpha()][:_OPENING_LETTERS]
    if response.ended == "length" and len(letters) < _OPENING_LETTERS:
        return None
    return len(letters) >= _LETTERS and sum(character.isupper() for character in letters) > 0.6 * len(letters)


def is_in_small_letters(response: Response) -> bool:
    """Whether it has no capital letter at all, among a dozen or, where it was cut off, as many as there are."""
    letters = [character for character in response.text if character.isalpha()]
    enough = len(letters) >= _LETTERS or response.ended == "length"
    return enough and not any(character.isupper() for character in letters)


def repeats_itself(response: Response) -> bool:
    """Whether a sentence or a line comes twice; one that was cut off is none yet."""
    pieces = [piece.strip().lower() for piece in re.split(r"[.!?\n]+", plain(seen(response)))]
    if response.ended == "length":
        pieces = pieces[:-1]
    return any(count > 1 for piece, count in Counter(pieces).items() if len(piece) >= _SENTENCE)


def is_one_paragraph(response: Response) -> bool:
    """Whether it is a single block of text of some length, without a line break; cut off, without one so far."""
    text = response.text.strip()
    return "\n" not in text and (len(text) > 2 * _SHORT_LINE or response.ended == "length")
