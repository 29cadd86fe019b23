"""The slow and plain twin of the engine's runs: one row, one pass over all its tokens, float32, eager, no cache.

Nothing here is shared with the engine. A block's ``forward`` is replaced by a function that calls the old one and then
changes or reads what came out, one position at a time; the caller says where the blocks are. ``log_softmax`` is taken
in float64.
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class PlainEdit:
    """Add ``vector_H`` to the output of block ``layer`` at one position."""

    layer: int
    position: int
    vector_H: Tensor


@dataclass(frozen=True)
class PlainRead:
    """Average the output of block ``layer`` over positions, after all edits."""

    layer: int
    positions: tuple[int, ...]


def plain_twin(model: nn.Module) -> Any:
    """A copy in float32 that attends eagerly, so that no fused kernel and no registry is involved."""
    twin = copy.deepcopy(model).float().eval()
    if hasattr(twin, "set_attn_implementation"):
        twin.set_attn_implementation("eager")
    return twin


def blocks_at(model: nn.Module, path: str) -> list[nn.Module]:
    """The blocks at a dotted name that the caller knows."""
    found: Any = model.get_submodule(path)
    return list(found)


def plain_run(
    twin: Any, path: str, tokens: Sequence[int], edits: Sequence[PlainEdit] = (), reads: Sequence[PlainRead] = ()
) -> tuple[Tensor, list[Tensor]]:
    """Run one whole row.

    Args:
        twin: What :func:`plain_twin` returned.
        path: Dotted name of the list of blocks.
        tokens: All tokens of the row.
        edits: What to add.
        reads: What to read.

    Returns:
        Log-probabilities after the last token, ``[vocabulary]`` float64, and one ``[hidden]`` for each reading.
    """
    blocks = blocks_at(twin, path)
    readings: dict[int, Tensor] = {}
    replaced = []
    for layer, block in enumerate(blocks):
        mine = [e for e in edits if e.layer == layer]
        wanted = [(i, r) for i, r in enumerate(reads) if r.layer == layer]
        if mine or wanted:
            block.forward = _changed(block.forward, mine, wanted, readings)
            replaced.append(block)
    try:
        with torch.no_grad():
            logits = twin(input_ids=torch.tensor([list(tokens)]), use_cache=False).logits
    finally:
        for block in replaced:
            del block.forward
    return torch.log_softmax(logits[0, len(tokens) - 1].double(), -1), [readings[i] for i in range(len(reads))]


def _changed(forward: Any, edits: Sequence[PlainEdit], reads: Sequence[tuple[int, PlainRead]], into: Any) -> Any:
    def run(*args: Any, **kwargs: Any) -> Any:
        result = forward(*args, **kwargs)
        stream = result if torch.is_tensor(result) else result[0]
        for edit in edits:
            stream[0, edit.position] = stream[0, edit.position] + edit.vector_H
        for number, read in reads:
            into[number] = sum(stream[0, p].clone() for p in read.positions) / len(read.positions)
        return stream if torch.is_tensor(result) else (stream, *result[1:])

    return run
