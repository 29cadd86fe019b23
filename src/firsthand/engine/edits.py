"""Rows, edits and readings as data.

A :class:`Row` is a sequence of tokens with everything that is done to it and read from it. Positions are absolute token
indices in the whole sequence, whatever part of it was computed before, so an edit cannot slip when a prompt is split or
padded. They come from :func:`~firsthand.engine.prompts.render`, which finds them in the text and proves them.

*Timing* says how long an edit is in force. An edit touches its own positions and no other; later tokens feel it through
the keys and values that it left behind.

============  =======================================================================================================
``prefill``   while the prompt is read; tokens that are generated afterwards are not edited
``live``      also at every token that is generated afterwards
``lifted``    over before the clean part of the row begins (``until``): what is asked later meets it in the cache only
``delayed``   lifted, and neutral tokens lie between ``until`` and the question (``question``)
============  =======================================================================================================
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from numbers import Integral
from typing import Any, Literal

from torch import Tensor

from firsthand.engine.sites import Site, check_site, chosen
from firsthand.errors import EngineError
from firsthand.vocabulary import Timing


class Operation(StrEnum):
    """What an edit does to the residual ``h`` at a position, with its vector ``v`` and strength ``s``."""

    ADD = "add"
    """``h + s v``"""
    ADD_SCALED = "add_scaled"
    """``h + s |h| v / |v|``: strength in units of the residual's own norm."""
    REPLACE = "replace"
    """``h + s (v - h)``: with ``s = 1`` exactly ``v``, with ``s = 0`` no edit."""
    PROJECT_OUT = "project_out"
    """``h - s (h . v) v / |v|^2``: with ``s = 1`` nothing is left along ``v``."""


@dataclass(frozen=True, eq=False)
class Edit:
    """Changes the residual stream at one site and some positions of a row.

    Several edits may name the same place: they are made in the order given, in the precision of the residual stream.

    Attributes:
        site: Where.
        positions: Absolute token positions, each once; where text is generated a ``live`` edit may have none, and
            is then made at generated tokens alone.
        vector_H: The vector, ``[hidden]``, in residual units.
        operation: What is done with it.
        strength: Factor ``s`` of the operation.
        timing: How long.
        until: Where the clean part begins, for ``lifted`` and ``delayed``.
        question: Where the question begins, for ``delayed``.
    """

    site: Site
    positions: tuple[int, ...]
    vector_H: Tensor
    operation: Operation = Operation.ADD
    strength: float = 1.0
    timing: Timing = Timing.PREFILL
    until: int | None = None
    question: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", _whole("An edit's positions", self.positions))
        object.__setattr__(self, "operation", chosen("An operation", Operation, self.operation))
        object.__setattr__(self, "timing", chosen("A timing", Timing, self.timing))
        if not isinstance(self.site, Site) or not isinstance(self.vector_H, Tensor):
            raise EngineError(
                f"An edit was given {type(self.site).__name__} as its site and {type(self.vector_H).__name__} as its "
                "vector.",
                "Give a Site, such as resid_post(12), and a tensor [hidden].",
            )


@dataclass(frozen=True)
class Capture:
    """Reads the residual stream at some positions of a row.

    Attributes:
        name: Key under which the reading is returned.
        site: Where.
        positions: Absolute token positions.
        when: Whether edits of the same site and position are seen (``"after"``) or not (``"before"``). Edits of earlier
            sites are always seen.
    """

    name: str
    site: Site
    positions: tuple[int, ...]
    when: Literal["after", "before"] = "after"

    def __post_init__(self) -> None:
        object.__setattr__(self, "positions", _whole(f"Capture '{self.name}'s positions", self.positions))
        if self.when not in ("after", "before") or not isinstance(self.site, Site):
            raise EngineError(
                f"Capture '{self.name}' is to read {self.when!r} edits at {self.site!r}.",
                "Read 'after' or 'before' the edits of a Site, such as resid_post(12).",
            )


@dataclass(frozen=True, eq=False)
class Row:
    """One sequence, what is done to it, and what is read from it.

    Attributes:
        tokens: Token ids; where a prefix is continued, those after it.
        edits: Edits, in the order in which they are made.
        captures: Readings of the residual stream.
        read: Absolute positions after whose tokens the next-token distribution is read; by default the last one.
    """

    tokens: tuple[int, ...]
    edits: tuple[Edit, ...] = ()
    captures: tuple[Capture, ...] = ()
    read: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", _whole("A row's tokens", self.tokens))
        object.__setattr__(self, "read", _whole("A row's 'read'", self.read))
        for name, kind in (("edits", Edit), ("captures", Capture)):
            given = getattr(self, name)
            given = (given,) if isinstance(given, kind) else tuple(given)
            if not all(isinstance(one, kind) for one in given):
                raise EngineError(f"A row's {name} are {given!r}.", f"Give a tuple of {kind.__name__} objects.")
            object.__setattr__(self, name, given)

    def from_position(self, start: int) -> "Row":
        """The same row without its first ``start`` tokens, which a prefix holds already."""
        return self if start == 0 else replace(self, tokens=self.tokens[start:])


def _whole(what: str, given: Any) -> tuple[int, ...]:
    """Whole numbers as a tuple, whatever sequence they came in.

    Raises:
        EngineError: If they are no whole numbers.
    """
    if isinstance(given, tuple) and all(type(number) is int for number in given):
        return given  # the same object, so that rows can be told to share their tokens at a glance
    values = given.tolist() if isinstance(given, Tensor) else given
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise EngineError(f"{what} are {given!r}.", "Give a sequence of whole numbers.")
    listed = tuple(values)
    if not all(isinstance(number, Integral) for number in listed):
        raise EngineError(f"{what} are {list(listed)[:6]!r}.", "Give whole numbers.")
    return tuple(int(number) for number in listed)


