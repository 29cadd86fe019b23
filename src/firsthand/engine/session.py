"""Prefixes, computed once and continued any number of times, and single passes over rows that continue them.

Rows of a prefix may differ in length. Where a model can share attention (see :mod:`firsthand.engine.attention`) a
prefix holds keys and values, which are never written to again; where it cannot, it holds tokens and edits, and rows
that continue it are run whole: the same numbers at a higher price.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy, refuse_training, state_of_weights
from firsthand.engine.attention import Memory, SharedPass
from firsthand.engine.edits import Row, check_rows, check_timing, reads_of
from firsthand.engine.forward import Passed, Start, forward
from firsthand.engine.layout import Layout
from firsthand.engine.sharing import can_share
from firsthand.errors import EngineError


@dataclass(frozen=True, eq=False)
class Prefix:
    """Finished rows, with whatever edits they were computed under.

    Attributes:
        anatomy: The model that computed it, the only one that may continue it.
        rows: The rows, whole, with their edits.
        memory: Their keys and values; ``None`` for a model that cannot share them.
        weights: What its weights and adapters were then (see :func:`~firsthand.engine.anatomy.state_of_weights`).
    """

    anatomy: Anatomy
    rows: tuple[Row, ...]
    memory: Memory | None
    weights: Hashable

    @property
    def lengths(self) -> tuple[int, ...]:
        """Tokens of each row."""
        return tuple(len(row.tokens) for row in self.rows)


@dataclass(frozen=True)
class RunOutput:
    """What a run returns.

    Attributes:
        logprobs_RV: Log-probabilities over the full vocabulary after every token that is read, rows one after the
            other, ``[reads, vocabulary]``, float32 on the CPU.
        captures: For each row its readings by name, ``[positions, hidden]``, float32 on the CPU.
        reads: How often each row was read; rows are read once unless they say otherwise, and then ``logprobs_RV[i]``
            belongs to row ``i``.
    """

    logprobs_RV: Tensor
    captures: list[dict[str, Tensor]]
    reads: tuple[int, ...] = ()

    def of(self, row: int) -> Tensor:
        """What was read of one row, ``[its reads, ...]``."""
        begin = sum(self.reads[:row])
        return self.logprobs_RV[begin : begin + self.reads[row]]


def run_prefix(
    anatomy: Anatomy,
    rows: Sequence[Row],
    *,
    prefix: Prefix | None = None,
    prefix_rows: Sequence[int] | None = None,
) -> tuple[Prefix, list[dict[str, Tensor]]]:
    """Compute rows once, to be continued by :func:`run_rows` or by a longer prefix.

    Args:
        anatomy: The model's parts.
        rows: The rows; where a prefix is given, the tokens after it.
        prefix: What the rows continue, if anything; it is not changed.
        prefix_rows: For each row, the row of the prefix that it continues; by default row ``i`` continues row ``i``.

    Returns:
        The prefix (with what it continues), and each row's readings by name, ``[positions, hidden]``.

    Raises:
        EngineError: If the model cannot take the rows, or an edit or reading cannot be carried out exactly.
    """
    homes = _homes(anatomy, prefix, prefix_rows, len(rows))
    starts = _checked(anatomy, rows, prefix, homes, continued=True)
    whole = tuple(_joined(prefix, home, row) for row, home in zip(rows, homes, strict=True))
    if not can_share(anatomy):
        needs = any(row.captures for row in rows)
        readings = _plain(anatomy, rows, prefix, homes, logits=False).readings if needs else [{} for _ in rows]
        return Prefix(anatomy, whole, None, state_of_weights(anatomy.model)), readings
    passed, state, order = shared_pass(anatomy, rows, starts, prefix, homes, record=True, logits=False)
    memory = state.memory()
    if prefix is not None and prefix.memory is not None:
        memory = prefix.memory.select(torch.tensor([homes[i] for i in order])).followed_by(memory)
    back = torch.argsort(torch.tensor(order))
    memory = memory.select(back) if order != sorted(order) else memory
    return Prefix(anatomy, whole, memory, state_of_weights(anatomy.model)), passed.readings


def run_rows(
    anatomy: Anatomy,
    rows: Sequence[Row],
    *,
    prefix: Prefix | None = None,
    prefix_rows: Sequence[int] | None = None,
) -> RunOutput:
    """Run rows in one pass, on top of a prefix if one is given.

    Args:
        anatomy: The model's parts.
        rows: The rows; where a prefix is given, the tokens after it.
        prefix: What the rows continue.
        prefix_rows: For each row, the row of the prefix that it continues; by default row ``i`` continues row ``i``.

    Returns:
        Log-probabilities and readings.

    Raises:
        EngineError: If a row is empty, rows and prefix do not match, the model cannot take the tokens, an edit or
            reading cannot be carried out exactly, or the log-probabilities are not numbers.
    """
    homes = _homes(anatomy, prefix, prefix_rows, len(rows))
    starts = _checked(anatomy, rows, prefix, homes)
    if prefix is None or not can_share(anatomy):
        passed = _plain(anatomy, rows, prefix, homes)
    else:
        passed = shared_pass(anatomy, rows, starts, prefix, homes)[0]
    reads = tuple(len(row.read) or 1 for row in rows)
    return RunOutput(torch.log_softmax(passed.logits_EV, dim=-1).cpu(), passed.readings, reads)


def shared_pass(
    anatomy: Anatomy,
    rows: Sequence[Row],
    starts: Sequence[int],
    prefix: Prefix | None,
    homes: Sequence[int],
    *,
    record: bool = False,
    logits: bool = True,
    start: Start | None = None,
) -> tuple[Passed, SharedPass, list[int]]:
    """Run rows packed, with shared attention; results are in the order of the rows.

    Returns:
        What the pass returned, its state, and the order in which the rows were packed (that of the prefix's rows).
    """
    order = sorted(range(len(rows)), key=lambda i: homes[i])
    packed = [rows[i] for i in order]
    layout = Layout.of(packed, [starts[i] for i in order], packed=True)
    memory = None if prefix is None else prefix.memory
    several = memory is not None and len(memory.positions_BP) > 1
    state = SharedPass(layout, memory, tuple(homes[i] for i in order) if several else None, record=record)
    passed = forward(anatomy, packed, layout, state, start, logits=logits)
    return (passed if order == sorted(order) else _reordered(passed, packed, order, logits)), state, order


def _reordered(passed: Passed, packed: Sequence[Row], order: Sequence[int], logits: bool) -> Passed:
    back = sorted(range(len(order)), key=lambda i: order[i])
    readings = [passed.readings[i] for i in back]
    if not logits:
        return Passed(passed.logits_EV, readings)
    parts = torch.split(passed.logits_EV, [len(row.read) or 1 for row in packed])
    return Passed(torch.cat([parts[i] for i in back]), readings)


def _plain(
    anatomy: Anatomy, rows: Sequence[Row], prefix: Prefix | None, homes: Sequence[int], *, logits: bool = True
) -> Passed:
    """Run rows whole, padded on the right, with the model's own attention."""
    whole = [_joined(prefix, home, row) for row, home in zip(rows, homes, strict=True)]
    return forward(anatomy, whole, Layout.of(whole, [0] * len(whole), packed=False), logits=logits)


def _joined(prefix: Prefix | None, home: int, row: Row) -> Row:
    if prefix is None:
        return row
    before = prefix.rows[home]
    return replace(row, tokens=(*before.tokens, *row.tokens), edits=(*before.edits, *row.edits))


def _homes(anatomy: Anatomy, prefix: Prefix | None, prefix_rows: Sequence[int] | None, rows: int) -> list[int]:
    if prefix is None:
        if prefix_rows is not None:
            raise EngineError("prefix_rows was given without a prefix.", "Give the prefix too.")
        return list(range(rows))
    if prefix.anatomy is not anatomy:
        raise EngineError("The prefix was computed by another model.", "Compute it with the model that continues it.")
    if prefix.weights != state_of_weights(anatomy.model):
        raise EngineError(
            "The model's weights or adapters have changed since the prefix was computed.",
            "Compute the prefix again, or switch the adapter back.",
        )
    chosen = list(range(rows)) if prefix_rows is None else list(prefix_rows)
    if len(chosen) != rows or not all(0 <= r < len(prefix.rows) for r in chosen):
        raise EngineError(
            f"prefix_rows {chosen} do not name one of {len(prefix.rows)} prefix rows for each of {rows} rows.",
            "Correct them.",
        )
    return chosen


def _checked(
    anatomy: Anatomy, rows: Sequence[Row], prefix: Prefix | None, homes: Sequence[int], *, continued: bool = False
) -> list[int]:
    """Refuse what cannot be run exactly, and return each row's first position."""
    starts = [0 if prefix is None else prefix.lengths[home] for home in homes]
    refuse_training(anatomy.model)
    check_rows(rows, starts, anatomy.hidden_size, len(anatomy.blocks), continued=continued)
    check_tokens(anatomy, rows, starts)
    if prefix is not None and not continued:
        for number, (row, home, start) in enumerate(zip(rows, homes, starts, strict=True)):
            for edit in prefix.rows[home].edits:
                what = f"An edit at {edit.site} in the prefix of row {number}"
                check_timing(what, edit, min(reads_of(row, start)))
    return starts


def check_whole_rows(anatomy: Anatomy, rows: Sequence[Row], *, further: int = 0) -> None:
    """Refuse whole rows that cannot be run exactly, or not be followed by some further tokens.

    Args:
        anatomy: The model's parts.
        rows: The rows.
        further: Tokens that will follow each row; ``live`` edits are made at them, and may have no other positions.

    Raises:
        EngineError: As :func:`~firsthand.engine.edits.check_rows` and :func:`check_tokens` do.
    """
    starts = [0] * len(rows)
    refuse_training(anatomy.model)
    check_rows(rows, starts, anatomy.hidden_size, len(anatomy.blocks), generating=further > 0)
    check_tokens(anatomy, rows, starts, further)


def check_tokens(anatomy: Anatomy, rows: Sequence[Row], starts: Sequence[int], further: int = 0) -> None:
    """Refuse tokens that a model has no embedding or no position for.

    Args:
        anatomy: The model's parts.
        rows: The rows.
        starts: Each row's first position.
        further: Tokens that are going to follow each row.

    Raises:
        EngineError: If a token is unknown, or a row too long.
    """
    config = anatomy.model.config.get_text_config(decoder=True)
    known = len(anatomy.model.get_input_embeddings().weight)
    longest = getattr(config, "max_position_embeddings", None)
    end = max(start + len(row.tokens) for row, start in zip(rows, starts, strict=True)) + further
    for tokens in {id(row.tokens): row.tokens for row in rows}.values():
        if min(tokens) < 0 or max(tokens) >= known:
            raise EngineError(f"A token id is not one of the model's {known}.", "Use the model's own tokenizer.")
    if longest is not None and end > longest:
        raise EngineError(
            f"A row of {end} tokens is longer than the {longest} this model can take.", "Shorten the prompt."
        )
