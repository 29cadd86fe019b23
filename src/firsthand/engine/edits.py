"""Edits and readings as data.

Layer 0 is the first block, and ``resid_post[l]`` is what block ``l`` hands on. Positions are absolute token indices in
the whole sequence of a row, prefix included.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from firsthand.errors import EngineError


@dataclass(frozen=True)
class Edit:
    """Adds one vector a row to ``resid_post[layer]`` at the given positions of that row.

    Attributes:
        layer: Block whose output is edited.
        positions: Absolute positions, one tuple a row; an empty tuple leaves the row alone.
        delta_RH: What is added at each of those positions, ``[rows, hidden]``, in residual units.
    """

    layer: int
    positions: tuple[tuple[int, ...], ...]
    delta_RH: Tensor


@dataclass(frozen=True)
class Capture:
    """Reads ``resid_post[layer]`` *after* all edits at that layer, averaged over the given positions of each row.

    Attributes:
        name: Key under which the reading is returned.
        layer: Block whose output is read.
        positions: Absolute positions, one non-empty tuple a row.
    """

    name: str
    layer: int
    positions: tuple[tuple[int, ...], ...]


def check_plan(
    edits: Sequence[Edit], captures: Sequence[Capture], rows: int, lengths: Sequence[int], start: int, hidden: int, depth: int
) -> None:
    """Refuse edits and readings that this run could not carry out exactly.

    Args:
        edits: The run's edits.
        captures: The run's readings.
        rows: Rows in the batch.
        lengths: Absolute end of each row (first position past it).
        start: Absolute position of the first token of the run.
        hidden: Width of the residual stream.
        depth: Number of blocks.

    Raises:
        EngineError: If a layer or position is out of range, rows do not match, or a delta has another shape or is not
            finite.
    """
    for item in (*edits, *captures):
        what = "Edit" if isinstance(item, Edit) else f"Capture '{item.name}'"
        if not 0 <= item.layer < depth:
            raise EngineError(
                f"{what} names layer {item.layer}, but the model has layers 0 to {depth - 1}.", "Choose a layer in range."
            )
        if len(item.positions) != rows:
            raise EngineError(
                f"{what} gives positions for {len(item.positions)} rows, the batch has {rows}.", "Give one tuple a row."
            )
        for row, (positions, end) in enumerate(zip(item.positions, lengths, strict=True)):
            bad = [p for p in positions if not start <= p < end]
            if bad or len(set(positions)) != len(positions):
                raise EngineError(
                    f"{what}, row {row}: positions {list(positions)} are not distinct positions of the tokens "
                    f"{start} to {end - 1} that this run computes.",
                    "Give absolute positions inside the part of the sequence that is being run.",
                )
    for capture in captures:
        if not all(capture.positions):
            raise EngineError(f"Capture '{capture.name}' has a row without positions.", "Name at least one for each row.")
    for edit in edits:
        if tuple(edit.delta_RH.shape) != (rows, hidden):
            raise EngineError(
                f"An edit at layer {edit.layer} has shape {list(edit.delta_RH.shape)}, needed is {[rows, hidden]}.",
                "Give one vector of the residual stream's width for each row.",
            )
        if not bool(edit.delta_RH.isfinite().all()):
            raise EngineError(f"An edit at layer {edit.layer} is not finite.", "Check the direction and the dose.")
