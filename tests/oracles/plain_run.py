"""The slow and plain twin of the engine's runs: one row, one pass over all its tokens, float32, eager, no cache.

Nothing here is shared with the engine. A block's ``forward`` is replaced by a function that changes or reads what goes
in, what comes out, and what its attention adds, one position and one edit at a time; the caller says where the blocks
are and which of their parts is their attention. ``log_softmax`` is taken in float64.

:func:`plain_lifted` does what the word says: a first pass with the edits fills a cache, every change is taken off, and
a second pass over the clean tokens continues that cache.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import DynamicCache


@dataclass(frozen=True)
class PlainEdit:
    """Change the residual stream at one position.

    Attributes:
        layer: The block.
        position: The token.
        vector_H: What it is changed with.
        operation: ``add``, ``add_scaled``, ``replace`` or ``project_out``.
        strength: Factor of the operation.
        place: ``pre`` (what the block is given), ``mid`` (its input plus what its attention adds) or ``post`` (what it
            returns).
    """

    layer: int
    position: int
    vector_H: Tensor
    operation: str = "add"
    strength: float = 1.0
    place: str = "post"


@dataclass(frozen=True)
class PlainRead:
    """Read the residual stream at some positions, after or before the edits of that place and block."""

    layer: int
    positions: tuple[int, ...]
    place: str = "post"
    when: str = "after"


@dataclass(frozen=True)
class PlainModel:
    """A model and what the caller knows about it.

    Attributes:
        model: A copy in float32 that attends eagerly, so that no fused kernel and no registry is involved.
        path: Dotted name of its list of blocks.
        middle: Name of the part of a block whose output is added to the block's input before its feed-forward part.
        factor: By what that output is multiplied first.
    """

    model: Any
    path: str
    middle: str = ""
    factor: float = 1.0


def plain_twin(model: nn.Module, path: str, middle: str = "", factor: float = 1.0) -> PlainModel:
    """An independent copy of a model; ``path``, ``middle`` and ``factor`` as in :class:`PlainModel`."""
    twin = copy.deepcopy(model).float().eval()
    if hasattr(twin, "set_attn_implementation"):
        twin.set_attn_implementation("eager")
    return PlainModel(twin, path, middle, factor)


def plain_run(
    twin: PlainModel, tokens: Sequence[int], edits: Sequence[PlainEdit] = (), reads: Sequence[PlainRead] = ()
) -> tuple[Tensor, list[Tensor]]:
    """Run one whole row.

    Args:
        twin: What :func:`plain_twin` returned.
        tokens: All tokens of the row.
        edits: What to change, in this order where several change the same place.
        reads: What to read.

    Returns:
        Log-probabilities after every token, ``[tokens, vocabulary]`` float64, and ``[positions, hidden]`` for each
        reading.
    """
    noted: dict[tuple[int, int], Tensor] = {}
    logits_TV = _pass(twin, tokens, 0, edits, reads, noted, use_cache=False).logits[0]
    return torch.log_softmax(logits_TV.double(), -1), _gathered(reads, noted)


def plain_lifted(
    twin: PlainModel,
    tokens: Sequence[int],
    until: int,
    edits: Sequence[PlainEdit] = (),
    reads: Sequence[PlainRead] = (),
    *,
    one_by_one: bool = False,
) -> tuple[Tensor, list[Tensor]]:
    """Run the tokens before ``until`` with the edits, take everything off, and continue the cache without them.

    Args:
        twin: What :func:`plain_twin` returned.
        tokens: All tokens of the row.
        until: Where the clean pass begins; every edit lies before it.
        edits: What to change in the first pass.
        reads: What to read, in either pass.
        one_by_one: Whether the model can only continue its cache token by token.

    Returns:
        As :func:`plain_run`.
    """
    assert all(edit.position < until for edit in edits)
    noted: dict[tuple[int, int], Tensor] = {}
    cache = DynamicCache(config=twin.model.config.get_text_config(decoder=True))
    parts = [_pass(twin, tokens[:until], 0, edits, reads, noted, use_cache=True, cache=cache).logits[0]]
    step = 1 if one_by_one else len(tokens) - until
    for start in range(until, len(tokens), step):
        clean = tokens[start : start + step]
        parts.append(_pass(twin, clean, start, (), reads, noted, use_cache=True, cache=cache).logits[0])
    return torch.log_softmax(torch.cat(parts).double(), -1), _gathered(reads, noted)


def plain_operation(old_H: Tensor, edit: PlainEdit) -> Tensor:
    """What an edit leaves of a residual, worked out in float64."""
    h, v, s = old_H.double(), edit.vector_H.double(), edit.strength
    if edit.operation == "add":
        new = h + s * v
    elif edit.operation == "add_scaled":
        new = h + s * h.norm() / v.norm() * v
    elif edit.operation == "replace":
        new = (1 - s) * h + s * v
    elif edit.operation == "project_out":
        unit = v / v.norm()
        new = h - s * torch.dot(h, unit) * unit
    else:
        raise ValueError(edit.operation)
    return new.float()


Noted = dict[tuple[int, int], Tensor]


def _gathered(reads: Sequence[PlainRead], noted: Noted) -> list[Tensor]:
    return [torch.stack([noted[number, p] for p in read.positions]) for number, read in enumerate(reads)]


def _pass(
    twin: PlainModel,
    tokens: Sequence[int],
    start: int,
    edits: Sequence[PlainEdit],
    reads: Sequence[PlainRead],
    noted: Noted,
    **options: Any,
) -> Any:
    def change(place: str, layer: int, stream_TH: Tensor) -> Tensor:
        """One row's stream at one place: read, edited, read again."""
        _note(reads, "before", place, layer, stream_TH, start, noted)
        for edit in edits:
            if (edit.place, edit.layer) == (place, layer):
                stream_TH = stream_TH.clone()
                stream_TH[edit.position - start] = plain_operation(stream_TH[edit.position - start], edit)
        _note(reads, "after", place, layer, stream_TH, start, noted)
        return stream_TH

    touched = {(x.place, x.layer) for x in (*edits, *reads)}
    with _changed(twin, touched, change), torch.no_grad():
        return twin.model(input_ids=torch.tensor([list(tokens)]), **options)


