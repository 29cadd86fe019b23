"""Makes the slow references of ``tests/oracles`` importable by name, and gives the tiny model's parts."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))
sys.path.insert(0, str(Path(__file__).parent))

from plain_families import DEPTH, tiny_model
from plain_tokenizers import byte_level
from small_study import claim_on, examples

from firsthand.engine import Anatomy, LoadedModel, inspect_model
from firsthand.studies.labels.biofeedback import Bench, prepare


@pytest.fixture(scope="session")
def anatomy(tiny: LoadedModel) -> Anatomy:
    """The tiny model's parts."""
    return inspect_model(tiny.model)


@pytest.fixture(scope="session", params=["bloom", "gpt2"])
def family(request: pytest.FixtureRequest) -> LoadedModel:
    """Tiny models of other families: one whose attention cannot be shared, and one with learned positions."""
    tokenizer = byte_level()
    settings = {"vocab_size": len(tokenizer), "n_layer": 4, "n_head": 4, "max_position_embeddings": 512}
    more = {"n_embd": 32, "n_positions": 512} if request.param == "gpt2" else {}
    model = tiny_model(request.param, {**settings, **more})
    return LoadedModel(
        name=f"tiny {request.param}",
        source="made in a test",
        model=model,
        tokenizer=tokenizer,
        dtype="float32",
        device="cpu",
        weights_sha256="a" * 64,
        tokenizer_sha256="b" * 64,
        config_sha256="c" * 64,
        architecture=request.param,
        n_layers=DEPTH,
        hidden_size=int(model.config.hidden_size),
        n_parameters=0,
    )


@pytest.fixture(scope="session")
def bench(tiny: LoadedModel) -> Bench:
    """A small biofeedback study of the tiny model."""
    data = examples()
    return prepare(tiny, data, claim_on(data))
