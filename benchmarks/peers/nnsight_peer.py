"""The sweep with nnsight: one trace a batch, one invoker a cell, as its users write it.

The wrapper goes around the same loaded model. Each invoker gives the prompt's token ids, adds its vector to its block's
output and saves the logits after its last token; nnsight makes one batch of them. Gradients are off, the cache too, and
only the last token's logits are computed.
"""

import torch
from common import Evaluate, Peer, load_model, main

from workload import Workload


def prepare(workload: Workload) -> Evaluate:
    """Wrap the model."""
    from nnsight import TransformersModel, save
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(workload.model)
    model = TransformersModel(load_model(workload.model), task="text-generation", tokenizer=tokenizer)
    prompt, span = workload.prompt[None], workload.span()

    @torch.no_grad()
    def evaluate(cells: list[int]) -> torch.Tensor:
        edits = [workload.edit(cell) for cell in cells]
        with model.trace(use_cache=False, logits_to_keep=1) as tracer:
            logits = save([])
            for layer, vector in edits:
                with tracer.invoke(prompt):
                    model.model.layers[layer].output[:, span] += vector
                    logits.append(model.lm_head.output[:, -1])
        return torch.log_softmax(torch.cat(logits).float(), dim=-1)

    return evaluate


if __name__ == "__main__":
    main(Peer("nnsight", prepare, packages=("nnsight",), sizes=(1, 4, 8, 16, 32)), __doc__)
