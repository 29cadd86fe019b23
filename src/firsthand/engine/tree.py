"""Finds what rows have in common, so that it is computed once: a tree of prefixes, level by level.

A row can share its tokens up to the first place where it is edited or read. Where rows part, a prefix ends and each
branch continues it. A branch that would save fewer than ``least`` tokens is not worth a pass of its own; its rows then
carry those tokens themselves.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, halving, tokens_at_once
from firsthand.engine.edits import Row, reads_of
from firsthand.engine.session import Prefix, run_prefix

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Leaf:
    """A row and what it continues.

    Attributes:
        row: Index of the row.
        prefix: The prefix that it continues, if any.
        home: Row of that prefix.
    """

    row: int
    prefix: Prefix | None
    home: int

    @property
    def start(self) -> int:
        """Tokens of the row that the prefix holds."""
        return 0 if self.prefix is None else self.prefix.lengths[self.home]


@dataclass(frozen=True, eq=False)
class _Branch:
    """Rows that continue one row of a prefix and are the same up to ``part``, which is the prefix's end or later."""

    prefix: Prefix | None
    home: int
    members: tuple[int, ...]
    part: int

    @property
    def start(self) -> int:
        return 0 if self.prefix is None else self.prefix.lengths[self.home]


def grow(anatomy: Anatomy, rows: Sequence[Row], least: int) -> list[Leaf]:
    """Compute what rows share.

    Args:
        anatomy: The model's parts.
        rows: The rows, whole.
        least: Fewest tokens that are worth a pass of their own.

    Returns:
        One leaf a row, in any order.
    """
    free = [shareable_length(row) for row in rows]
    leaves: list[Leaf] = []
    level = [_branch(rows, free, None, 0, range(len(rows)))]
    while level:
        several = []
        for branch in level:
            if len(branch.members) == 1:
                leaves.append(Leaf(branch.members[0], branch.prefix, branch.home))
            else:
                several.append(branch)
        worth = [b for b in several if b.part - b.start >= least]
        level = []
        for b in several:
            if b.part - b.start < least:
                _split(rows, free, b, b.prefix, b.home, leaves, level)
        for b, prefix, home in _computed(anatomy, rows, worth):
            _split(rows, free, b, prefix, home, leaves, level)
    return leaves


def _computed(anatomy: Anatomy, rows: Sequence[Row], branches: Sequence[_Branch]) -> list[tuple[_Branch, Prefix, int]]:
    """Run branches up to where they part, and say which row of which prefix each has become."""
    budget = tokens_at_once(anatomy)
    finished: list[tuple[_Branch, Prefix, int]] = []

    def work(some: Sequence[_Branch]) -> None:
        begun = [Row(rows[b.members[0]].tokens[b.start : b.part]) for b in some]
        homes = None if some[0].prefix is None else [b.home for b in some]
        prefix, _ = run_prefix(anatomy, begun, prefix=some[0].prefix, prefix_rows=homes)
        finished.extend((b, prefix, home) for home, b in enumerate(some))

    for group in together(branches, lambda b: id(b.prefix)):
        for chunk in chunked(group, lambda b: b.part - b.start, budget):
            halving(chunk, work)
    return finished


def shareable_length(row: Row) -> int:
    """How many leading tokens of a row nothing is done to and nothing is read from."""
    touched = [p for edit in row.edits for p in edit.positions] + [p for c in row.captures for p in c.positions]
    return min([*touched, *reads_of(row, 0), len(row.tokens) - 1])


def _branch(
    rows: Sequence[Row], free: Sequence[int], prefix: Prefix | None, home: int, members: Sequence[int]
) -> _Branch:
    different = list({id(rows[i].tokens): rows[i].tokens for i in members}.values())
    limit = min(free[i] for i in members)
    return _Branch(prefix, home, tuple(members), _common(different, limit))


def _common(sequences: Sequence[Sequence[int]], limit: int) -> int:
    first = sequences[0][:limit]
    for other in sequences[1:]:
        if other[:limit] != first:
            limit = next(i for i in range(limit) if other[i] != first[i])
            first = first[:limit]
    return limit


def _split(
    rows: Sequence[Row],
    free: Sequence[int],
    parent: _Branch,
    prefix: Prefix | None,
    home: int,
    leaves: list[Leaf],
    level: list[_Branch],
) -> None:
    """Rows that can share no further become leaves; the others part by their next token."""
    leaves += [Leaf(i, prefix, home) for i in parent.members if free[i] == parent.part]
    on = [i for i in parent.members if free[i] > parent.part]
    level += [
        _branch(rows, free, prefix, home, members) for members in together(on, lambda i: rows[i].tokens[parent.part])
    ]


def together(items: Sequence[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Items with equal keys together, in order of appearance."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())
