"""Patching: a state of the residual stream, taken from one run, put in its place in another.

With a prompt that asks a model to repeat or explain what stands at a placeholder, this reads a state in the model's own
words (patchscopes: Ghandeharioun et al. 2024, section 3). All source sites and positions go through one capture pass,
and all patched rows through one call, which shares what the target prompt has before the placeholder.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Capture, Edit, Operation, Row
from firsthand.engine.sites import Site
from firsthand.engine.sweep import run
from firsthand.errors import EngineError


@dataclass(frozen=True, eq=False)
class State:
    """A state of the residual stream and where it was.

    Attributes:
        row: Index of the source row.
        site: Its site.
        position: Its absolute position.
        vector_H: The state itself, ``[hidden]``.
    """

    row: int
    site: Site
    position: int
    vector_H: Tensor


def states_of(
    anatomy: Anatomy, sources: Sequence[Row], sites: Sequence[Site], positions: Sequence[Sequence[int]]
) -> list[State]:
    """States of some rows at every site and position, edits of the rows included.

    Args:
        anatomy: The model's parts.
        sources: Rows to be run, with their edits.
        sites: Sites to be read.
        positions: For each row the absolute positions to be read.

    Returns:
        States by row, then site, then position.

    Raises:
        EngineError: If a row cannot be run or read as asked.
    """
    if len(positions) != len(sources):
        raise EngineError(
            f"There are positions for {len(positions)} rows, but {len(sources)} sources.", "Give one list a row."
        )
    rows = [
        Row(row.tokens, row.edits, tuple(Capture(str(site), site, tuple(places)) for site in sites))
        for row, places in zip(sources, positions, strict=True)
    ]
    readings = run(anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return [
        State(number, site, place, vector_H)
        for number, (found, places) in enumerate(zip(readings, positions, strict=True))
        for site in sites
        for place, vector_H in zip(places, found[str(site)], strict=True)
    ]


def patched(target: Row, states: Sequence[State], positions: Sequence[int], site: Site | None = None) -> list[Row]:
    """One copy of a target row for each state, with the state in place of the residual stream there.

    The rows can be run, or continued by :func:`~firsthand.engine.generation.generate`, all in one call.

    Args:
        target: The target row; its own edits come first.
        states: What is put in.
        positions: Absolute positions of the target that are replaced.
        site: Where it is put; by default each state's own site.
    """
    return [
        Row(
            target.tokens,
            (*target.edits, Edit(site or state.site, tuple(positions), state.vector_H, Operation.REPLACE)),
            target.captures,
            target.read,
        )
        for state in states
    ]
