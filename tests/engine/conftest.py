"""Makes the slow references of ``tests/oracles`` importable by name, and shares one tiny model."""

import sys
from pathlib import Path

import pytest
import torch
from transformers import PreTrainedModel

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))

from plain_families import tiny_model

from firsthand.engine import Anatomy, inspect_model

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def shared_llama() -> PreTrainedModel:
    """A tiny Llama that no test changes."""
    return tiny_model("llama", {})


@pytest.fixture
def llama() -> PreTrainedModel:
    """A tiny Llama of the test's own, to be changed at will."""
    return tiny_model("llama", {})


@pytest.fixture(scope="session")
def anatomy(shared_llama: PreTrainedModel) -> Anatomy:
    return inspect_model(shared_llama)
