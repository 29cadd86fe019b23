"""LoRA adapters: put on a copy of the module tree that shares the base's weights, and checked key by key.

The base is never touched. Its module tree is copied while its parameters and buffers are shared, which takes next to
no memory, and the LoRA layers go into the copy. Base and adapted model can be used side by side, and the adapted one
keeps the class and module paths of the base, so that hooks and edits bind to it as they do to the base.
"""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model_state_dict, inject_adapter_in_model, set_peft_model_state_dict
from safetensors.torch import load_file

from firsthand.engine.loading.hashes import json_sha256, lines_sha256, weights_sha256
from firsthand.engine.loading.loaded import LoadedModel, count_parameters
from firsthand.engine.loading.quiet import quiet
from firsthand.engine.loading.refuse import PICKLED, read_json, refuse_remote_code
from firsthand.errors import ModelError

_PREFIX = "base_model.model."
_WEIGHTS = "adapter_model.safetensors"
_USED = frozenset(
    {
        "r", "lora_alpha", "target_modules", "exclude_modules", "rank_pattern", "alpha_pattern", "use_rslora",
        "use_dora", "fan_in_fan_out", "layers_to_transform", "layers_pattern", "target_parameters", "lora_bias",
    }
)  # fmt: skip
_WITHOUT_EFFECT = frozenset(
    {
        "peft_type", "peft_version", "task_type", "base_model_name_or_path", "revision", "inference_mode",
        "lora_dropout", "init_lora_weights", "auto_mapping",
    }
)  # fmt: skip
_HARMLESS_INITS = (True, False, None, "gaussian", "orthogonal")


def load_adapter(loaded: LoadedModel, folder: str | Path) -> LoadedModel:
    """Put a LoRA adapter on a loaded model.

    Args:
        loaded: The base. It is not changed and can be used afterwards, also beside the result.
        folder: A folder in PEFT's format: ``adapter_config.json`` and ``adapter_model.safetensors``.

    Returns:
        A new model, in evaluation mode, whose ``weights_sha256`` covers the base, the adapter's tensors and those of
        its settings that change outputs. Its ``unload()`` gives the base back.

    Raises:
        ModelError: If the adapter is pickled, of a kind that would change the base, made for other shapes, or has a
            tensor that finds no place, or leaves a place empty.
    """
    place = Path(folder).expanduser()
    if loaded.base is not None:
        raise ModelError(f"{loaded.name} already has an adapter.", "Call unload() first.")
    _refuse_hooks(loaded)
    settings = _read_settings(place)
    tensors = _read_tensors(place)
    with quiet(), torch.random.fork_rng(devices=[]):
        model = _share(loaded.model)
        _inject(model, settings, place)
        _land(model, tensors, place)
    model.eval().requires_grad_(False)
    training = [name for name, module in model.named_modules() if module.training]
    if training:
        raise ModelError(f"The adapter {place} stays in training mode at {training[0]}.", "Report this as a fault.")
    used = {key: settings[key] for key in sorted(_USED & settings.keys())}
    digest = lines_sha256(
        [
            f"base {loaded.weights_sha256}",
            f"adapter {weights_sha256([place / _WEIGHTS])}",
            f"settings {json_sha256(_canonical(used))}",
        ]
    )
    return replace(
        loaded,
        name=f"{loaded.name}+{place.resolve().name}",
        source=f"{loaded.source}; adapter {place.resolve()}",
        model=model,
        weights_sha256=digest,
        n_parameters=count_parameters(model),
        base=loaded,
    )


