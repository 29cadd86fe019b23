"""Logit lens: what a state of the residual stream would say if the model ended there.

The state is handed to the model's own final norm and head (with whatever scale or cap they have), by a pass in which
every block is skipped. No name of a norm or head has to be known. (nostalgebraist 2020, "interpreting GPT: the logit
lens".)
"""

from collections.abc import Callable, Sequence
from typing import Final

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Row
from firsthand.engine.forward import Start, forward
from firsthand.engine.layout import Layout
from firsthand.engine.sharing import can_resume, refusals
from firsthand.errors import EngineError

_AT_ONCE: Final = 256


def logit_lens(anatomy: Anatomy, states_NH: Tensor, keep: Callable[[Tensor], Tensor] | None = None) -> Tensor:
    """Log-probabilities that final norm and head give to states of the residual stream.

    Args:
        anatomy: The model's parts.
        states_NH: The states, ``[states, hidden]``, from any site.
        keep: What is kept of each chunk's log-probabilities ``[chunk, vocabulary]``; by default all of it.

    Returns:
        ``[states, vocabulary]``, or what was kept, on the CPU.

    Raises:
        EngineError: If the states have another width or are not finite.
    """
    if states_NH.ndim != 2 or states_NH.shape[1] != anatomy.hidden_size or not len(states_NH):
        raise EngineError(
            f"The states have shape {list(states_NH.shape)}, needed is [states, {anatomy.hidden_size}].",
            "Give one state of the residual stream a row.",
        )
    if not can_resume(anatomy):
        raise EngineError(
            f"{anatomy.name} has no logit lens: {refusals(anatomy).resume}", "Its residual stream does not say it all."
        )
    if not bool(states_NH.isfinite().all()):
        raise EngineError("A state is not finite.", "Use a smaller dose, or float32.")
    kept = [_ended(anatomy, chunk_NH) for chunk_NH in torch.split(states_NH, _AT_ONCE)]
    return torch.cat([chunk if keep is None else keep(chunk) for chunk in kept]).cpu()


def _ended(anatomy: Anatomy, states_NH: Tensor) -> Tensor:
    rows = [Row((0,))] * len(states_NH)  # which token is embedded does not matter: every block is skipped
    stream = states_NH[:, None]
    start = Start(anatomy.n_layers, stream)
    layout = Layout.of(rows, [0] * len(rows), packed=False)
    return torch.log_softmax(forward(anatomy, rows, layout, start=start).logits_EV, -1)


def ranks(logprobs_NV: Tensor, tokens: Sequence[int]) -> Tensor:
    """The rank of each token in each distribution, 0 for the likeliest, ``[distributions, tokens]``; ties share it."""
    wanted_NT = logprobs_NV[:, torch.tensor(list(tokens))]
    return (logprobs_NV[:, None, :] > wanted_NT[:, :, None]).sum(-1)
