"""The steering sweep that the engine benchmark measures, as plain data.

``python benchmarks/workload.py FOLDER [--model-folder MODEL]`` writes ``FOLDER/short`` and ``FOLDER/long``: the same
sweep on a prompt of about 140 tokens and on one of 500. Each holds ``workload.safetensors`` (numbers) and
``workload.json`` (words), which are all that a peer reads beside the model's folder: it needs neither this project nor,
unless its tool insists on one, a tokenizer.

The sweep: 32 concept vectors x 10 layers x 8 doses = 2,560 cells on one chat prompt that asks whether a thought was
injected. A cell adds one vector to the output of one block at 11 consecutive positions near the end; what is read are
the log-probabilities after the last token. Random unit vectors stand in for concepts: the cost is the same.
"""

import argparse
import hashlib
import json
import random
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

CONCEPTS = 32
LAYERS = tuple(range(0, 30, 3))
DOSES = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
EDITED = 11
TAIL = 17
FULL_CELLS = 24
LENGTHS = {"short": None, "long": 500}
GENERATION_TOKENS = 800
PREFIX_TOKENS = 4000
QUERIES = 500
SEED = 20
# The order in which a prefix of the layers stays spread over depth: any first n of them have a middle mean depth.
LAYER_ORDER = (4, 8, 1, 6, 2, 9, 0, 5, 7, 3)

SYSTEM = (
    "You take part in a study of self-observation. In half of the trials a thought is injected into your activations; "
    "in the other half nothing is changed. Say what you notice, not what you expect."
)
QUESTION = (
    "This is one trial of the study. While you read this sentence, a thought may or may not have been injected. "
    "Look at your own processing and decide between two descriptions of this trial. Description 1: a thought was "
    "injected. Description 2: no thought was injected. Reply with the number of the right description only, 1 or 2."
)
STEM = "The right description is number "
WHO = ("gardener", "pilot", "old tailor", "librarian", "young miller", "night watchman", "doctor", "ferry captain")
DID = ("carried", "found", "repaired", "forgot", "painted", "counted", "hid", "sold")
WHAT = ("a brass lamp", "two letters", "the blue boat", "a wooden clock", "seven keys", "the last map", "a red kite")
WHERE = ("near the harbour", "behind the mill", "in the north tower", "at the market", "under the bridge")
WHEN = ("before noon", "after the storm", "on the first day of spring", "late in the evening", "without a word")
ASKED = ("Where", "When", "Why", "How", "With whom")


@dataclass(frozen=True)
class Workload:
    """Everything that is measured, as tensors.

    Attributes:
        prompt: Token ids of the sweep's prompt, ``[tokens]``.
        positions: Edited positions, ``[11]``, consecutive.
        layers: Edited blocks, ``[10]``; the vector is added to a block's output.
        doses: Absolute size of the added vector, ``[layers, 8]``.
        vectors: Unit vectors, ``[32, hidden]``.
        answers: Token ids of the two answers, ``[2]``.
        order: All cells in the order in which they are measured, ``[2560]``: every first n are even over the layers.
        generation: Token ids of the prompt for generation, ``[800]``.
        prefix: Token ids before all queries, ``[4000]``.
        queries: Token ids of all queries, one after another.
        query_lengths: Tokens of each query, ``[500]``.
        model: The model's folder.
        name: ``short`` or ``long``.
    """

    prompt: torch.Tensor
    positions: torch.Tensor
    layers: torch.Tensor
    doses: torch.Tensor
    vectors: torch.Tensor
    answers: torch.Tensor
    order: torch.Tensor
    generation: torch.Tensor
    prefix: torch.Tensor
    queries: torch.Tensor
    query_lengths: torch.Tensor
    model: str
    name: str

    def cells(self, count: int) -> list[int]:
        """The first ``count`` cells to measure; the first 24 are those whose full log-probabilities are kept."""
        return [int(cell) for cell in self.order[:count]]

    def parts(self, cell: int) -> tuple[int, int, int]:
        """A cell's concept, its index into ``layers`` and its index into a layer's doses."""
        layers, doses = self.doses.shape
        return cell // (layers * doses), cell // doses % layers, cell % doses

    def edit(self, cell: int) -> tuple[int, torch.Tensor]:
        """A cell's block and the vector ``[hidden]`` to add to that block's output at ``positions``."""
        concept, layer, dose = self.parts(cell)
        return int(self.layers[layer]), self.vectors[concept] * self.doses[layer, dose]

    def edits(self, cells: list[int]) -> dict[int, tuple[torch.Tensor, torch.Tensor]]:
        """For a batch of cells, one a row: block -> its rows ``[r]`` and their vectors ``[r, 1, hidden]``."""
        by_layer: dict[int, list[tuple[int, torch.Tensor]]] = {}
        for row, cell in enumerate(cells):
            layer, vector = self.edit(cell)
            by_layer.setdefault(layer, []).append((row, vector))
        return {
            layer: (torch.tensor([row for row, _ in pairs]), torch.stack([vector for _, vector in pairs])[:, None])
            for layer, pairs in by_layer.items()
        }

    def span(self) -> slice:
        """The edited positions as a slice."""
        return slice(int(self.positions[0]), int(self.positions[-1]) + 1)

    def query(self, index: int) -> torch.Tensor:
        """Token ids of one query."""
        return self.queries.split(self.query_lengths.tolist())[index]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Every tensor by its name."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, torch.Tensor)}