def _read_settings(folder: Path) -> dict[str, Any]:
    path = folder / "adapter_config.json"
    if not path.is_file():
        raise ModelError(f"{folder} has no adapter_config.json.", "Give the folder of an adapter saved by PEFT.")
    settings = read_json(path)
    if not isinstance(settings, dict) or settings.get("peft_type") != "LORA":
        kind = settings.get("peft_type") if isinstance(settings, dict) else None
        raise ModelError(f"{folder} is an adapter of kind {kind!r}.", "Only LoRA adapters are supported.")
    refuse_remote_code(settings, path)
    if settings.get("init_lora_weights") not in _HARMLESS_INITS:
        raise ModelError(
            f"{folder} was initialised by {settings['init_lora_weights']!r}, which changes the base model's weights.",
            "Convert it to a plain LoRA (PEFT: path_initial_model_for_weight_conversion) and save it again.",
        )
    defaults = LoraConfig().to_dict()
    for key, value in settings.items():
        if key not in _USED | _WITHOUT_EFFECT and value and value != defaults.get(key):
            raise ModelError(
                f"{path} sets {key} = {value!r}, which is not supported.", "Train the adapter without this setting."
            )
    return settings


def _read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    path = folder / _WEIGHTS
    if not path.is_file():
        pickled = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in PICKLED)
        if pickled:
            raise ModelError(
                f"{folder} has only pickled weights ({pickled[0]}); which can run code, so they are refused.",
                "Save the adapter with safe_serialization=True.",
            )
        raise ModelError(f"{folder} has no {_WEIGHTS}.", "Save the adapter with safe_serialization=True.")
    weights_sha256([path])  # raises if it is truncated
    return {key.removeprefix(_PREFIX): tensor for key, tensor in load_file(path).items()}


def _refuse_hooks(loaded: LoadedModel) -> None:
    for name, module in loaded.model.named_modules():
        if module._forward_hooks or module._forward_pre_hooks:
            raise ModelError(
                f"{loaded.name} has a hook at {name or 'its root'}, which the adapted model would inherit.",
                "Load the adapter while no edit or capture is active.",
            )


def _share(model: Any) -> Any:
    """A copy of a model's module tree that shares its parameters and buffers."""
    kept: dict[int, Any] = {id(tensor): tensor for tensor in model.parameters()}
    kept.update({id(tensor): tensor for tensor in model.buffers()})
    return copy.deepcopy(model, kept)


def _inject(model: Any, settings: dict[str, Any], folder: Path) -> None:
    options = {key: settings[key] for key in _USED & settings.keys()}
    try:
        config = LoraConfig(**options, lora_dropout=0.0, init_lora_weights=True, inference_mode=True)
        inject_adapter_in_model(config, model)
    except (ValueError, TypeError, KeyError, RuntimeError, NotImplementedError) as error:
        raise ModelError(
            f"The adapter {folder} does not fit the model: {error}.", "Use the base model that it was trained on."
        ) from error


def _land(model: Any, tensors: dict[str, torch.Tensor], folder: Path) -> None:
    """Put an adapter's tensors in their places, and check that each has one and that none is left over."""
    places = get_peft_model_state_dict(model, save_embedding_layers=False)
    unplaced, empty = sorted(tensors.keys() - places.keys()), sorted(places.keys() - tensors.keys())
    if unplaced or empty:
        parts = [
            f"{len(keys)} {what}, first {keys[0]}"
            for keys, what in ((unplaced, "tensors find no place in the model"), (empty, "places get no tensor"))
            if keys
        ]
        raise ModelError(
            f"The adapter {folder} does not match the model: {'; '.join(parts)}.",
            "Use the base model that it was trained on, and an unaltered adapter file.",
        )
    for key, tensor in tensors.items():
        if tensor.shape != places[key].shape:
            raise ModelError(
                f"The adapter {folder} has {key} of shape {list(tensor.shape)} where the model needs "
                f"{list(places[key].shape)}: it was trained on a model of another size.",
                "Use the base model that it was trained on.",
            )
    set_peft_model_state_dict(model, tensors)
    landed = get_peft_model_state_dict(model, save_embedding_layers=False)
    for key, tensor in tensors.items():
        if not torch.equal(landed[key].cpu(), tensor.to(landed[key].dtype)):
            raise ModelError(f"The tensor {key} of {folder} did not reach the model.", "Report this as a fault.")


def _canonical(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings with lists of names in sorted order, because PEFT saves sets in any order."""
    return {key: sorted(value, key=json.dumps) if isinstance(value, list) else value for key, value in settings.items()}
