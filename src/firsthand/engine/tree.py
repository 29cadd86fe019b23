"""Finds what rows have in common, so that it is computed once: a tree of prefixes, level by level.

A row can share its tokens up to the first place where it is edited or read. Where rows part, a prefix ends and each
branch continues it. A branch that would save fewer than ``least`` tokens is not worth a pass of its own; its rows then
carry those tokens themselves.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, halving, slots_at_once, tokens_at_once
from firsthand.engine.edits import Row, reads_of
from firsthand.engine.prompts import common_prefix_length
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


def walk(anatomy: Anatomy, rows: Sequence[Row], least: int) -> Iterator[list[Leaf]]:
    """Compute what rows share, branch by branch, and let go of it once its rows are done with.

    Args:
        anatomy: The model's parts.
        rows: The rows, whole.
        least: Fewest tokens, over all rows that share them, that must be saved to be worth a pass of their own.

    Yields:
        Leaves that continue the same prefix; every row is in one of them.
    """
    free = [shareable_length(row) for row in rows]
    yield from _descend(anatomy, rows, free, [_branch(rows, free, None, 0, range(len(rows)))], least)


def _descend(
    anatomy: Anatomy, rows: Sequence[Row], free: Sequence[int], branches: list[_Branch], least: int
) -> Iterator[list[Leaf]]:
    """The leaves of branches that continue the same prefix, then those of the prefixes that continue it."""
    leaves: list[Leaf] = []
    worth: list[_Branch] = []
    while branches:
        b = branches.pop()
        if len(b.members) == 1:
            leaves.append(Leaf(b.members[0], b.prefix, b.home))
        elif (b.part - b.start) * (len(b.members) - 1) >= least:
            worth.append(b)
        else:
            _split(rows, free, b, b.prefix, b.home, leaves, branches)
    if leaves:
        yield leaves
    worth.sort(key=lambda b: (b.home, b.members[0]))
    slots, tokens = slots_at_once(anatomy), tokens_at_once(anatomy)
    for chunk in chunked(worth, lambda b: max(b.part / slots, (b.part - b.start) / tokens), 1.0):
        for prefix, some in _prefixes(anatomy, rows, chunk):
            below: list[_Branch] = []
            done: list[Leaf] = []
            for home, b in enumerate(some):
                _split(rows, free, b, prefix, home, done, below)
            if done:
                yield done
            yield from _descend(anatomy, rows, free, below, least)


def _prefixes(
    anatomy: Anatomy, rows: Sequence[Row], branches: Sequence[_Branch]
) -> list[tuple[Prefix, Sequence[_Branch]]]:
    """A prefix that holds what each of some branches has in common; several where memory does not suffice for one."""
    made: list[tuple[Prefix, Sequence[_Branch]]] = []

    def make(some: Sequence[_Branch]) -> None:
        begun = [Row(rows[b.members[0]].tokens[b.start : b.part]) for b in some]
        homes = None if some[0].prefix is None else [b.home for b in some]
        made.append((run_prefix(anatomy, begun, prefix=some[0].prefix, prefix_rows=homes)[0], some))

    halving(branches, make)
    return made


def shareable_length(row: Row) -> int:
    """How many leading tokens of a row nothing is done to and nothing is read from."""
    touched = [p for edit in row.edits for p in edit.positions] + [p for c in row.captures for p in c.positions]
    return min([*touched, *reads_of(row, 0), len(row.tokens) - 1])


def _branch(
    rows: Sequence[Row], free: Sequence[int], prefix: Prefix | None, home: int, members: Sequence[int]
) -> _Branch:
    different = list({id(rows[i].tokens): rows[i].tokens for i in members}.values())
    limit = min(free[i] for i in members)
    return _Branch(prefix, home, tuple(members), min(limit, common_prefix_length(different)))


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
