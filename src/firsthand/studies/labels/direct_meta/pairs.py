"""Pairs of strings of which one is better: our own by phenomenon, or a user's from a file.

White space inside a string is written as single blanks, since strings are shown in lists of lines. What cannot be used
is left out and counted by what was wrong with it; a file that says two things about the same strings is refused.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from firsthand.errors import LabelsError
from firsthand.studies.labels.direct_meta.texts import TEXTS
from firsthand.studies.labels.tables import Record, read_records
from firsthand.trials.canonical import digest

NEEDED: Final = ("good", "bad")
OPTIONAL: Final = "phenomenon"
NO_PHENOMENON: Final = "unnamed"
"""Phenomenon of a user's pair that names none."""
_SIDES: Final = re.compile(r"\[([^\[\]|]*)\|([^\[\]|]*)\]")


@dataclass(frozen=True)
class Pair:
    """Two strings of which one is better.

    Attributes:
        key: Names the pair within its set.
        good: The acceptable string.
        bad: The other one.
        phenomenon: What the two differ in; pairs of one phenomenon are not independent.
    """

    key: str
    good: str
    bad: str
    phenomenon: str


@dataclass(frozen=True)
class PairSet:
    """Pairs, and what was left out of them.

    Attributes:
        pairs: What can be used, in the order of the file.
        dropped: Number of rows that were left out, by what was wrong with them.
        respaced: Number of strings whose white space was changed.
    """

    pairs: tuple[Pair, ...]
    dropped: Mapping[str, int]
    respaced: int = 0


def built_in() -> tuple[Pair, ...]:
    """Our own pairs, in the order of their phenomena."""
    return tuple(
        Pair(f"{phenomenon}-{number:02d}", *sides(text), phenomenon)
        for phenomenon, texts in TEXTS.items()
        for number, text in enumerate(texts, start=1)
    )


def sides(text: str) -> tuple[str, str]:
    """The acceptable and the other string of a text such as ``The keys [are|is] lost.``

    Raises:
        LabelsError: If the text has no such place, or one that is not closed.
    """
    if not _SIDES.search(text) or set(_SIDES.sub("", text)) & set("[]|"):
        raise LabelsError(f"The text {text!r} is no pair.", "Write what differs as [good|bad].")
    return _spaced(_SIDES.sub(r"\1", text)), _spaced(_SIDES.sub(r"\2", text))


def digest_of(pairs: Iterable[Pair]) -> str:
    """SHA-256 of pairs, in hexadecimal: equal for equal pairs in equal order."""
    return digest([[pair.key, pair.good, pair.bad, pair.phenomenon] for pair in pairs])


def items_of(pairs: Iterable[Pair]) -> dict[str, str]:
    """The item of each pair, by its key: pairs that share a string, directly or through others, are one item."""
    parent: dict[str, str] = {}

    def root(text: str) -> str:
        while parent.setdefault(text, text) != text:
            parent[text] = parent[parent[text]]
            text = parent[text]
        return text

    listed = list(pairs)
    for pair in listed:
        parent[root(pair.bad)] = root(pair.good)
    named: dict[str, str] = {}
    return {pair.key: named.setdefault(root(pair.good), pair.key) for pair in listed}


def seen_of_pairs(pairs: Sequence[Pair]) -> pd.DataFrame:
    """What anybody sees of pairs: ``key``, ``item``, ``phenomenon``, and by how many ``characters`` and ``words`` the
    better string is longer.
    """
    items = items_of(pairs)
    return pd.DataFrame(
        {
            "key": [pair.key for pair in pairs],
            "item": [items[pair.key] for pair in pairs],
            "phenomenon": [pair.phenomenon for pair in pairs],
            "characters": [len(pair.good) - len(pair.bad) for pair in pairs],
            "words": [len(pair.good.split()) - len(pair.bad.split()) for pair in pairs],
        }
    )


def read_pairs(path: Path) -> PairSet:
    """Read pairs from a file of any kind that :func:`~firsthand.studies.labels.tables.read_records` reads.

    Args:
        path: A file whose rows have ``good`` and ``bad``, and may have ``phenomenon``; other columns are ignored. Keys
            are ``row-1``, ``row-2``, ... in the order of the rows.

    Returns:
        The pairs; rows with an empty string, with two equal strings, or that are there already are counted.

    Raises:
        LabelsError: If the file cannot be read, lacks a column, holds something that is no text, calls a string better
            in one row and worse in another against the same one, or has no pair left.
    """
    rows = read_records(path)
    _check_columns(path, rows[0])
    found: dict[tuple[str, str], Pair] = {}
    dropped: Counter[str] = Counter()
    respaced = 0
    for number, row in enumerate(rows, start=1):
        raw = _texts(path, number, row)
        good, bad, phenomenon = (_spaced(text) for text in raw)
        respaced += sum(text.strip() != spaced for text, spaced in zip(raw[:2], (good, bad), strict=True))
        problem = _problem(good, bad, found)
        if problem:
            dropped[problem] += 1
            continue
        if (bad, good) in found:
            raise LabelsError(
                f"{path}, row {number} calls {good!r} better than {bad!r}, {found[bad, good].key} the reverse.",
                "Remove one of the two rows.",
            )
        found[good, bad] = Pair(f"row-{number}", good, bad, phenomenon or NO_PHENOMENON)
    if not found:
        left_out = ", ".join(f"{count} {problem}" for problem, count in dropped.items())
        raise LabelsError(f"{path} holds no pair that can be used: {left_out}.", "Give rows with 'good' and 'bad'.")
    return PairSet(tuple(found.values()), dict(dropped), respaced)


def _problem(good: str, bad: str, found: Mapping[tuple[str, str], Pair]) -> str | None:
    if not good or not bad:
        return "with an empty string"
    if good == bad:
        return "with two equal strings"
    return "there already" if (good, bad) in found else None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _texts(path: Path, number: int, row: Record) -> tuple[str, str, str]:
    """The strings of a row and its phenomenon; what a row lacks is empty."""
    values = ["" if row.get(name) is None else row[name] for name in (*NEEDED, OPTIONAL)]
    for name, value in zip((*NEEDED, OPTIONAL), values, strict=True):
        if not isinstance(value, str):
            raise LabelsError(f"{path}, row {number}: {name} is {value!r}, which is no text.", "Write it in quotes.")
    return values[0], values[1], values[2]


def _check_columns(path: Path, row: Record) -> None:
    missing = [name for name in NEEDED if name not in row]
    if missing:
        raise LabelsError(
            f"{path} has no column {' or '.join(missing)}; it has {', '.join(map(str, row)) or 'none'}.",
            "Name the columns 'good', 'bad' and, if you like, 'phenomenon'.",
        )
