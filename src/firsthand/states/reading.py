"""Reads the residual stream of texts in a prompt, in one batched call, on a model that nobody else is editing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.modules import module as torch_module

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Capture, Row
from firsthand.engine.loading import LoadedModel
from firsthand.engine.sites import Site
from firsthand.engine.sweep import run
from firsthand.errors import StatesError
from firsthand.states.placing import WORD, Pool, Template, place

USER_TURN: Final[Template] = (("user", WORD),)
"""A user's turn that is the text and nothing else."""
_HARMLESS: Final = "transformers.utils.output_capturing"  # reads only, and stays for good once it has been used


@dataclass(frozen=True, eq=False)
class Readings:
    """States of texts.

    Attributes:
        texts: The texts.
        states: For each site the mean over the positions read, ``[texts, hidden]``, float64.
        norms: For each site the mean Euclidean norm of the residuals at the positions read, ``[texts]``, float64.
        tokens: Number of positions read of each text.
    """

    texts: tuple[str, ...]
    states: dict[Site, Tensor]
    norms: dict[Site, Tensor]
    tokens: tuple[int, ...]


def read_states(
    loaded: LoadedModel,
    anatomy: Anatomy,
    texts: Sequence[str],
    sites: Sequence[Site],
    template: Template = USER_TURN,
    pool: Pool = "span",
) -> Readings:
    """Read texts, each in a prompt of its own.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        texts: Words or whole texts.
        sites: Where to read.
        template: The prompt, with ``{word}`` for the text.
        pool: ``"span"`` for the mean over the text's own tokens, ``"last"`` for the last token of the prompt.

    Returns:
        The readings, texts in the order given.

    Raises:
        EngineError: If a prompt cannot be rendered or run, or a residual is not finite.
        StatesError: If ``anatomy`` is another model's, somebody else's hooks are active, nothing is to be read, or a
            text has no tokens of its own or would be read at position 0.
    """
    if anatomy.model is not loaded.model:
        raise StatesError(f"The anatomy is not that of {loaded.name}.", "Give inspect_model(loaded.model).")
    if not texts or not sites or len(set(sites)) != len(sites):
        raise StatesError(
            f"There are {len(texts)} texts to be read at the sites {[str(site) for site in sites]}.",
            "Give at least one text, and at least one site, each once.",
        )
    refuse_other_edits(anatomy)
    placed = [place(loaded.tokenizer, template, text, pool) for text in texts]
    rows = [Row(p.tokens, captures=tuple(Capture(str(s), s, p.positions) for s in sites)) for p in placed]
    found = run(anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    exact = [{site: captures[str(site)].double() for site in sites} for captures in found]
    return Readings(
        tuple(texts),
        {site: torch.stack([residuals[site].mean(0) for residuals in exact]) for site in sites},
        {site: torch.stack([residuals[site].norm(dim=-1).mean() for residuals in exact]) for site in sites},
        tuple(len(p.positions) for p in placed),
    )


def refuse_other_edits(anatomy: Anatomy) -> None:
    """Refuse a model on which somebody else's hooks may be changing what is read.

    Hooks by which Transformers returns hidden states only read, and are let pass; so is Accelerate's placement of
    modules on devices, which replaces ``forward`` and leaves ``_hf_hook``.

    Raises:
        StatesError: If a module has a forward hook or pre-hook, one is registered for all modules, or the ``forward``
            of a block was replaced.
    """
    for name, module in anatomy.model.named_modules():
        if _active(module._forward_hooks) or _active(module._forward_pre_hooks):
            raise _edited(f"a hook at {name or 'its root'}")
    if _active(torch_module._global_forward_hooks) or _active(torch_module._global_forward_pre_hooks):
        raise _edited("a hook that is registered for all modules")
    for layer, block in enumerate(anatomy.blocks):
        if "forward" in vars(block) and not hasattr(block, "_hf_hook"):
            raise _edited(f"another forward in block {layer}")


def _active(hooks: dict[int, Any]) -> bool:
    return any(getattr(hook, "__module__", None) != _HARMLESS for hook in hooks.values())


def _edited(what: str) -> StatesError:
    return StatesError(
        f"The model has {what}: a state read now might be that of an edited model.",
        "Remove every hook and patch, then read again.",
    )
