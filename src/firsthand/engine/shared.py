"""Runs rows that begin alike, computing what they share once: a tree of prefixes, level by level.

Where rows part, a prefix ends and each branch continues it. A branch that would save fewer than :data:`LEAST_SHARED`
tokens is not worth a forward pass of its own; its rows then carry those tokens themselves. The result is the same as
running every row whole (to rounding), whatever the order of the rows.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedModel

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.prompts import common_prefix_length
from firsthand.engine.session import Prefix, can_share_prefix, run_prefix, run_rows

LEAST_SHARED: Final = 16
MOST_PADDING: Final = 1.2
MOST_ROWS: Final = 48

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Branch:
    """Rows that continue one row of a prefix and are the same up to ``part``, which is the prefix's end or later."""

    prefix: Prefix | None
    row: int
    members: tuple[int, ...]
    part: int

    @property
    def start(self) -> int:
        return 0 if self.prefix is None else self.prefix.length


def run_shared(model: PreTrainedModel, anatomy: Anatomy, rows: Sequence[Sequence[int]]) -> Tensor:
    """Log-probabilities after the last token of each row.

    Args:
        model: The model, in evaluation mode.
        anatomy: Its parts.
        rows: Token ids of each row, whole.

    Returns:
        ``[rows, vocabulary]``, float32 on the CPU, in the order of the rows.

    Raises:
        EngineError: If a row is empty or the model cannot take it.
    """
    every = tuple(range(len(rows)))
    whole = [_Branch(None, 0, (i,), 0) for i in every]
    leaves = _grow(model, anatomy, rows, [_branch(rows, None, 0, every)]) if can_share_prefix(model) else whole
    found: dict[int, Tensor] = {}
    for same in together(leaves, lambda leaf: id(leaf.prefix)):
        for batch in alike(same, lambda leaf: len(rows[leaf.members[0]]) - leaf.start):
            chosen = None if batch[0].prefix is None else [leaf.row for leaf in batch]
            suffixes = [rows[leaf.members[0]][leaf.start :] for leaf in batch]
            output = run_rows(model, anatomy, suffixes, prefix=batch[0].prefix, prefix_rows=chosen)
            found.update(zip((leaf.members[0] for leaf in batch), output.logprobs_RV, strict=True))
    return torch.stack([found[i] for i in every])


def _grow(
    model: PreTrainedModel, anatomy: Anatomy, rows: Sequence[Sequence[int]], level: list[_Branch]
) -> list[_Branch]:
    """Compute the shared parts level by level; what is left are branches with one row each."""
    leaves: list[_Branch] = []
    while level:
        leaves += [b for b in level if len(b.members) == 1]
        several = [b for b in level if len(b.members) > 1]
        level = [
            child for b in several if b.part - b.start < LEAST_SHARED for child in _split(rows, b, b.prefix, b.row)
        ]
        worth = [b for b in several if b.part - b.start >= LEAST_SHARED]
        for group in together(worth, lambda b: (id(b.prefix), b.part)):
            begun = [rows[b.members[0]][b.start : b.part] for b in group]
            chosen = None if group[0].prefix is None else [b.row for b in group]
            prefix, _ = run_prefix(model, anatomy, begun, prefix=group[0].prefix, prefix_rows=chosen)
            level += [child for row, b in enumerate(group) for child in _split(rows, b, prefix, row)]
    return leaves


def _branch(rows: Sequence[Sequence[int]], prefix: Prefix | None, row: int, members: Sequence[int]) -> _Branch:
    return _Branch(prefix, row, tuple(members), common_prefix_length([rows[i] for i in members]))


def _split(rows: Sequence[Sequence[int]], parent: _Branch, prefix: Prefix | None, row: int) -> list[_Branch]:
    """The branches into which a branch parts: rows with the same next token together, a row about to end alone."""

    def next_token(i: int) -> tuple[int, int]:
        ends = len(rows[i]) == parent.part + 1
        return (i, 1) if ends else (rows[i][parent.part], 0)

    return [_branch(rows, prefix, row, members) for members in together(parent.members, next_token)]


def together(items: Sequence[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Items with equal keys together, in order of appearance."""
    groups: dict[Hashable, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def alike(items: Sequence[T], length: Callable[[T], int]) -> list[list[T]]:
    """Items of similar length together, so that little is spent on padding, and not too many at once."""
    batches: list[list[T]] = []
    for item in sorted(items, key=length):
        last = batches[-1] if batches else None
        if last and len(last) < MOST_ROWS and length(item) <= MOST_PADDING * length(last[0]):
            last.append(item)
        else:
            batches.append([item])
    return batches
