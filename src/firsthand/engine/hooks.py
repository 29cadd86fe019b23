"""Carries out edits and readings in a forward pass, and accounts for every one.

One hook a layer does the edits first and the readings after, so that the order in which they were given never matters.
Some families return a tensor from a block and some a tuple; both are handled and anything else is refused.
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

    def __init__(self, edits: Sequence[Edit], captures: Sequence[Capture], start: int, sink: dict[str, Tensor]) -> None:
        self.edits = [(self._index(e.positions, start), e) for e in edits]
        self.captures = [(self._index(c.positions, start), c) for c in captures]
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
        if not isinstance(hidden, Tensor) or hidden.dim() != 3:
            raise EngineError(
                f"{type(module).__name__} did not return a residual stream of [rows, tokens, hidden].",
                "This architecture is not supported; please report its class.",
            )
        if self.edits:
            hidden = hidden.clone()
        for (rows, tokens), edit in self.edits:
            delta = edit.delta_RH.to(hidden.device, hidden.dtype)
            hidden[rows, tokens] += delta[rows.to(delta.device)]
            if not bool(hidden[rows, tokens].isfinite().all()):
                raise EngineError(
                    f"The residual stream overflowed {hidden.dtype} at layer {edit.layer}.", "Use a smaller dose or float32."
                )
        for (rows, tokens), capture in self.captures:
            total = torch.zeros(hidden.shape[0], hidden.shape[2], dtype=torch.float32, device=hidden.device)
            total.index_add_(0, rows.to(hidden.device), hidden[rows, tokens].float())
            counts = torch.tensor([len(p) for p in capture.positions], device=hidden.device)
            self.sink[capture.name] = (total / counts[:, None]).cpu()
        return hidden if rest is None else (hidden, *rest)


@contextmanager
def intervened(
    anatomy: Anatomy, edits: Sequence[Edit], captures: Sequence[Capture], start: int
) -> Iterator[dict[str, Tensor]]:
    """Install the edits and readings of one forward pass.

    Args:
        anatomy: The model's parts.
        edits: What to add.
        captures: What to read.
        start: Absolute position of the first token of the pass.

    Yields:
        A mapping that holds the readings, ``[rows, hidden]`` float32 on the CPU, after the pass.

    Raises:
        EngineError: If, on a normal exit, an edited or read layer did not run exactly once.
    """
    names = [capture.name for capture in captures]
    if len(set(names)) != len(names):
        raise EngineError(f"Two captures share a name: {sorted(names)}.", "Give every capture a name of its own.")
    sink: dict[str, Tensor] = {}
    hooks: dict[int, _LayerHook] = {}
    for layer in sorted({item.layer for item in (*edits, *captures)}):
        hooks[layer] = _LayerHook(
            [e for e in edits if e.layer == layer], [c for c in captures if c.layer == layer], start, sink
        )
    handles = [anatomy.blocks[layer].register_forward_hook(hook) for layer, hook in hooks.items()]
    try:
        yield sink
        for layer, hook in hooks.items():
            if hook.calls != 1:
                raise EngineError(
                    f"Layer {layer} ran {hook.calls} times in one pass, so its edits were not made exactly once.",
                    "Use one forward pass for each run; gradient checkpointing must be off.",
                )
    finally:
        for handle in handles:
            handle.remove()