def reads_of(row: Row, start: int) -> tuple[int, ...]:
    """The positions that a row is read at, if its tokens begin at ``start``."""
    return row.read or (start + len(row.tokens) - 1,)


def live_edits(row: Row, start: int, count: int = 1) -> tuple[Edit, ...]:
    """The edits of a prompt that are made at some tokens after it, the first of them at ``start``."""
    positions = tuple(range(start, start + count))
    return tuple(replace(edit, positions=positions) for edit in row.edits if edit.timing is Timing.LIVE and count)


def check_rows(
    rows: Sequence[Row],
    starts: Sequence[int],
    hidden: int,
    depth: int,
    *,
    continued: bool = False,
    generating: bool = False,
) -> None:
    """Refuse rows that could not be carried out exactly as written.

    Args:
        rows: The rows.
        starts: Absolute position of each row's first token.
        hidden: Width of the residual stream.
        depth: Number of blocks.
        continued: Whether the rows are a prefix, whose rows are read only once they are continued.
        generating: Whether tokens will follow at which ``live`` edits are made, so that these may have no positions.

    Raises:
        EngineError: If a row is empty, a layer or position is out of range, a position is named twice in one edit or
            is no whole number, a vector has another width, is zero where it must not be, or is not finite, two readings
            of a row share a name, or a timing's conditions do not hold.
    """
    if not rows or any(not row.tokens for row in rows):
        raise EngineError("A run needs at least one row, and each row at least one token.", "Leave empty rows out.")
    finite: dict[int, bool] = {}
    for number, (row, start) in enumerate(zip(rows, starts, strict=True)):
        end = start + len(row.tokens)
        _check_positions(f"Row {number}'s readout", reads_of(row, start), start, end)
        for edit in row.edits:
            what = f"An edit at {edit.site}, row {number}"
            check_site(what, edit.site, depth)
            if edit.positions or not (generating and edit.timing is Timing.LIVE):
                _check_positions(what, edit.positions, start, end)
            _check_vector(what, edit, hidden, finite)
            check_timing(what, edit, None if continued else min(reads_of(row, start)))
        names = [capture.name for capture in row.captures]
        if len(set(names)) != len(names):
            raise EngineError(f"Two captures share a name: {sorted(names)}.", "Give every capture a name of its own.")
        for capture in row.captures:
            what = f"Capture '{capture.name}', row {number}"
            check_site(what, capture.site, depth)
            _check_positions(what, capture.positions, start, end)


def _check_positions(what: str, positions: Sequence[int], start: int, end: int) -> None:
    whole = all(isinstance(p, Integral) for p in positions)
    if not positions or not whole or min(positions) < start or max(positions) >= end:
        raise EngineError(
            f"{what}: positions {list(positions)} are not positions of the tokens {start} to {end - 1} that this run "
            "computes.",
            "Give at least one absolute position inside the part of the sequence that is being run.",
        )
    if len(set(positions)) != len(positions):
        raise EngineError(f"{what} names a position twice: {list(positions)}.", "Name each position once.")


def _check_vector(what: str, edit: Edit, hidden: int, finite: dict[int, bool]) -> None:
    if tuple(edit.vector_H.shape) != (hidden,):
        raise EngineError(
            f"{what} has a vector of shape {list(edit.vector_H.shape)}, needed is {[hidden]}.",
            "Give one vector of the residual stream's width.",
        )
    key = id(edit.vector_H)
    if key not in finite:
        finite[key] = bool(edit.vector_H.isfinite().all())
    if not finite[key] or edit.strength != edit.strength or abs(edit.strength) == float("inf"):
        raise EngineError(f"{what} is not finite.", "Check the direction and the dose.")
    needs_direction = edit.operation in (Operation.ADD_SCALED, Operation.PROJECT_OUT)
    if needs_direction and not bool(edit.vector_H.any()):
        raise EngineError(f"{what}: {edit.operation} needs a direction, the vector is zero.", "Give another vector.")


def check_timing(what: str, edit: Edit, read: int | None) -> None:
    """Refuse an edit whose timing would not mean what it says.

    Args:
        what: The edit, for messages.
        edit: The edit.
        read: First position that the row is read at, if that is known.

    Raises:
        EngineError: If ``until`` or ``question`` is missing, superfluous, or on the wrong side of what it divides.
    """
    lifted = edit.timing in (Timing.LIFTED, Timing.DELAYED)
    if lifted is (edit.until is None) or (edit.timing is Timing.DELAYED) is (edit.question is None):
        raise EngineError(
            f"{what}: 'until' belongs to lifted and delayed edits, 'question' to delayed ones; the timing is "
            f"{edit.timing}.",
            "Give what the timing needs and nothing else.",
        )
    if edit.until is None:
        return
    read = edit.question or edit.until if read is None else read
    if not max(edit.positions) < edit.until <= read:
        raise EngineError(
            f"{what} is {edit.timing} at position {edit.until}, but it reaches position {max(edit.positions)} and the "
            f"row is read at {read}.",
            "A lifted edit ends before the clean part begins, and the row is read in the clean part.",
        )
    if edit.question is not None and not edit.until < edit.question <= read:
        raise EngineError(
            f"{what} is delayed from position {edit.until} to the question at {edit.question}, read at {read}.",
            "Neutral tokens must lie between the two, and the row must be read inside or after the question.",
        )
