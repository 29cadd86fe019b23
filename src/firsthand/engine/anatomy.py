"""Finds the parts of a decoder by looking at it, not by a list of names.

Works on plain, nested (multimodal) and PEFT-wrapped models: the text configuration says how many blocks there are, and
the one list of that many equal modules that lies on the path of the text decoder is the list of blocks. A pass over a
few tokens then shows whether they are what they seem.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Final

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from firsthand.engine.locks import held
from firsthand.engine.midpoints import find_midpoints
from firsthand.errors import EngineError

_SIDE_TOWER_WORDS: Final = ("vision", "visual", "audio", "encoder")


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The parts of a decoder that edits and readings refer to.

    Attributes:
        model: The model itself, in evaluation mode.
        blocks: The decoder's blocks in order; ``resid_pre[l]`` is what ``blocks[l]`` is given, ``resid_post[l]`` what
            it
            returns.
        midpoints: For each block the child that is given ``resid_mid[l]``; ``None`` where the block has no such place.
        hidden_size: Width of the residual stream.
        path: Dotted name of the list of blocks, for messages.
        returns_tuple: Whether blocks return a tuple that begins with the residual stream.
    """

    model: PreTrainedModel
    blocks: tuple[nn.Module, ...]
    midpoints: tuple[nn.Module | None, ...]
    hidden_size: int
    path: str
    returns_tuple: bool

    @property
    def name(self) -> str:
        """Class of the model, for messages."""
        return type(unwrapped(self.model)).__name__

    @property
    def n_layers(self) -> int:
        """Number of blocks."""
        return len(self.blocks)


def inspect_model(model: PreTrainedModel) -> Anatomy:
    """Find the text decoder's blocks, and try them on six tokens.

    Args:
        model: Any causal language model of Transformers, plain or wrapped.

    Returns:
        Its anatomy.

    Raises:
        EngineError: If no list of blocks, or more than one, fits the configuration; if the model is not in evaluation
            mode, does not run on tokens alone, puts virtual tokens before them, lets a token see later ones, or does
            not run each block once with a residual stream between them.
    """
    name = type(unwrapped(model)).__name__
    config = model.config.get_text_config(decoder=True)
    depth, width = getattr(config, "num_hidden_layers", None), getattr(config, "hidden_size", None)
    if not isinstance(depth, int) or not isinstance(width, int):
        raise EngineError(
            f"The configuration of {name} does not give num_hidden_layers and hidden_size for its text decoder.",
            "Use a decoder of Transformers.",
        )
    found = [
        (path, module)
        for path, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == depth and len({type(block) for block in module}) == 1
    ]
    found = [(path, module) for path, module in found if not _is_side_tower(path)]
    outermost = [(p, m) for p, m in found if not any(p != other and p.startswith(other + ".") for other, _ in found)]
    if len(outermost) != 1:
        paths = ", ".join(path for path, _ in outermost) or "none"
        raise EngineError(
            f"The decoder's blocks could not be found in {name}: the configuration says {depth} blocks, and the "
            f"lists of that many equal modules outside an encoder are: {paths}.",
            "Use a model with exactly one such list; if this is a decoder of Transformers, please report its class.",
        )
    path, blocks = outermost[0]
    refuse_training(model)
    _refuse_virtual_tokens(model, name)
    with held(model), torch.no_grad():
        tuples = _refuse_by_trial(model, tuple(blocks), path, width)
        midpoints = find_midpoints(lambda: model(input_ids=_trial_tokens(model), use_cache=False), tuple(blocks))
    return Anatomy(model, tuple(blocks), midpoints, width, path, tuples)


def unwrapped(model: PreTrainedModel) -> nn.Module:
    """The model inside a PEFT wrapper, or the model itself."""
    base: nn.Module = model.get_base_model() if hasattr(model, "get_base_model") else model
    return base


