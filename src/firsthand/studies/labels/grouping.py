"""Which texts belong together: contrast pairs, and whatever else a file says is not to be parted."""

from collections.abc import Sequence
from typing import Final

ALIKE: Final = 0.5
"""Share of the shorter text's words from which on two consecutive texts are taken for a contrast pair."""


def groups_of(texts: Sequence[str], names: Sequence[str | None] | None = None) -> list[int]:
    """The group of each text, as a number.

    Sets of contrast pairs (ETHICS, for one) give the two texts of a pair one after the other. Comparing with the
    shorter text puts rather too much together than too little, which costs nothing but freedom in splitting. Groups
    that hold the same text become one, since its other texts are near twins of it in either.

    Args:
        texts: The texts in the file's order; an empty one is like no other.
        names: What the file calls each text's group, if it says so; a text without a name is a group by itself.
    """
    return _joined(texts, _alike(texts) if names is None else _named(names))


def _named(names: Sequence[str | None]) -> list[int]:
    numbers: dict[tuple[str | None, int], int] = {}
    return [numbers.setdefault((name, -1 if name is not None else i), len(numbers)) for i, name in enumerate(names)]


def _alike(texts: Sequence[str]) -> list[int]:
    groups: list[int] = []
    before: set[str] = set()
    for text in texts:
        words = _words(text)
        fewest = min(len(words), len(before))
        same = fewest > 0 and len(words & before) >= ALIKE * fewest
        groups.append((groups[-1] if groups else 0) + (not same))
        before = words
    return groups


def _words(text: str) -> set[str]:
    return {word.strip(".,;:!?\"'()").casefold() for word in text.split()} - {""}


def _joined(texts: Sequence[str], groups: Sequence[int]) -> list[int]:
    parent = {group: group for group in groups}

    def root(group: int) -> int:
        while parent[group] != group:
            group = parent[group]
        return group

    owner: dict[str, int] = {}
    for text, group in zip(texts, groups, strict=True):
        if text:
            one, other = sorted((root(owner.setdefault(text, group)), root(group)))
            parent[other] = one
    return [root(group) for group in groups]
