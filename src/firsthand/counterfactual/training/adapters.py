"""Trained adapters on disk: safetensors, bound to the weights that they were trained on."""

import os
import shutil
from pathlib import Path
from typing import Any, Final

from firsthand.counterfactual.part import Part
from firsthand.engine import LoadedModel, load_adapter
from firsthand.engine.loading.hashes import file_sha256
from firsthand.errors import ModelError
from firsthand.trials.files import read_json, write_json

ADAPTER: Final = "adapter"
TRAINED: Final = "trained.json"
_WEIGHTS: Final = "adapter_model.safetensors"


class Trained(Part):
    """What a training run left.

    Attributes:
        base_weights: SHA-256 of the weights that the adapter belongs to.
        base_tokenizer: SHA-256 of their tokenizer.
        settings: Hash of the settings.
        data: Hash of the chats in their order; equal for models that saw the same.
        general: Hash of the general chats on which the model is held to its base; empty without any.
        adapter: SHA-256 of the adapter's file.
        steps: Steps that were made.
        parameters: Trained parameters.
        loss: Loss after every step.
        seconds: Time of the last uninterrupted part of it.
    """

    base_weights: str
    base_tokenizer: str
    settings: str
    data: str
    general: str = ""
    adapter: str = ""
    steps: int = 0
    parameters: int = 0
    loss: tuple[float, ...] = ()
    seconds: float = 0.0

    def same_run(self, other: "Trained") -> bool:
        """Whether two are of the same base, data, general chats and settings."""
        names = {"base_weights", "base_tokenizer", "settings", "data", "general"}
        return self.model_dump(include=names) == other.model_dump(include=names)


def save_adapter(model: Any, folder: Path, trained: Trained) -> Trained:
    """Save a PEFT model's adapter, whole or not at all, as safetensors only.

    Args:
        model: The PEFT model.
        folder: The run's folder.
        trained: What it is.

    Returns:
        The same with the hash of its file.
    """
    scratch = folder / f".{ADAPTER}.{os.getpid()}"
    shutil.rmtree(scratch, ignore_errors=True)
    model.save_pretrained(scratch, safe_serialization=True, save_embedding_layers=False)
    for path in scratch.iterdir():
        if path.name not in ("adapter_config.json", _WEIGHTS):
            path.unlink()
    made = trained.model_copy(update={"adapter": file_sha256(scratch / _WEIGHTS)})
    write_json(scratch / TRAINED, made.model_dump(mode="json"))
    shutil.rmtree(folder / ADAPTER, ignore_errors=True)
    scratch.rename(folder / ADAPTER)
    return made


def read_trained(folder: Path) -> Trained | None:
    """What a training run in a folder left; ``None`` if it is not finished.

    Raises:
        ModelError: If the adapter's file is not the one that was saved.
    """
    path = folder / ADAPTER / TRAINED
    if not path.is_file():
        return None
    trained = Trained.model_validate(read_json(path))
    weights = folder / ADAPTER / _WEIGHTS
    if not weights.is_file() or file_sha256(weights) != trained.adapter:
        raise ModelError(
            f"The adapter {weights} is not the one that was trained there.", "Remove its folder, and train again."
        )
    return trained


def load_trained(loaded: LoadedModel, folder: Path) -> LoadedModel:
    """Put a trained adapter on the model that it was trained on.

    Args:
        loaded: The base; it is not changed.
        folder: The run's folder.

    Returns:
        The trained model, in evaluation mode (without dropout).

    Raises:
        ModelError: If there is no finished adapter, it belongs to other weights or another tokenizer, its file was
            altered, or a tensor finds no place or a place no tensor.
    """
    trained = read_trained(folder)
    if trained is None:
        raise ModelError(f"{folder} holds no trained adapter.", "Train first.")
    if (trained.base_weights, trained.base_tokenizer) != (loaded.weights_sha256, loaded.tokenizer_sha256):
        raise ModelError(
            f"The adapter in {folder} was trained on other weights ({trained.base_weights[:12]}) than {loaded.name} "
            f"has ({loaded.weights_sha256[:12]}), or with another tokenizer.",
            "Load the model that it was trained on.",
        )
    return load_adapter(loaded, folder / ADAPTER)
