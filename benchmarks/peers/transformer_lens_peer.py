"""The sweep with TransformerLens 4: its bridge around the model in the local folder, and ``run_with_hooks``.

One batch holds cells of several layers; each layer's hook adds to its rows. The bridge forces eager attention. It can
start at a later layer, but runs the earlier blocks all the same and discards them, so that is not used here.
"""

from collections.abc import Callable
from typing import Any

import torch
from common import Evaluate, Peer, load_model, log_probabilities, main

from workload import Workload


def adding_hook(rows: torch.Tensor, span: slice, vectors: torch.Tensor) -> Callable[..., torch.Tensor]:
    """A hook of a hook point, called with ``hook=`` by name: adds to some rows and returns the residual stream."""

    def hook(value: torch.Tensor, hook: Any) -> torch.Tensor:
        value[rows, span] += vectors
        return value

    return hook


def prepare(workload: Workload) -> Evaluate:
    """Put the bridge around the loaded model."""
    from transformer_lens.model_bridge import TransformerBridge
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(workload.model)
    loaded = load_model(workload.model, attention="eager")
    bridge = TransformerBridge.boot_transformers(workload.model, device="cpu", hf_model=loaded, tokenizer=tokenizer)
    span = workload.span()

    @torch.no_grad()
    def evaluate(cells: list[int]) -> torch.Tensor:
        hooks = [
            (f"blocks.{layer}.hook_out", adding_hook(rows, span, vectors))
            for layer, (rows, vectors) in workload.edits(cells).items()
        ]
        prompts = workload.prompt.expand(len(cells), -1)
        return log_probabilities(bridge.run_with_hooks(prompts, fwd_hooks=hooks, use_cache=False, logits_to_keep=1))

    return evaluate


if __name__ == "__main__":
    main(Peer("transformer-lens", prepare, packages=("transformer-lens",), sizes=(1, 4, 8, 16, 32)), __doc__)