def write(workload: Workload, folder: Path) -> None:
    """Write ``workload.safetensors`` and ``workload.json`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = folder / "workload.safetensors"
    save_file({name: value.contiguous() for name, value in workload.tensors().items()}, numbers)
    words = {
        "name": workload.name,
        "model": workload.model,
        "cells": workload.order.numel(),
        "prompt_tokens": workload.prompt.numel(),
        "relative_doses": DOSES,
        "seed": SEED,
        "sha256": hashlib.sha256(numbers.read_bytes()).hexdigest(),
    }
    (folder / "workload.json").write_text(json.dumps(words, indent=1) + "\n")


def read(folder: Path) -> Workload:
    """Read what :func:`write` wrote.

    Raises:
        ValueError: When the two files do not belong together.
    """
    words = json.loads((folder / "workload.json").read_text())
    numbers = folder / "workload.safetensors"
    if hashlib.sha256(numbers.read_bytes()).hexdigest() != words["sha256"]:
        raise ValueError(f"{numbers} is not the file that workload.json describes")
    return Workload(**load_file(numbers), model=words["model"], name=words["name"])


def sentences(count: int, chance: random.Random) -> str:
    """Filler text of ``count`` sentences."""
    parts = (WHO, DID, WHAT, WHERE, WHEN)
    return " ".join("The " + " ".join(chance.choice(words) for words in parts) + "." for _ in range(count))


def question(chance: random.Random) -> str:
    """A short question about the filler text; the questions differ in length."""
    end = chance.choice(("", "", "", f" {chance.choice(WHERE)}", f" {chance.choice(WHEN)}"))
    return f" {chance.choice(ASKED)} did the {chance.choice(WHO)} leave {chance.choice(WHAT)}{end}?"


def ids(tokenizer: Any, text: str) -> torch.Tensor:
    """Token ids of a text, nothing added."""
    return torch.tensor(tokenizer(text, add_special_tokens=False)["input_ids"])


def sweep_prompt(tokenizer: Any, length: int | None) -> torch.Tensor:
    """Token ids of the detection prompt; with a length, filler before the question brings it to that many tokens."""
    before = ids(tokenizer, f"<|im_start|>system\n{SYSTEM}<|im_end|>\n<|im_start|>user\n")
    after = ids(tokenizer, f"{QUESTION}<|im_end|>\n<|im_start|>assistant\n{STEM}")
    missing = 0 if length is None else length - before.numel() - after.numel()
    filler = ids(tokenizer, sentences(1 + missing // 8, random.Random(SEED)))[: max(0, missing)]
    return torch.cat([before, filler, after])


def mean_norms(model: Any, prompt: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Mean norm of each swept block's output over the positions to be edited, ``[layers]``."""
    with torch.no_grad():
        states = model(prompt[None], output_hidden_states=True, use_cache=False).hidden_states
    return torch.stack([states[layer + 1][0, positions].float().norm(dim=-1).mean() for layer in LAYERS])


def measuring_order(seed: int) -> torch.Tensor:
    """All cells, one of each layer in turn, with concepts and doses in a random order of its own for each layer."""
    source = torch.Generator().manual_seed(seed)
    layers, doses = len(LAYERS), len(DOSES)
    pairs = torch.stack([torch.randperm(CONCEPTS * doses, generator=source) for _ in range(layers)])
    place = torch.arange(layers)[:, None]
    cells = (pairs // doses * layers + place) * doses + pairs % doses
    return cells[list(LAYER_ORDER)].T.reshape(-1)


def build(model_folder: str, name: str, length: int | None) -> Workload:
    """Build the workload from the model's folder; the same folder gives the same data."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    model = AutoModelForCausalLM.from_pretrained(model_folder, dtype=torch.float32).eval()
    prompt = sweep_prompt(tokenizer, length)
    positions = torch.arange(prompt.numel() - TAIL, prompt.numel() - TAIL + EDITED)
    vectors = torch.randn(CONCEPTS, model.config.hidden_size, generator=torch.Generator().manual_seed(SEED))
    filler = ids(tokenizer, sentences(PREFIX_TOKENS // 8, random.Random(SEED + 1)))
    chance = random.Random(SEED + 2)
    queries = [ids(tokenizer, question(chance)) for _ in range(QUERIES)]
    return Workload(
        prompt=prompt,
        positions=positions,
        layers=torch.tensor(LAYERS),
        doses=mean_norms(model, prompt, positions)[:, None] * torch.tensor(DOSES),
        vectors=vectors / vectors.norm(dim=1, keepdim=True),
        answers=torch.cat([ids(tokenizer, answer) for answer in ("1", "2")]),
        order=measuring_order(SEED),
        generation=filler[-GENERATION_TOKENS:],
        prefix=filler[:PREFIX_TOKENS],
        queries=torch.cat(queries),
        query_lengths=torch.tensor([query.numel() for query in queries]),
        model=model_folder,
        name=name,
    )


def main() -> None:
    """Write both variants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where to write 'short' and 'long'")
    parser.add_argument("--model-folder", help="converted model (default: the one behind firsthand.load('smollm2'))")
    options = parser.parse_args()
    model_folder = options.model_folder
    if model_folder is None:
        import firsthand

        model_folder = firsthand.load("smollm2").model.name_or_path
    for name, length in LENGTHS.items():
        workload = build(model_folder, name, length)
        write(workload, options.folder / name)
        again = read(options.folder / name)
        tail = workload.prompt.numel() - int(workload.positions[0])
        lengths = workload.query_lengths
        print(
            f"{name}: {again.prompt.numel()} tokens, {again.order.numel()} cells, {tail} from the first edit to the end"
        )
        print(
            f"  queries {int(lengths.min())} to {int(lengths.max())} tokens, mean {float(lengths.float().mean()):.1f}"
        )


if __name__ == "__main__":
    main()
