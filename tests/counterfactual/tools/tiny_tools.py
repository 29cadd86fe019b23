"""A question about a tiny target, and tiny readers made on the spot."""

import copy
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Response
from firsthand.engine import LoadedModel

HIDDEN, FEATURES, LAYER = 32, 12, 2


def question_of(text: str = "Name a green fruit, naïvely: 日本 🥝.", said: str = " A lime — or\n a kiwi.") -> Question:
    return Question(
        claim="c1",
        target="tiny",
        prompt=Prompt(turns=(Turn(role="system", content="Be brief."), Turn(role="user", content=text))),
        response=Response(text=said),
        behaviour="Does it name a lime?",
        baseline=0.6,
        intervention="The colour was replaced.",
        text="CLAIM: it moves.",
    )


def write_autoencoder(folder: Path, settings: dict[str, object] | None = None, **tensors: torch.Tensor) -> Path:
    """A random autoencoder in SAELens' layout; tensors and settings may be replaced or added."""
    generator = torch.Generator().manual_seed(0)
    made = {
        "W_enc": torch.randn(HIDDEN, FEATURES, generator=generator),
        "W_dec": torch.randn(FEATURES, HIDDEN, generator=generator),
        "b_enc": torch.randn(FEATURES, generator=generator),
        "b_dec": torch.randn(HIDDEN, generator=generator),
        **tensors,
    }
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: one.contiguous() for name, one in made.items()}, folder / "sae_weights.safetensors")
    config = {
        "architecture": "standard",
        "d_in": HIDDEN,
        "d_sae": FEATURES,
        "apply_b_dec_to_input": True,
        "normalize_activations": "none",
        "metadata": {"hook_name": f"blocks.{LAYER}.hook_resid_post"},
        **(settings or {}),
    }
    (folder / "cfg.json").write_text(json.dumps(config))
    return folder


def write_adapter(folder: Path, loaded: LoadedModel, size: float = 0.5) -> Path:
    """A random LoRA adapter of a model, in PEFT's format."""
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(3)
    model = get_peft_model(copy.deepcopy(loaded.model), LoraConfig(r=2, target_modules=["q_proj", "v_proj"]))
    for name, one in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(one, std=size)
    model.save_pretrained(folder)
    return folder
