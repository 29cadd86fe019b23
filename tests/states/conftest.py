"""Makes the slow references of ``tests/oracles`` importable by name, and gives tiny models with small tokenizers."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerBase

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

from plain_families import DEPTH, HIDDEN, tiny_model
from plain_tokenizers import byte_level

from firsthand.engine import Anatomy, LoadedModel, inspect_model

torch.set_num_threads(1)


def wrapped(tokenizer: PreTrainedTokenizerBase, family: str = "llama", weights: str = "a" * 64, **more: Any) -> Any:
    """A tiny random model that can read what the tokenizer writes, with its anatomy."""
    settings = {"vocab_size": len(tokenizer), "max_position_embeddings": 256, **more}
    model = tiny_model(family, settings)
    loaded = LoadedModel(
        name=f"tiny {family}",
        source="made in a test",
        model=model,
        tokenizer=tokenizer,
        dtype="float32",
        device="cpu",
        weights_sha256=weights,
        tokenizer_sha256="b" * 64,
        config_sha256="c" * 64,
        architecture=family,
        n_layers=DEPTH,
        hidden_size=int(model.config.hidden_size),
        n_parameters=0,
    )
    return loaded, inspect_model(model)


@pytest.fixture(scope="session")
def wrap() -> Callable[..., tuple[LoadedModel, Anatomy]]:
    return wrapped


@pytest.fixture(scope="session")
def tiny_llama() -> tuple[LoadedModel, Anatomy]:
    """A tiny Llama that no test changes, with a byte-level tokenizer and a chat template."""
    assert HIDDEN == 32
    return wrapped(byte_level())
