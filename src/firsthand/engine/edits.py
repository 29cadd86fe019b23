"""Edits and readings as data.

Layer 0 is the first block, and ``resid_post[l]`` is what block ``l`` hands on. Positions are absolute token indices in
the whole sequence of a row, prefix included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

from torch import Tensor

from firsthand.errors import EngineError


@dataclass(frozen=True)
class Edit:
    """Adds one vector a row to ``resid_post[layer]`` at the given positions of that row.

    Several edits may name the same place: they are added in the order given, in the precision of the residual stream.

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


@dataclass(frozen=True)
class Extent:
    """What a run computes, against which edits and readings are checked.

    Attributes:
        start: Absolute position of the first token of the run.
        ends: For each row the first absolute position past its own tokens.
        hidden: Width of the residual stream.
        depth: Number of blocks.
    """

    start: int
    ends: tuple[int, ...]
    hidden: int
    depth: int

    @property
    def rows(self) -> int:
        """Rows in the batch."""
        return len(self.ends)


def check_plan(edits: Sequence[Edit], captures: Sequence[Capture], extent: Extent) -> None:
    """Refuse edits and readings that a run could not carry out exactly.

    Args:
        edits: The run's edits.
        captures: The run's readings.
        extent: What the run computes.

    Raises:
        EngineError: If a layer or position is out of range, a position is named twice in one edit or is no whole
            number, rows do not match, or a delta has another shape or is not finite.
    """
    for edit in edits:
        what = f"An edit at layer {edit.layer}"
        _check_places(what, edit.layer, edit.positions, extent)
        if tuple(edit.delta_RH.shape) != (extent.rows, extent.hidden):
            raise EngineError(
                f"{what} has shape {list(edit.delta_RH.shape)}, needed is {[extent.rows, extent.hidden]}.",
                "Give one vector of the residual stream's width for each row.",
            )
        if not bool(edit.delta_RH.isfinite().all()):
            raise EngineError(f"{what} is not finite.", "Check the direction and the dose.")
    for capture in captures:
        what = f"Capture '{capture.name}'"
        _check_places(what, capture.layer, capture.positions, extent)
        if not all(capture.positions):
            raise EngineError(f"{what} has a row without positions.", "Name at least one for each row.")


def _check_places(what: str, layer: int, positions: Sequence[Sequence[int]], extent: Extent) -> None:
    if not (isinstance(layer, Integral) and 0 <= layer < extent.depth):
        raise EngineError(
            f"{what}: there is no layer {layer}, the model has layers 0 to {extent.depth - 1}.",
            "Choose a layer in range.",
        )
    if len(positions) != extent.rows:
        raise EngineError(
            f"{what} gives positions for {len(positions)} rows, the batch has {extent.rows}.", "Give one tuple a row."
        )
    for row, (places, end) in enumerate(zip(positions, extent.ends, strict=True)):
        whole = all(isinstance(p, Integral) for p in places)
        if not whole or not all(extent.start <= p < end for p in places) or len(set(places)) != len(places):
            raise EngineError(
                f"{what}, row {row}: positions {list(places)} are not distinct positions of the tokens "
                f"{extent.start} to {end - 1} that this run computes.",
                "Give absolute positions inside the part of the sequence that is being run.",
            )
