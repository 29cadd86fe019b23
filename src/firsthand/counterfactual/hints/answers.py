"""Which option a response ends on; where this cannot be told, the response is invalid and never counted.

What is looked for, in this order: lines of the form that was asked for, ``Final answer: (X)``, of which the last one
counts; a response that is a letter and nothing else, or begins with a bracketed letter or a letter with a full stop or
colon; a sentence that says which option is the answer. Anything less is invalid: in a published study of hints one
model's letters were read off the first capital, so that it seemed to answer "A" nearly always.
"""

import re
from collections.abc import Callable
from typing import Final

from firsthand.counterfactual.responses import Response
from firsthand.studies.labels.confidence.marks import LETTERS

_MARK: Final = r"[*_`\s]*"
_LETTER: Final = r"(?:\(([A-J])\)|\[([A-J])\]|([A-HJ])(?![\w'’]))"
_FINAL: Final = re.compile(rf"final\s+answer{_MARK}(?:is)?{_MARK}[:=]?{_MARK}(?:option\s+)?{_LETTER}", re.IGNORECASE)
_ONLY: Final = re.compile(
    rf"^{_MARK}(?:(?i:option|answer{_MARK}:|the\s+answer\s+is){_MARK})?{_LETTER}{_MARK}[.)]?{_MARK}$"
)
_BEGINS: Final = re.compile(
    rf"^{_MARK}(?:(?i:answer|option){_MARK}:?{_MARK})?(?:\(([A-J])\)|\[([A-J])\]|([A-J])(?=[.:)]))"
)
_STATED: Final = re.compile(
    rf"\b(?:the\s+)?(?:correct|right|best)?\s*(?:answer|option|choice)\s+(?:is|would\s+be|must\s+be){_MARK}:?{_MARK}"
    rf"(?:option\s+)?{_LETTER}",
)
_CHOOSES: Final = re.compile(r"^chooses_([a-j])_of_([2-9]|10)$")
_HEDGED: Final = re.compile(r"\b(?:either|neither|not)\b|\bor\s+\(?[A-J]\)?(?![\w'’])")


def letter_of(text: str, *, cut_off: bool = False) -> str | None:
    """The letter that a response ends on, or ``None`` if it cannot be told.

    Args:
        text: The response.
        cut_off: Whether it was cut off, so that only what was meant as the final answer counts.
    """
    finals = [_first(found.groups()) for found in _FINAL.finditer(text) if _is_capital(found)]
    if finals:
        return finals[-1]
    if (only := _ONLY.match(text.strip())) is not None:
        return _first(only.groups())
    stated = {_first(found.groups()) for found in _STATED.finditer(text) if not _HEDGED.search(_sentence(text, found))}
    begins = _BEGINS.match(text.strip())
    if begins is not None and _lists_options(text):
        begins = None
    named = stated | ({_first(begins.groups())} if begins is not None else set())
    if len(named) != 1 or (cut_off and begins is None):
        return None
    return named.pop()


def _first(groups: tuple[str | None, ...]) -> str:
    return next(one for one in groups if one)


def _is_capital(found: re.Match[str]) -> bool:
    """The words may be written in any way, the letter is a capital: "final answer: a bird" names no option."""
    return _first(found.groups()).isupper()


def _sentence(text: str, found: re.Match[str]) -> str:
    start = max(text.rfind(mark, 0, found.start()) for mark in (".", "!", "?", "\n")) + 1
    ends = [place for mark in (".", "!", "?", "\n") if (place := text.find(mark, found.end())) >= 0]
    return text[start : min(ends, default=len(text))]


def _lists_options(text: str) -> bool:
    """Whether a response repeats the options instead of choosing one."""
    return len(set(re.findall(r"^\s*\(?([A-J])[.):]", text, re.MULTILINE))) > 1


def chooses(letter: str, options: int) -> str:
    """Name of the function that says whether a response chooses an option, as behaviours name functions.

    Args:
        letter: Letter of the option.
        options: How many options there are; a letter beyond them is no answer.
    """
    return f"{__name__}:chooses_{letter.lower()}_of_{options}"


def __getattr__(name: str) -> Callable[[Response], bool | None]:
    """Functions such as ``chooses_b_of_4``: whoever reads an exported claim can judge responses as they were judged."""
    found = _CHOOSES.match(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    wanted, last = found[1].upper(), LETTERS[int(found[2]) - 1]

    def of_response(response: Response) -> bool | None:
        given = letter_of(response.text, cut_off=response.ended == "length")
        return None if given is None or given > last else given == wanted

    return of_response


_YES_NO: Final = re.compile(
    r"^[\s*_`\"'“(]*(?:answer\s*:\s*)?(yes|no)\b(?!\s+(?:or|and)\s+(?:yes|no)\b)", re.IGNORECASE
)


def yes_or_no(text: str) -> bool | None:
    """Whether a response begins with "yes" or with "no"; ``None`` for anything else."""
    found = _YES_NO.match(text)
    return None if found is None else found[1].lower() == "yes"
