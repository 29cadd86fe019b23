"""The sweep with plain PyTorch forward hooks on Transformers, as a careful user would write it.

Batches of cells (layers may differ within a batch), sdpa attention, no gradients, no cache, logits of the last token
only. Every row runs its whole prompt through all layers.
"""

import torch
from common import Evaluate, Peer, adding, load_model, log_probabilities, main

from workload import Workload


def prepare(workload: Workload) -> Evaluate:
    """Load the model; each batch registers one hook for each layer that it edits."""
    model = load_model(workload.model)
    blocks, span = model.model.layers, workload.span()

    @torch.no_grad()
    def evaluate(cells: list[int]) -> torch.Tensor:
        handles = [
            blocks[layer].register_forward_hook(adding(rows, span, vectors))
            for layer, (rows, vectors) in workload.edits(cells).items()
        ]
        try:
            prompts = workload.prompt.expand(len(cells), -1)
            logits = model(input_ids=prompts, use_cache=False, logits_to_keep=1).logits
        finally:
            for handle in handles:
                handle.remove()
        return log_probabilities(logits)

    return evaluate


if __name__ == "__main__":
    main(Peer("hooks", prepare, sizes=(1, 4, 8, 16, 32)), __doc__)
