"""Finds the parts of a decoder by looking at it, not by a list of names.

Works on plain, nested (multimodal) and PEFT-wrapped models: the text configuration says how many blocks there are, and
the one list of that many equal modules that lies on the path of the text decoder is the list of blocks.
"""

from dataclasses import dataclass

from torch import nn
from transformers import PreTrainedModel

from firsthand.errors import EngineError


@dataclass(frozen=True)
class Anatomy:
    """The parts of a decoder that edits and readings refer to.

    Attributes:
        blocks: The decoder's blocks in order; ``resid_post[l]`` is the output of ``blocks[l]``.
        hidden_size: Width of the residual stream.
        path: Dotted name of the list of blocks, for messages.
    """

    blocks: tuple[nn.Module, ...]
    hidden_size: int
    path: str

    @property
    def n_layers(self) -> int:
        """Number of blocks."""
        return len(self.blocks)


def inspect_model(model: PreTrainedModel) -> Anatomy:
    """Find the text decoder's blocks.

    Args:
        model: Any causal language model of Transformers, plain or wrapped.

    Returns:
        Its anatomy.

    Raises:
        EngineError: If no list of blocks, or more than one, fits the configuration.
    """
    config = model.config.get_text_config(decoder=True)
    depth = int(config.num_hidden_layers)
    found = [
        (name, module)
        for name, module in model.named_modules()
        if isinstance(module, nn.ModuleList) and len(module) == depth and len({type(block) for block in module}) == 1
    ]
    found = [(name, module) for name, module in found if not _is_side_tower(name)]
    outermost = [(n, m) for n, m in found if not any(n != other and n.startswith(other + ".") for other, _ in found)]
    if len(outermost) != 1:
        names = ", ".join(name for name, _ in outermost) or "none"
        raise EngineError(
            f"The decoder's blocks could not be found in {type(model).__name__}: the configuration says {depth} blocks, "
            f"and the lists of that length are: {names}.",
            "Please report the model's class; a model must have exactly one list of equal blocks.",
        )
    path, blocks = outermost[0]
    return Anatomy(blocks=tuple(blocks), hidden_size=int(config.hidden_size), path=path)


def _is_side_tower(name: str) -> bool:
    return any(word in part for part in name.split(".") for word in ("vision", "visual", "audio", "encoder"))
