"""The tokenizers that every wording is rendered with (of both bundled models, and a tiny one of bytes), and a bench."""

import sys
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerBase

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from plain_tokenizers import byte_level

from firsthand.errors import ModelError
from firsthand.studies.injection.bench import InjectionBench

TOKENIZERS = ("smollm2", "gemma3-270m", "tiny")


@pytest.fixture(scope="session", params=TOKENIZERS)
def tokenizer(request: pytest.FixtureRequest) -> PreTrainedTokenizerBase:
    """One of the tokenizers; only the tokenizers of the bundled models are kept."""
    if request.param == "tiny":
        return byte_level()
    from firsthand.engine.loading import load

    try:
        return load(request.param).tokenizer
    except ModelError as error:
        if request.param == "smollm2":  # part of every installation
            raise
        pytest.skip(f"the optional second model is not installed: {error.remedy}")


@pytest.fixture
def bench(injection_bench: InjectionBench) -> InjectionBench:
    """Everything that is fixed for a study of the tiny model."""
    return injection_bench
