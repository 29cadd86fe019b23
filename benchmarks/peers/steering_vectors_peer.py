"""The sweep with the ``steering-vectors`` package: ``SteeringVector.apply`` with a mask of tokens.

Its vectors are the same for all rows, but its mask may differ by row: a batch of cells is a stack of applied vectors,
each with a mask that selects its own row. With batch size 1 this is the use that its documentation shows.
"""

from contextlib import ExitStack

import torch
from common import Evaluate, Peer, load_model, log_probabilities, main

from workload import Workload

NOTE = "0.12.2 asks for transformers<5; installed beside 5.24 without its declared requirements"


def prepare(workload: Workload) -> Evaluate:
    """Load the model; each cell becomes one applied steering vector."""
    from steering_vectors import SteeringVector

    model = load_model(workload.model)
    span = workload.span()

    @torch.no_grad()
    def evaluate(cells: list[int]) -> torch.Tensor:
        with ExitStack() as applied:
            for row, cell in enumerate(cells):
                concept, index, dose = workload.parts(cell)
                mask = torch.zeros(len(cells), workload.prompt.numel())
                mask[row, span] = 1
                vector = SteeringVector({int(workload.layers[index]): workload.vectors[concept]})
                multiplier = float(workload.doses[index, dose])
                applied.enter_context(
                    vector.apply(model, multiplier=multiplier, min_token_index=None, token_indices=mask)
                )
            prompts = workload.prompt.expand(len(cells), -1)
            logits = model(input_ids=prompts, use_cache=False, logits_to_keep=1).logits
        return log_probabilities(logits)

    return evaluate


if __name__ == "__main__":
    main(Peer("steering-vectors", prepare, packages=("steering-vectors",), sizes=(1, 4, 8, 16), note=NOTE), __doc__)