def _note(
    reads: Sequence[PlainRead], when: str, place: str, layer: int, stream_TH: Tensor, start: int, noted: Noted
) -> None:
    for number, read in enumerate(reads):
        if (read.place, read.layer, read.when) == (place, layer, when):
            for position in read.positions:
                if 0 <= position - start < len(stream_TH):
                    noted[number, position] = stream_TH[position - start].clone()


@contextmanager
def _changed(
    twin: PlainModel, touched: set[tuple[str, int]], change: Callable[[str, int, Tensor], Tensor]
) -> Iterator[None]:
    """Put new ``forward`` functions in place, and take them off again."""
    blocks = list(twin.model.get_submodule(twin.path))
    replaced: list[Any] = []
    try:
        for layer, block in enumerate(blocks):
            places = {place for place, at in touched if at == layer}
            if "mid" in places:
                _wrap_middle(block, layer, twin, change, replaced)
            if "pre" in places:
                _wrap_input(block, layer, change)
            if "post" in places:
                _wrap_output(block, layer, change)
            if places:
                replaced.append(block)
        yield
    finally:
        for module in replaced:
            module.__dict__.pop("forward", None)


def _wrap_input(block: Any, layer: int, change: Callable[[str, int, Tensor], Tensor]) -> None:
    old = block.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        if args:
            return old(change("pre", layer, args[0][0])[None], *args[1:], **kwargs)
        given = change("pre", layer, kwargs.pop("hidden_states")[0])[None]
        return old(hidden_states=given, **kwargs)

    block.forward = forward


def _wrap_output(block: Any, layer: int, change: Callable[[str, int, Tensor], Tensor]) -> None:
    old = block.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        result = old(*args, **kwargs)
        if torch.is_tensor(result):
            return change("post", layer, result[0])[None]
        return (change("post", layer, result[0][0])[None], *result[1:])

    block.forward = forward


def _wrap_middle(
    block: Any, layer: int, twin: PlainModel, change: Callable[[str, int, Tensor], Tensor], replaced: list[Any]
) -> None:
    """Let the attention return what, added to the block's input, gives the changed middle."""
    old_block, attention = block.forward, block.get_submodule(twin.middle)
    old_attention = attention.forward
    entry: list[Tensor] = []

    def forward(*args: Any, **kwargs: Any) -> Any:
        entry[:] = [(args[0] if args else kwargs["hidden_states"])[0]]
        return old_block(*args, **kwargs)

    def attend(*args: Any, **kwargs: Any) -> Any:
        result = old_attention(*args, **kwargs)
        added = (result if torch.is_tensor(result) else result[0])[0]
        middle = entry[0] + twin.factor * added
        changed = (added + (change("mid", layer, middle) - middle) / twin.factor)[None]
        return changed if torch.is_tensor(result) else (changed, *result[1:])

    block.forward, attention.forward = forward, attend
    replaced.append(attention)
