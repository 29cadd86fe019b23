"""One forward pass, with exactly the arguments that a model takes, and the distributions that are asked for."""

import inspect
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from firsthand.engine.anatomy import Anatomy, unwrapped
from firsthand.engine.attention import SharedPass, shared_attention
from firsthand.engine.edits import Row, reads_of
from firsthand.engine.hooks import intervened
from firsthand.engine.layout import Layout
from firsthand.engine.locks import held
from firsthand.engine.skipping import skipping
from firsthand.errors import EngineError


@dataclass(frozen=True, eq=False)
class Start:
    """A pass that starts in the middle of the model.

    Attributes:
        stage: Number of blocks that are not run.
        stream: The residual stream after them in a clean pass, ``[batch, sequence, hidden]``.
    """

    stage: int
    stream: Tensor


@dataclass(frozen=True, eq=False)
class Passed:
    """What a pass returned.

    Attributes:
        logits_EV: Logits after every token that is read, rows one after the other, ``[reads, vocabulary]`` float32.
        readings: For each row its readings by name, ``[positions, hidden]`` float32 on the CPU.
    """

    logits_EV: Tensor
    readings: list[dict[str, Tensor]]


@torch.no_grad()
def forward(
    anatomy: Anatomy,
    rows: Sequence[Row],
    layout: Layout,
    shared: SharedPass | None = None,
    start: Start | None = None,
    *,
    logits: bool = True,
) -> Passed:
    """Run some rows once.

    Args:
        anatomy: The model's parts.
        rows: The rows, whose tokens are all in this pass.
        layout: Where they lie; packed with shared attention, padded without.
        shared: Shared attention, if it is to be used.
        start: Where to start, if not at the embedding.
        logits: Whether distributions are wanted; without them the head runs on one token only.

    Raises:
        EngineError: If an edit or reading cannot be carried out exactly, or logits come in another shape or overflow.
    """
    reads = [layout.place(i, p) for i, row in enumerate(rows) for p in reads_of(row, layout.starts[i])]
    kept = reads if logits else reads[-1:]
    with ExitStack() as stack:
        stack.enter_context(held(anatomy.model))
        readings = stack.enter_context(intervened(anatomy, rows, layout))
        if start is not None:
            stack.enter_context(skipping(anatomy, start.stage, start.stream))
        if shared is not None:
            stack.enter_context(shared_attention(anatomy.model, shared))
        logits_EV = _run(anatomy.model, layout, kept)
    if bool(logits_EV.isnan().any() or logits_EV.isposinf().any()):
        raise EngineError("The model's logits overflowed.", "Use a smaller dose, or float32.")
    return Passed(logits_EV, readings)


def _run(model: PreTrainedModel, layout: Layout, kept: Sequence[int]) -> Tensor:
    """Logits at some places, ``[places, vocabulary]`` float32."""
    accepted, (batch, width) = arguments_of(model), layout.shape
    arguments: dict[str, Any] = {"input_ids": layout.tokens.to(model.device), "use_cache": False}
    if layout.packed:
        # A mask of ones keeps Transformers from guessing by itself where packed rows begin.
        arguments["attention_mask"] = torch.ones(batch, width, dtype=torch.long, device=model.device)
        arguments["position_ids"] = layout.positions[None].to(model.device)
    columns = sorted({place % width for place in kept})
    chosen = "logits_to_keep" in accepted
    if chosen:
        arguments["logits_to_keep"] = torch.tensor(columns, device=model.device)
    logits_BCV = model(**arguments).logits
    if logits_BCV.shape[:2] != (batch, len(columns) if chosen else width):
        raise EngineError(
            f"{type(unwrapped(model)).__name__} returned logits of {list(logits_BCV.shape[:2])} (rows, positions) "
            f"where {[batch, len(columns) if chosen else width]} were asked for.",
            "This architecture is not supported; please report its class.",
        )
    index = {column: i for i, column in enumerate(columns)}
    where = torch.tensor([index[place % width] if chosen else place % width for place in kept])
    logits_EV: Tensor = logits_BCV[torch.tensor([place // width for place in kept]), where]
    return logits_EV if logits_EV.dtype == torch.float64 else logits_EV.float()


def arguments_of(model: PreTrainedModel) -> set[str]:
    """Names of the arguments that the model's own forward takes."""
    return set(inspect.signature(unwrapped(model).forward).parameters)
