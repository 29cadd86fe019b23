"""Rows that have been run and can be continued: each keeps keys and values of what is its own.

Rows that begin alike attend to the same prefix. The continuations of a row (samples, or candidate answers) attend to it
too: either each gets a copy of the row's own part, or the whole row becomes a prefix of its own, whichever copies less.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.attention import Memory, SharedPass, Tail
from firsthand.engine.chunks import chunked, slots_at_once, tokens_at_once
from firsthand.engine.edits import Row
from firsthand.engine.forward import forward
from firsthand.engine.layout import Layout
from firsthand.engine.session import shared_pass
from firsthand.engine.sweep import LEAST_SAVED
from firsthand.engine.tree import Leaf, walk


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


def open_rows(anatomy: Anatomy, rows: Sequence[Row], copies: int, further: int) -> Iterator[Opened]:
    """Run rows to their end, in groups that fit into memory with their continuations.

    Args:
        anatomy: The model's parts, which can share (see :mod:`firsthand.engine.sharing`).
        rows: The rows, whole.
        copies: Continuations of each row that will be run side by side.
        further: Tokens of each continuation.
    """
    tokens, slots = tokens_at_once(anatomy), slots_at_once(anatomy)
    for leaves in walk(anatomy, rows, LEAST_SAVED):
        own = {leaf.row: len(rows[leaf.row].tokens) - leaf.start for leaf in leaves}

        def size(leaf: Leaf, own: dict[int, int] = own) -> float:
            """The share of a batch that a row takes, by tokens of its pass or by what is kept of it."""
            kept = leaf.start + own[leaf.row] + copies * (min(own[leaf.row], leaf.start) + further)
            return max(own[leaf.row] / tokens, copies / tokens, kept / slots)

        for group in chunked(leaves, size, 1.0):
            yield _open(anatomy, rows, group, copies)


def _open(anatomy: Anatomy, rows: Sequence[Row], leaves: Sequence[Leaf], copies: int) -> Opened:
    homes, prefix = [leaf.home for leaf in leaves], leaves[0].prefix
    rest = [rows[leaf.row].from_position(leaf.start) for leaf in leaves]
    passed, state, order = shared_pass(anatomy, rest, [leaf.start for leaf in leaves], prefix, homes, record=True)
    own = state.memory().select(torch.argsort(torch.tensor(order)))
    numbers, home_R = tuple(leaf.row for leaf in leaves), torch.tensor(homes)
    if prefix is not None and prefix.memory is not None:
        # Either each continuation gets a copy of the row's own part, or each row a copy of what rows share.
        if sum(len(row.tokens) * (copies - 1) for row in rest) <= sum(leaf.start for leaf in leaves):
            return Opened(numbers, passed.logits_EV, prefix.memory, home_R, own)
        own = prefix.memory.select(home_R).followed_by(own)
    return Opened(numbers, passed.logits_EV, own, torch.arange(len(rest)), own.emptied())


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
