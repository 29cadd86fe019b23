"""Starts a pass in the middle of the model: lower blocks hand on what is known already.

The blocks below a *stage* are replaced by identities for one pass, and the last of them returns the residual stream
that a clean pass had there. Embedding, masks, positions, upper blocks and head run as the model's own forward runs
them. (To cut the list of blocks or to start from ``inputs_embeds`` goes wrong for families whose blocks know their
index or whose embedding is scaled.)
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor

from firsthand.engine.anatomy import Anatomy


@contextmanager
def skipping(anatomy: Anatomy, stage: int, stream: Tensor | None) -> Iterator[None]:
    """Skip the first ``stage`` blocks.

    Args:
        anatomy: The model's parts.
        stage: Number of blocks that are not run.
        stream: What the last of them returned in a clean pass, ``[batch, sequence, hidden]``; not needed for stage 0.
    """
    if stage == 0 or stream is None:
        yield
        return
    skipped = anatomy.blocks[:stage]
    before = [block.__dict__.get("forward") for block in skipped]  # set where a dispatcher has wrapped it
    try:
        for number, block in enumerate(skipped):
            block.forward = _handing_on(stream if number == stage - 1 else None, anatomy.returns_tuple)
        yield
    finally:
        for block, old in zip(skipped, before, strict=True):
            if old is None:
                del block.forward
            else:
                block.forward = old


def _handing_on(stream: Tensor | None, as_tuple: bool) -> Any:
    def forward(*args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs["hidden_states"]
        handed = given if stream is None else stream.to(given.device, given.dtype)
        return (handed,) if as_tuple else handed

    return forward
