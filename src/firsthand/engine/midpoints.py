"""Finds where a block's residual stream stands between attention and feed-forward part, by looking at a pass.

In a block that runs its two parts one after the other, the sum of input and attention is handed to the second part (or
the norm before it) and added to that part's output. That tensor is looked for among what the block's children are
given, and an edit of it *in place* reaches both uses. A second pass with such an edit proves it; a block for which it
cannot be proven has no midpoint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import torch
from torch import Tensor, nn

_ROUNDING: Final = 4.0
"""Units in the last place by which a sum of two streams may be off."""


@dataclass(eq=False)
class _Record:
    """What one block and its children were given and returned."""

    entry: Tensor | None = None
    exit: Tensor | None = None
    given: list[tuple[nn.Module, Tensor, Tensor]] = field(default_factory=list)  # child, the tensor itself, its values
    returned: list[tuple[nn.Module, Tensor, Tensor]] = field(default_factory=list)


def find_midpoints(run: Callable[[], Any], blocks: Sequence[nn.Module]) -> tuple[nn.Module | None, ...]:
    """The child of each block that is given the midpoint of its residual stream.

    Args:
        run: Runs the model on a few tokens.
        blocks: Its blocks.

    Returns:
        For each block a child whose first argument is the midpoint, or ``None`` where no child provably is.
    """
    records = _watched(run, blocks, [None] * len(blocks))
    candidates = [_candidate(record) for record in records]
    if not any(candidates):
        return tuple(candidates)
    edited = _watched(run, blocks, candidates)
    proven = zip(candidates, edited, strict=True)
    return tuple(child if child is not None and _adds_up(child, record) else None for child, record in proven)


def first_tensor(args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Tensor | None:
    """The first argument that is a tensor."""
    return next((a for a in (*args, *(kwargs or {}).values()) if isinstance(a, Tensor)), None)


def _watched(run: Callable[[], Any], blocks: Sequence[nn.Module], edited: Sequence[nn.Module | None]) -> list[_Record]:
    records = [_Record() for _ in blocks]
    handles = []
    for block, record, target in zip(blocks, records, edited, strict=True):
        handles.append(block.register_forward_pre_hook(_enter(record), with_kwargs=True))
        handles.append(block.register_forward_hook(_leave(record)))
        for child in block.children():
            handles.append(child.register_forward_pre_hook(_given(record, edit=child is target), with_kwargs=True))
            handles.append(child.register_forward_hook(_returned(record)))
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    return records


def _enter(record: _Record) -> Callable[..., None]:
    def hook(_: nn.Module, args: Any, kwargs: Any) -> None:
        found = first_tensor(args, kwargs)
        record.entry = None if found is None else found.clone()

    return hook


def _leave(record: _Record) -> Callable[..., None]:
    def hook(_: nn.Module, __: Any, output: Any) -> None:
        found = output[0] if isinstance(output, tuple) else output
        record.exit = found.clone() if isinstance(found, Tensor) else None

    return hook


def _given(record: _Record, *, edit: bool) -> Callable[..., None]:
    def hook(child: nn.Module, args: Any, kwargs: Any) -> None:
        found = first_tensor(args, kwargs)
        if found is None:
            return
        if edit:
            found[:, -1] += 0.1 * found[:, -1].flip(-1)
        record.given.append((child, found, found.clone()))

    return hook


def _returned(record: _Record) -> Callable[..., None]:
    def hook(child: nn.Module, __: Any, output: Any) -> None:
        found = output[0] if isinstance(output, tuple) else output
        if isinstance(found, Tensor):
            record.returned.append((child, found, found.clone()))

    return hook


def _candidate(record: _Record) -> nn.Module | None:
    """The first child that is given a residual stream which is neither the block's input nor a child's output."""
    for child, tensor, values in record.given:
        if record.entry is None or values.shape != record.entry.shape or torch.equal(values, record.entry):
            continue
        if any(tensor is other for _, other, _ in record.returned):
            continue
        return child if _adds_up(child, record) else None
    return None


def _adds_up(child: nn.Module, record: _Record) -> bool:
    """Whether the block's output is what the child was given plus a multiple of what some later child returned."""
    middle = next((values for other, _, values in record.given if other is child), None)
    if middle is None or record.exit is None or middle.shape != record.exit.shape:
        return False
    # The first token is left out: many models keep something huge there, beside which nothing can be told apart.
    added, size = (record.exit - middle).double()[:, 1:], middle.double()[:, 1:].norm()
    for _, _, output in reversed(record.returned):
        if output.numel() != middle.numel():
            continue
        part = output.double().reshape(middle.shape)[:, 1:]  # experts may be given their tokens in one long row
        factor = (added * part).sum() / part.square().sum().clamp_min(1e-30)
        tolerance = 1e-3 * added.norm() + _ROUNDING * torch.finfo(output.dtype).eps * size
        if bool((added - factor * part).norm() <= tolerance) and bool(added.norm() > 2 * tolerance):
            return True
    return False
