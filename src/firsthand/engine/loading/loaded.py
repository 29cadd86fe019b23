"""A loaded model with everything that identifies it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from firsthand.errors import ModelError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model ready for evaluation, with its tokenizer and its identity.

    Attributes:
        name: The name it was loaded by.
        source: Where it came from, in words.
        model: The model, in evaluation mode, with no gradients on its own weights.
        tokenizer: Its tokenizer.
        dtype: Data type of its weights, as a string.
        device: Where it lies.
        weights_sha256: Fingerprint of the stored weights (see :mod:`firsthand.engine.loading.hashes`), the same for
            every ``dtype``; with an adapter, of base and adapter together.
        tokenizer_sha256: Fingerprint of tokenizer, chat template and special tokens.
        config_sha256: Fingerprint of the stored configuration, which holds what the weights do not (rotary base,
            attention windows, scaling).
        architecture: ``model_type`` of its configuration.
        n_layers: Number of decoder layers.
        hidden_size: Width of the residual stream.
        n_parameters: Number of parameters, each counted once, an adapter's included.
        base: The model without its adapter, or None.
    """

    name: str
    source: str
    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    dtype: str
    device: str
    weights_sha256: str
    tokenizer_sha256: str
    config_sha256: str
    architecture: str
    n_layers: int
    hidden_size: int
    n_parameters: int
    base: LoadedModel | None = None

    def card(self) -> dict[str, Any]:
        """What identifies the model, as plain JSON values, for storage beside a result."""
        return {
            "name": self.name,
            "source": self.source,
            "dtype": self.dtype,
            "device": self.device,
            "weights_sha256": self.weights_sha256,
            "tokenizer_sha256": self.tokenizer_sha256,
            "config_sha256": self.config_sha256,
            "architecture": self.architecture,
            "n_layers": self.n_layers,
            "hidden_size": self.hidden_size,
            "n_parameters": self.n_parameters,
            "base_weights_sha256": self.base.weights_sha256 if self.base else None,
        }

    def unload(self) -> LoadedModel:
        """The model without its adapter. The base was never changed, so it is simply handed back.

        Raises:
            ModelError: If no adapter is loaded.
        """
        if self.base is None:
            raise ModelError(f"{self.name} has no adapter.", "Call unload() only on what load_adapter returned.")
        return self.base


def count_parameters(model: PreTrainedModel) -> int:
    """Number of parameters, tied ones counted once."""
    return sum(parameter.numel() for parameter in model.parameters())
