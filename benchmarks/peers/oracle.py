"""The reference: float32, eager attention, no cache, one row and one edit at a time through a plain forward hook.

``python oracle.py WORKLOAD OUT.json --cells 24`` gives the log-probabilities that every other way of doing the sweep is
compared with (see ``agree.py``). Nothing here is shared between cells.
"""

import torch
from common import Evaluate, Peer, adding, load_model, log_probabilities, main

from workload import Workload


def prepare(workload: Workload) -> Evaluate:
    """Load the model with eager attention; cells are evaluated one by one, whatever the batch."""
    model = load_model(workload.model, attention="eager")
    span, row = workload.span(), torch.tensor([0])

    @torch.no_grad()
    def one(cell: int) -> torch.Tensor:
        layer, vector = workload.edit(cell)
        handle = model.model.layers[layer].register_forward_hook(adding(row, span, vector))
        try:
            logits = model(input_ids=workload.prompt[None], use_cache=False).logits
        finally:
            handle.remove()
        return log_probabilities(logits)

    return lambda cells: torch.cat([one(cell) for cell in cells])


if __name__ == "__main__":
    main(Peer("oracle", prepare, note="reference, not a competitor"), __doc__)
