"""Whether what an edit puts in says nothing: text about nothing, a turn that says no more than that it is one."""

import re
from typing import Final

from firsthand.counterfactual.edits import Edit, Replace, Rewrite
from firsthand.counterfactual.segments.neutral_words import IDENTIFIERS, ITEMS, NAMES, SENTENCES, SHORT, WORDS
from firsthand.counterfactual.segments.removing import STANDS_FOR

_MARK: Final = re.compile(r"^\s*(?:[-*+•‣–]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+")
_SINGLE: Final = frozenset(
    word.casefold() for words in (NAMES, *WORDS.values(), ("something", "item")) for word in words
)
_IDENTIFIER: Final = re.compile(rf"_*(?:{'|'.join(IDENTIFIERS)})_?\d+", re.IGNORECASE)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


_WHOLE: Final = frozenset(
    _bare(text)
    for texts in (*STANDS_FOR.values(), *ITEMS, (SHORT, "This part has been left blank.", "Answer the user.", "Go on."))
    for text in texts
)
_FILLERS: Final = tuple(f" {_bare(' '.join(one))} " for one in SENTENCES)


def is_neutral(text: str) -> bool:
    """Whether a text is one of those that are put where something is taken away; an empty one is."""
    words = _bare(_MARK.sub("", text))
    if not words or words in _WHOLE:
        return True
    if all(word in _SINGLE or word.isdigit() or _IDENTIFIER.fullmatch(word) for word in words.split()):
        return not words.replace(" ", "").isdigit()
    return " " in words and any(_is_filler(words, filler) for filler in _FILLERS)


def _is_filler(words: str, filler: str) -> bool:
    """Whether some words are the beginning of a text about nothing, which begins anew where it ends."""
    while len(words) + 2 > len(filler):
        if not words.startswith(filler.strip()):
            return False
        words = words[len(filler) - 1 :]
    return f" {words} ".startswith(filler[: len(words) + 1]) and filler[len(words) + 1] == " "


def takes_away(edit: Edit) -> bool:
    """Whether an edit only puts neutral texts where others stood, or none."""
    return all(
        isinstance(one, Replace | Rewrite) and is_neutral(one.text if isinstance(one, Replace) else one.content)
        for one in edit.operations
    )
