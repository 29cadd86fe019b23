"""Carries out edits and readings in a forward pass, and accounts for every one.

One hook a layer does the edits first, in the order given, and the readings after, so that a reading shows every edit of
its layer however the two were listed. Some families return a tensor from a block and some a tuple; both are handled and
anything else is refused.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Capture, Edit
from firsthand.errors import EngineError


class _LayerHook:
    """The edits and readings of one layer, with positions relative to the tokens of this run."""

    def __init__(
        self,
        edits: Sequence[Edit],
        captures: Sequence[Capture],
        start: int,
        shape: tuple[int, int, int],
        sink: dict[str, Tensor],
    ) -> None:
        self.edits = [(self._index(e.positions, start), e) for e in edits]
        self.captures = [(self._index(c.positions, start), c) for c in captures]
        self.shape = shape
        self.sink = sink
        self.calls = 0

    @staticmethod
    def _index(positions: Sequence[Sequence[int]], start: int) -> tuple[Tensor, Tensor]:
        pairs = [(row, p - start) for row, ps in enumerate(positions) for p in ps]
        flat = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)
        return flat[:, 0], flat[:, 1]

    def __call__(self, module: nn.Module, args: Any, output: Any) -> Any:
        self.calls += 1
        hidden, rest = (output[0], output[1:]) if isinstance(output, tuple) else (output, None)
        if not isinstance(hidden, Tensor) or tuple(hidden.shape) != self.shape:
            raise EngineError(
                f"{type(module).__name__} returned no residual stream of [rows, tokens, hidden] = {list(self.shape)}.",
                "Edits and readings of this architecture are not supported; please report its class.",
            )
        if self.edits:
            hidden = hidden.clone()
        for (rows, tokens), edit in self.edits:
            delta = edit.delta_RH.to(hidden.device, hidden.dtype)
            hidden[rows, tokens] += delta[rows.to(delta.device)]
            _check_finite(hidden[rows, tokens], edit.layer)
        for (rows, tokens), capture in self.captures:
            picked = hidden[rows, tokens]
            _check_finite(picked, capture.layer)
            total = torch.zeros(hidden.shape[0], hidden.shape[2], dtype=torch.float32, device=hidden.device)
            total.index_add_(0, rows.to(hidden.device), picked.float())
            counts = torch.tensor([len(p) for p in capture.positions], device=hidden.device)
            self.sink[capture.name] = (total / counts[:, None]).cpu()
        return hidden if rest is None else (hidden, *rest)


def _check_finite(values: Tensor, layer: int) -> None:
    if not bool(values.isfinite().all()):
        raise EngineError(
            f"The residual stream at layer {layer} is not finite in {values.dtype}.", "Use a smaller dose, or float32."
        )


@contextmanager
def intervened(
    anatomy: Anatomy, edits: Sequence[Edit], captures: Sequence[Capture], start: int, shape: tuple[int, int]
) -> Iterator[dict[str, Tensor]]:
    """Install the edits and readings of one forward pass.

    Args:
        anatomy: The model's parts.
        edits: What to add.
        captures: What to read.
        start: Absolute position of the first token of the pass.
        shape: Rows and tokens of the pass, padding included.

    Yields:
        A mapping that holds the readings, ``[rows, hidden]`` float32 on the CPU, after the pass.

    Raises:
        EngineError: If two readings share a name; in the pass, if a block returns something else than a residual stream
            of the pass's shape, or one that is not finite where it is edited or read; on a normal exit, if an edited or
            read block did not run exactly once.
    """
    names = [capture.name for capture in captures]
    if len(set(names)) != len(names):
        raise EngineError(f"Two captures share a name: {sorted(names)}.", "Give every capture a name of its own.")
    sink: dict[str, Tensor] = {}
    hooks: dict[int, _LayerHook] = {}
    for layer in sorted({e.layer for e in edits} | {c.layer for c in captures}):
        hooks[layer] = _LayerHook(
            [e for e in edits if e.layer == layer],
            [c for c in captures if c.layer == layer],
            start,
            (*shape, anatomy.hidden_size),
            sink,
        )
    handles = [anatomy.blocks[layer].register_forward_hook(hook) for layer, hook in hooks.items()]
    try:
        yield sink
        for layer, hook in hooks.items():
            if hook.calls != 1:
                raise EngineError(
                    f"Layer {layer} ran {hook.calls} times in one pass, so its edits were not made exactly once.",
                    "Use a model that runs each block once a pass, without sharing blocks between layers.",
                )
    finally:
        for handle in handles:
            handle.remove()
