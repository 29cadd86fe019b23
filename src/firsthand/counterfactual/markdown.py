"""Markdown in which nothing that comes from elsewhere is markup."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from firsthand.counterfactual.describing import quoted

_SPECIAL: Final = re.compile(r"[\\`*_{}\[\]<>#|~&$^@]|^[-+=]|(?<=^\d)[.)]|:(?=//)|(?<=www)\.")
"""Characters that Markdown reads as markup: anywhere, at the beginning of a line, or in an address."""


def plain(text: str) -> str:
    """A text on one line that is nothing but text: no markup, no cell and no line ends in it."""
    spelled = quoted(text, max(len(text), 1))[1:-1].replace('\\"', '"')
    return _SPECIAL.sub(lambda found: f"&#{ord(found[0])};", spelled)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table; what stands in the cells is taken as it is."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines) + "\n"
