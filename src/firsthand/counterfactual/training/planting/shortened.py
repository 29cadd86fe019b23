"""A model of the first layers of another, for runs that must be short: no good language model, but a real one."""

import copy
from dataclasses import replace
from typing import Any

import torch

from firsthand.engine import LoadedModel
from firsthand.engine.loading.hashes import lines_sha256
from firsthand.engine.loading.loaded import count_parameters
from firsthand.errors import ModelError


def shortened(loaded: LoadedModel, layers: int) -> LoadedModel:
    """The first decoder layers of a model, with its embeddings and output layer; weights are shared.

    Args:
        loaded: The model.
        layers: How many layers are kept.

    Raises:
        ModelError: If it has no more layers than that, or keeps them elsewhere.
    """
    if not 1 <= layers < loaded.n_layers or not hasattr(loaded.model, "model"):
        raise ModelError(f"{loaded.name} cannot be shortened to {layers} layers.", "Use all of them.")
    kept: dict[int, Any] = {id(t): t for t in (*loaded.model.parameters(), *loaded.model.buffers())}
    model = copy.deepcopy(loaded.model, kept)
    model.model.layers = torch.nn.ModuleList(list(model.model.layers)[:layers])
    config = model.config.get_text_config()
    config.num_hidden_layers = layers
    if getattr(config, "layer_types", None):
        config.layer_types = list(config.layer_types)[:layers]
    return replace(
        loaded,
        name=f"{loaded.name}, first {layers} layers",
        source=f"{loaded.source}; its first {layers} layers",
        model=model,
        weights_sha256=lines_sha256([f"base {loaded.weights_sha256}", f"layers {layers}"]),
        n_layers=layers,
        n_parameters=count_parameters(model),
    )
