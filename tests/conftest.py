"""Fixtures that several packages share: a tiny random model that can read the studies' texts, and runs of it."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random llama of four narrow layers with SmolLM2's tokenizer, saved as safetensors."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from firsthand.engine.loading import load

    tokenizer = load("smollm2").tokenizer
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=2,
        bos_token_id=1,
        eos_token_id=2,
        initializer_range=0.2,
    )
    folder = tmp_path_factory.mktemp("tiny")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny(tiny_folder: Path) -> object:
    """The tiny model, loaded."""
    from firsthand.engine.loading import load

    return load(str(tiny_folder))


@pytest.fixture(scope="session")
def tiny_claim(tiny_folder: Path) -> object:
    """A claim about the tiny model with a small grid and the usual number of confirmation blocks."""
    from firsthand.claims import DesignSpec, StateSpec, default_claim

    return default_claim(
        str(tiny_folder),
        state=StateSpec(layers=(0, 1), doses=(0.5,)),
        design=DesignSpec(selection_blocks=2, confirmation_blocks=24),
    )


@pytest.fixture(scope="session")
def tiny_run(tiny: object, tiny_claim: object, tmp_path_factory: pytest.TempPathFactory) -> object:
    """The finished audit of the tiny model."""
    from firsthand.auditing.audit import audit

    return audit(tiny_claim, tiny, tmp_path_factory.mktemp("audit") / "run")  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def injection_claim(tiny_folder: Path) -> object:
    """A claim of an injection study of the tiny model that asks two questions in two cells."""
    from firsthand.claims import InjectionClaim, Question
    from firsthand.studies.injection.concepts import CONCEPTS

    return InjectionClaim(
        model=str(tiny_folder),
        concepts=CONCEPTS,
        layers=(1,),
        doses=(0.5, 1.0),
        options=(2,),
        framings=("instruction",),
        questions=(Question.DETECTION, Question.STRENGTH, Question.VISIBLE),
    )


@pytest.fixture(scope="session")
def injection_run(tiny: object, injection_claim: object, tmp_path_factory: pytest.TempPathFactory) -> object:
    """The finished injection study of the tiny model."""
    from firsthand.auditing.injection import inject

    return inject(injection_claim, tiny, tmp_path_factory.mktemp("inject") / "run")  # type: ignore[arg-type]


@pytest.fixture(scope="session")
def injection_bench(tiny: object, tiny_folder: Path) -> object:
    """What an injection study that asks everything is made on, with the tiny model."""
    from firsthand.claims import InjectionClaim
    from firsthand.claims.injection import EVERY
    from firsthand.studies.injection.bench import prepare
    from firsthand.studies.injection.concepts import CONCEPTS

    folder = str(tiny_folder)
    claim = InjectionClaim(model=folder, concepts=CONCEPTS, layers=(0, 1), doses=(0.5, 1.0), questions=EVERY)
    return prepare(tiny, claim)  # type: ignore[arg-type]
