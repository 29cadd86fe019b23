"""Rows that have been run and can be continued: each keeps keys and values of what is its own.

Rows that begin alike attend to the same prefix; a row that shares nothing is itself the prefix of whatever continues
it. The continuations of an opened row, samples or candidate answers, copy only its own part.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.attention import Memory, SharedPass, Tail
from firsthand.engine.chunks import chunked, tokens_at_once
from firsthand.engine.edits import Row
from firsthand.engine.forward import forward
from firsthand.engine.layout import Layout
from firsthand.engine.session import shared_pass
from firsthand.engine.sweep import LEAST_SHARED
from firsthand.engine.tree import Leaf, grow, together


@dataclass(frozen=True, eq=False)
class Opened:
    """Rows of one prefix, run to their end.

    Attributes:
        numbers: Which rows they are.
        logits_RV: Logits after each row's last token, ``[rows, vocabulary]``.
        prefix: Keys and values of what they share.
        homes_R: For each row its row of the prefix ``[rows]``.
        own: Keys and values of what is each row's own.
    """

    numbers: tuple[int, ...]
    logits_RV: Tensor
    prefix: Memory
    homes_R: Tensor
    own: Memory

    def tail(self, rows: Tensor) -> Tail:
        """Room for continuations of some rows, one for each entry of ``rows`` (indices into :attr:`numbers`)."""
        return Tail(self.own.select(rows))


def open_rows(anatomy: Anatomy, rows: Sequence[Row], copies: int) -> Iterator[Opened]:
    """Run rows to their end, in groups that fit into memory with their continuations.

    Args:
        anatomy: The model's parts, which can share (see :mod:`firsthand.engine.sharing`).
        rows: The rows, whole.
        copies: Continuations of each row that will be run side by side.
    """
    leaves = {leaf.row: leaf for leaf in grow(anatomy, rows, LEAST_SHARED)}
    budget = tokens_at_once(anatomy)

    def size(number: int) -> int:
        return len(rows[number].tokens) - leaves[number].start + copies

    for same in together(range(len(rows)), lambda number: id(leaves[number].prefix)):
        for group in chunked(same, size, budget):
            yield _open(anatomy, rows, group, leaves)


def _open(anatomy: Anatomy, rows: Sequence[Row], numbers: Sequence[int], leaves: Mapping[int, Leaf]) -> Opened:
    asked = [leaves[number] for number in numbers]
    homes, prefix = [leaf.home for leaf in asked], asked[0].prefix
    rest = [rows[leaf.row].from_position(leaf.start) for leaf in asked]
    passed, state, order = shared_pass(anatomy, rest, [leaf.start for leaf in asked], prefix, homes, record=True)
    own = state.memory().select(torch.argsort(torch.tensor(order)))
    if prefix is None or prefix.memory is None:
        return Opened(tuple(numbers), passed.logits_EV, own, torch.arange(len(rest)), own.emptied())
    return Opened(tuple(numbers), passed.logits_EV, prefix.memory, torch.tensor(homes), own)


def run_further(
    anatomy: Anatomy, rows: Sequence[Row], starts: Sequence[int], prefix: Memory, homes_R: Tensor, tail: Tail
) -> Tensor:
    """Run further tokens of continuations, which are added to their tail.

    Args:
        anatomy: The model's parts.
        rows: The new tokens of each continuation.
        starts: Absolute position of the first of them.
        prefix: What they share.
        homes_R: For each continuation its row of the prefix.
        tail: What each has of its own before them.

    Returns:
        Logits after every token that the rows are read at, ``[reads, vocabulary]``.
    """
    layout = Layout.of(rows, starts, packed=True)
    homes = tuple(homes_R.tolist()) if len(prefix.positions_BP) > 1 else None
    return forward(anatomy, rows, layout, SharedPass(layout, prefix, homes, tail=tail)).logits_EV
