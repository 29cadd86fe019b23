"""The sweep as published protocols do it: answers are sampled, 10 a cell, by ``generate`` with hooks during prefill.

One new token is enough for a two-way answer, and the answer is what the sample says: the share of each answer among 10
draws stands in for its probability. ``num_return_sequences`` repeats the prompt, so prefill runs it 10 times a cell.
The batch size counts cells, not rows. The logits behind the first draw of each cell, which ``generate`` has anyway, are
kept only to check that the edit is the same as the other peers'.
"""

from typing import Any

import torch
from common import Evaluate, Peer, adding, load_model, main

from workload import Workload

DRAWS = 10


class Sampler:
    """Samples answers of cells and counts them.

    Attributes:
        counts: By cell, how many draws gave the first and the second answer.
    """

    def __init__(self) -> None:
        self.counts: dict[int, list[int]] = {}

    def prepare(self, workload: Workload) -> Evaluate:
        """Load the model; a cell takes 10 consecutive rows."""
        model = load_model(workload.model)
        torch.manual_seed(0)

        @torch.no_grad()
        def evaluate(cells: list[int]) -> torch.Tensor:
            handles = self.hooks(model, workload, cells)
            try:
                prompts = workload.prompt.expand(len(cells), -1)
                made = model.generate(
                    prompts,
                    attention_mask=torch.ones_like(prompts),
                    do_sample=True,
                    temperature=1.0,
                    top_k=0,
                    top_p=1.0,
                    max_new_tokens=1,
                    num_return_sequences=DRAWS,
                    output_logits=True,
                    return_dict_in_generate=True,
                )
            finally:
                for handle in handles:
                    handle.remove()
            drawn = made.sequences[:, -1].reshape(len(cells), DRAWS)
            for cell, tokens in zip(cells, drawn, strict=True):
                self.counts[cell] = [int((tokens == answer).sum()) for answer in workload.answers]
            return torch.log_softmax(made.logits[0][::DRAWS].float(), dim=-1)

        return evaluate

    def hooks(self, model: Any, workload: Workload, cells: list[int]) -> list[Any]:
        """Register hooks that add each cell's vector to its 10 rows."""
        span, draws = workload.span(), torch.arange(DRAWS)
        return [
            model.model.layers[layer].register_forward_hook(
                adding((rows[:, None] * DRAWS + draws).flatten(), span, vectors.repeat_interleave(DRAWS, dim=0))
            )
            for layer, (rows, vectors) in workload.edits(cells).items()
        ]

    def extra(self, cells: list[int]) -> dict[str, Any]:
        """The sampled answers."""
        return {"draws_per_cell": DRAWS, "answer_counts": [self.counts[cell] for cell in cells]}


if __name__ == "__main__":
    sampler = Sampler()
    note = "answer_counts is the result; answer_logprobs only checks the edit"
    main(Peer("sampling", sampler.prepare, sizes=(1, 2, 4), note=note, extra=sampler.extra), __doc__)
