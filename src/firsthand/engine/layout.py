"""Where each row's tokens lie in one forward pass.

A pass takes rows either *packed*, one behind the other in a single sequence without padding (for the shared attention
of :mod:`firsthand.engine.attention`), or *padded* on the right to a rectangle (for the model's own attention, which
cannot see what comes later). Either way a residual stream, seen as ``[places, hidden]``, has one place for each token
of each row, and :meth:`Layout.place` finds it from row and absolute position.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from firsthand.engine.edits import Row


@dataclass(frozen=True, eq=False)
class Layout:
    """Rows in one pass.

    Attributes:
        rows: Token ids of each row.
        starts: Absolute position of each row's first token.
        packed: Whether rows lie one behind the other, or beside each other with padding on the right.
    """

    rows: tuple[tuple[int, ...], ...]
    starts: tuple[int, ...]
    packed: bool

    @classmethod
    def of(cls, rows: Sequence[Row], starts: Sequence[int], *, packed: bool) -> "Layout":
        """The layout of some rows."""
        return cls(tuple(row.tokens for row in rows), tuple(starts), packed)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of each row."""
        return tuple(len(row) for row in self.rows)

    @property
    def longest(self) -> int:
        """Tokens of the longest row."""
        return max(self.lengths)

    @cached_property
    def even(self) -> bool:
        """Whether all rows are equally long."""
        return len(set(self.lengths)) == 1

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Place of each row's first token."""
        if not self.packed:
            return tuple(i * self.longest for i in range(len(self.rows)))
        found, total = [], 0
        for length in self.lengths:
            found.append(total)
            total += length
        return tuple(found)

    @property
    def shape(self) -> tuple[int, int]:
        """Batch and sequence length of the pass."""
        return (1, sum(self.lengths)) if self.packed else (len(self.rows), self.longest)

    def place(self, row: int, position: int) -> int:
        """Index of a token in the residual stream seen as ``[places, hidden]``."""
        return self.offsets[row] + position - self.starts[row]

    @cached_property
    def tokens(self) -> Tensor:
        """Token ids, ``[batch, sequence]``; padding repeats a row's last token."""
        if self.packed:
            return torch.tensor([[token for row in self.rows for token in row]])
        width = self.longest
        return torch.tensor([[*row, *([row[-1]] * (width - len(row)))] for row in self.rows])

    @cached_property
    def positions(self) -> Tensor:
        """Absolute position of each token of a packed pass, ``[tokens]``."""
        lengths = torch.tensor(self.lengths)
        shift = torch.tensor(self.starts) - torch.tensor(self.offsets)
        return torch.arange(int(lengths.sum())) + shift.repeat_interleave(lengths)

    @cached_property
    def rectangle(self) -> Tensor:
        """Place of each token of a packed pass by row, ``[rows, longest]``; past a row's end its last place."""
        column = torch.arange(self.longest)
        lengths, offsets = torch.tensor(self.lengths), torch.tensor(self.offsets)
        return offsets[:, None] + torch.minimum(column[None], lengths[:, None] - 1)

    @cached_property
    def inside(self) -> Tensor:
        """Whether a cell of :attr:`rectangle` is a token of its row, ``[rows, longest]``."""
        return torch.arange(self.longest)[None] < torch.tensor(self.lengths)[:, None]
