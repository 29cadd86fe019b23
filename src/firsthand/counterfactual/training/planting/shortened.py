"""A model of the first and last layers of another, for short runs: it can be taught, and speaks no more."""

import copy
from dataclasses import replace
from typing import Any

import torch

from firsthand.engine import LoadedModel
from firsthand.engine.loading.hashes import lines_sha256
from firsthand.engine.loading.loaded import count_parameters
from firsthand.errors import ModelError


def shortened(loaded: LoadedModel, layers: int) -> LoadedModel:
    """The first and last decoder layers of a model, with its embeddings and output layer; weights are shared.

    The last layers are kept since the output layer reads what they write.

    Args:
        loaded: The model.
        layers: How many layers are kept, half of them first ones.

    Raises:
        ModelError: If it has no more layers than that, or keeps them elsewhere.
    """
    if not 1 <= layers < loaded.n_layers or not hasattr(loaded.model, "model"):
        raise ModelError(f"{loaded.name} cannot be shortened to {layers} layers.", "Use all of them.")
    kept: dict[int, Any] = {id(t): t for t in (*loaded.model.parameters(), *loaded.model.buffers())}
    model = copy.deepcopy(loaded.model, kept)
    first, every = layers - layers // 2, list(model.model.layers)
    places = [*range(first), *range(len(every) - layers // 2, len(every))]
    model.model.layers = torch.nn.ModuleList([every[place] for place in places])
    for number, layer in enumerate(model.model.layers):
        for module in layer.modules():
            if hasattr(module, "layer_idx"):  # its place in the cache
                module.layer_idx = number
    config = model.config.get_text_config()
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = [list(config.layer_types)[place] for place in places]
    return replace(
        loaded,
        name=f"{loaded.name}, {layers} layers",
        source=f"{loaded.source}; its first {first} and last {layers // 2} layers",
        model=model,
        weights_sha256=lines_sha256([f"base {loaded.weights_sha256}", f"layers {layers}"]),
        n_layers=layers,
        n_parameters=count_parameters(model),
    )
