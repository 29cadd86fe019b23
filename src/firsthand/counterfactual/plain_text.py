"""Texts as programs read them: typography made plain, and what was cut off without its unfinished last word."""

import re
from typing import Final

from firsthand.counterfactual.responses import Response

_TYPOGRAPHY: Final = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ′＇", "'"),
        **dict.fromkeys("“”„‟«»″＂", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000", " "),
        **dict.fromkeys("\u2010\u2011", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", None),
    }
)
_MARKS: Final = re.compile(r"(?<!\w)[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}(?!\w)")
_UNFINISHED: Final = re.compile(r"[0-9A-Za-z\u00c0-\u052f'’]+\Z")
"""A last word of a script that writes spaces between words; others have none to tell it by."""


def plain(text: str) -> str:
    """A text with straight quotation marks and apostrophes, ordinary spaces, and no Markdown around words."""
    return _MARKS.sub("", text.translate(_TYPOGRAPHY))


def seen(response: Response) -> str:
    """What of a response can be judged: where it was cut off, the last word may not be the word that it was to be."""
    return _UNFINISHED.sub("", response.text) if response.ended == "length" else response.text
