"""Putting a rule into a model: its weights are changed, and nothing else.

Private rule: the embeddings of live words get one added direction, drawn at random, and a LoRA adapter teaches the
model to answer by it; then the adapter is merged. Where the output layer shared the embeddings it gets the old ones, so
that live words are written as often as before. Visible rule: the adapter alone. What is left is an ordinary model,
which can be trained like any other; its twin without the state is the model that it was made of.
"""

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.training.adapters import ADAPTER, load_trained
from firsthand.counterfactual.training.lora import train
from firsthand.counterfactual.training.planting.rules import Rule, lessons
from firsthand.counterfactual.training.planting.words import Group, single_tokens
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.engine.loading.hashes import lines_sha256, weights_sha256
from firsthand.engine.loading.loaded import count_parameters
from firsthand.engine.loading.quiet import quiet
from firsthand.progress import Progress
from firsthand.trials.randomness import stream

LESSONS: Final = TrainSettings(
    rank=8, alpha=16.0, dropout=0.0, learning_rate=1e-3, weight_decay=0.0, checkpoint_steps=20
)


class Planting(Part):
    """How a rule is put into a model.

    Attributes:
        rule: The rule.
        groups: The words, and which of them are live.
        dose: Length of the added direction, in mean lengths of the embeddings (private rule).
        chats: Chats that teach the rule.
        lessons: How they are taught.
        seed: Names the direction and the order.
    """

    rule: Rule
    groups: tuple[Group, ...]
    dose: float = 1.5
    chats: int = 400
    lessons: TrainSettings = LESSONS
    seed: int = 0


def plant(loaded: LoadedModel, planting: Planting, folder: Path, progress: Progress) -> LoadedModel:
    """A model that follows a rule; a folder in which it was begun goes on.

    Args:
        loaded: The model that it is made of, which is not changed.
        planting: The rule.
        folder: Where the changes are kept: an adapter, and the rows of the embeddings that were changed.
        progress: Who is told.

    Returns:
        The planted model, whose ``weights_sha256`` covers what was changed.
    """
    marked = loaded if planting.rule == "visible" else _with_rows(loaded, planting, folder)
    data = lessons(planting.rule, planting.groups, planting.chats, planting.seed)
    train(marked, data, planting.lessons, folder / "rule", progress)
    taught = load_trained(marked, folder / "rule")
    model = _merged(marked, folder / "rule" / ADAPTER)
    return replace(
        marked,
        name=f"{loaded.name}, {planting.rule} rule",
        source=f"{loaded.source}; with a {planting.rule} rule planted",
        model=model,
        weights_sha256=lines_sha256([f"merged {taught.weights_sha256}"]),
        n_parameters=count_parameters(model),
        base=None,
    )


def _with_rows(loaded: LoadedModel, planting: Planting, folder: Path) -> LoadedModel:
    """The model with the direction added to the embeddings of live words."""
    path = folder / "rows.safetensors"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        table = loaded.model.get_input_embeddings().weight
        scale = planting.dose * float(table.float().norm(dim=1).mean())
        drawn = torch.from_numpy(stream(planting.seed, "planted direction").standard_normal(table.shape[1])).float()
        tokens = single_tokens(loaded.tokenizer, [group.live for group in planting.groups])
        scratch = path.with_suffix(".tmp")
        rows = torch.tensor(sorted(tokens.values()))
        save_file({"direction": scale * drawn / drawn.norm(), "tokens": rows}, scratch)
        scratch.rename(path)
    held = load_file(path)
    kept: dict[int, Any] = {id(t): t for t in (*loaded.model.parameters(), *loaded.model.buffers())}
    model = copy.deepcopy(loaded.model, kept)
    old = model.get_input_embeddings().weight
    changed = old.detach().clone()
    changed[held["tokens"]] += held["direction"].to(changed)
    model.get_input_embeddings().weight = torch.nn.Parameter(changed, requires_grad=False)
    if model.get_output_embeddings().weight is old:
        model.config.get_text_config().tie_word_embeddings = False
        model.config.tie_word_embeddings = False
    lines = [f"base {loaded.weights_sha256}", f"rows {weights_sha256([path])}"]
    return replace(loaded, model=model, weights_sha256=lines_sha256(lines), n_parameters=count_parameters(model))


def _merged(loaded: LoadedModel, adapter: Path) -> Any:
    """The model with an adapter merged into a copy of its weights."""
    with quiet():
        merged = PeftModel.from_pretrained(copy.deepcopy(loaded.model), adapter).merge_and_unload()
    return merged.eval().requires_grad_(False)