def state_of_weights(model: PreTrainedModel) -> Hashable:
    """Something that changes when weights are written to, or adapters are switched, scaled or merged."""
    adapters = tuple(
        (tuple(m.active_adapters), m.disable_adapters, tuple(m.merged_adapters), tuple(sorted(m.scaling.items())))
        for m in model.modules()
        if isinstance(getattr(m, "merged_adapters", None), list) and hasattr(m, "scaling")
    )
    return sum(parameter._version for parameter in model.parameters()), adapters


def refuse_training(model: PreTrainedModel) -> None:
    """Refuse a model in which dropout may be live.

    Raises:
        EngineError: If any module is in training mode.
    """
    if any(module.training for module in model.modules()):
        raise EngineError(
            f"{type(unwrapped(model)).__name__} is in training mode, so dropout would make runs random.",
            "Call model.eval() first.",
        )


def _refuse_virtual_tokens(model: PreTrainedModel, name: str) -> None:
    adapters = getattr(model, "peft_config", {})
    if isinstance(adapters, dict) and any(getattr(a, "is_prompt_learning", False) for a in adapters.values()):
        raise EngineError(
            f"{name} carries a prompt-learning adapter, whose virtual tokens shift every position.",
            "Use an adapter that changes weights (LoRA).",
        )


def _trial_tokens(model: PreTrainedModel) -> Tensor:
    """Two rows of three tokens that differ after the first."""
    size = int(model.config.get_text_config(decoder=True).vocab_size)
    first, second, third = size // 2, size // 3, size // 5
    return torch.tensor([[first, second, third], [first, third, second]], device=model.device)


@torch.no_grad()
def _refuse_by_trial(model: PreTrainedModel, blocks: tuple[nn.Module, ...], path: str, width: int) -> bool:
    """Run two rows that differ after their first token, look at what comes out, and say whether blocks return tuples.

    Each block must run once and return one residual stream, and what a decoder says after the first token must be the
    same for both rows: rows of unequal length are padded on the right, which only a causal model cannot see.
    """
    name, ids_RT = type(unwrapped(model)).__name__, _trial_tokens(model)
    seen: list[tuple[int, str, tuple[int, ...] | None, bool]] = []

    def watch(layer: int, module: nn.Module, output: Any) -> None:
        stream = output[0] if isinstance(output, tuple) else output
        shape = tuple(stream.shape) if isinstance(stream, Tensor) else None
        seen.append((layer, type(module).__name__, shape, isinstance(output, tuple)))

    handles = [
        block.register_forward_hook(lambda module, _, output, layer=layer: watch(layer, module, output))
        for layer, block in enumerate(blocks)
    ]
    try:
        logits_RV = model(input_ids=ids_RT, use_cache=False).logits[:, 0].float()
    except Exception as error:  # whatever it raises, this model cannot be run on tokens alone
        raise EngineError(f"{name} does not run on token ids alone: {error}", "Use a text decoder.") from error
    finally:
        for handle in handles:
            handle.remove()
    if [layer for layer, *_ in seen] != list(range(len(blocks))):
        raise EngineError(
            f"{name} does not run each of its {len(blocks)} blocks ({path}) exactly once, in order.",
            "Use a model without shared, looped or skipped blocks.",
        )
    odd = {f"{block} returned {shape}" for _, block, shape, _ in seen if shape != (*ids_RT.shape, width)}
    if odd:
        raise EngineError(
            f"{name} has no residual stream of [rows, tokens, hidden] between its blocks: {', '.join(sorted(odd))} for "
            f"{(*ids_RT.shape, width)}.",
            "This architecture is not supported.",
        )
    if not bool(((logits_RV[0] - logits_RV[1]).abs() <= 1e-2 * logits_RV.abs().max()).all()):
        raise EngineError(
            f"{name} is not causal: what it says after a token depends on later tokens.",
            "Use a decoder with causal attention.",
        )
    return any(is_tuple for *_, is_tuple in seen)


def _is_side_tower(path: str) -> bool:
    return any(word in part for part in path.split(".") for word in _SIDE_TOWER_WORDS)
