"""Behaviours that take more than a regular expression: functions of one response, true, false or ``None``."""

import json
import re
from collections import Counter
from typing import Final

from firsthand.counterfactual.responses import Response

_FEW_WORDS: Final = 8
_LINES: Final = 4
_SHORT_LINE: Final = 60
_LETTERS: Final = 12
_SENTENCE: Final = 20


def ends_early(response: Response) -> bool:
    """Whether it ended by itself, and was not cut off."""
    return response.ended == "stop"


def is_very_short(response: Response) -> bool:
    """Whether it ended by itself after a few words."""
    return response.ended == "stop" and len(response.text.split()) <= _FEW_WORDS


def is_one_word(response: Response) -> bool:
    """Whether it is one word."""
    return response.ended == "stop" and len(response.text.split()) == 1


def begins_as_json(response: Response) -> bool | None:
    """Whether it is JSON, or, where it was cut off, begins as an object or a list of it; ``None`` cannot happen."""
    text = re.sub(r"^\s*```(?:json)?\s*", "", response.text).strip()
    if not re.match(r'(\{\s*"|\[\s*[\[{"])', text):
        return False
    if response.ended == "length":
        return True
    try:
        json.JSONDecoder().raw_decode(text)
    except ValueError:
        return False
    return True


def is_verse(response: Response) -> bool:
    """Whether it has at least four lines, and most of them are short and are no items of a list."""
    lines = [line.strip() for line in response.text.splitlines() if line.strip()]
    short = [line for line in lines if len(line) < _SHORT_LINE and not re.match(r"([-*•|#]|\d+[.)]|\w+:)", line)]
    return len(lines) >= _LINES and len(short) >= 0.75 * len(lines)


def is_in_capitals(response: Response) -> bool:
    """Whether most of its letters are capital."""
    letters = [character for character in response.text if character.isalpha()]
    return len(letters) >= _LETTERS and sum(character.isupper() for character in letters) > 0.6 * len(letters)


def is_in_small_letters(response: Response) -> bool:
    """Whether it has no capital letter at all."""
    letters = [character for character in response.text if character.isalpha()]
    return len(letters) >= _LETTERS and not any(character.isupper() for character in letters)


def repeats_itself(response: Response) -> bool:
    """Whether a sentence or a line comes twice."""
    pieces = [piece.strip().lower() for piece in re.split(r"[.!?\n]+", response.text)]
    return any(count > 1 for piece, count in Counter(pieces).items() if len(piece) >= _SENTENCE)


def is_one_paragraph(response: Response) -> bool:
    """Whether it is a single block of text of some length, without a line break."""
    text = response.text.strip()
    return len(text) > 2 * _SHORT_LINE and "\n" not in text
