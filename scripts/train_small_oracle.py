"""Trains a small activation oracle on SmolLM2: a LoRA adapter that is shown activations and asked for a word.

It proves the path from an adapter's folder to a predictor's tool, on a CPU, within minutes; it answers one kind of
question only. A few tokens of a text, one of them the end of a word, are read at a quarter, a half or three quarters of
the depth, with the adapter off. They are written into the question "Which of these words is in the text, A or B?",
where the other word is one that other texts have. Right is the word; loss is its first token's, over the whole
vocabulary.

Right and other words are drawn alike, so that a reader of the question alone is at chance. What is judged was held out
twice: texts that nothing was trained on, and words that were never in a question. The same questions are put with the
states of another question, which has to bring it back to chance.

Run: python scripts/train_small_oracle.py --texts ../shared/data/prompts --out small-oracle
"""

import argparse
import json
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from torch import Tensor
from train_small_sae import texts

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.targets.rendering import opened
from firsthand.counterfactual.tools.oracle import OracleSettings, asked
from firsthand.engine import Capture, LoadedModel, Row, inspect_model, load, resid_post, run
from firsthand.errors import CounterfactualError

SETTINGS = OracleSettings(system="", max_tokens=8)
HELD_OUT, LONGEST, ROWS, WARM_UP = 5, 128, 16, 10
WORD = re.compile(r" [a-z]{4,}")


@dataclass(frozen=True)
class Found:
    """A word in a text: the tokens it ends at, and states of the tokens up to there by layer."""

    word: str
    states: dict[int, Tensor]


def found_in(
    loaded: LoadedModel, prompts: Sequence[Prompt], layers: Sequence[int], rng: np.random.Generator
) -> list[Found]:
    """Words of the texts that are one token, each with the states of one to three tokens that end with it."""
    anatomy, rows, wanted = inspect_model(loaded.model), [], []
    for prompt in prompts:
        try:
            tokens = opened(loaded.tokenizer, prompt)[:LONGEST]
        except CounterfactualError:
            continue
        ends = [n for n, token in enumerate(tokens) if n > 2 and WORD.fullmatch(loaded.tokenizer.decode([token]))]
        if not ends:
            continue
        ends = sorted(rng.choice(ends, min(len(ends), 12), replace=False).tolist())
        places = tuple(range(1, ends[-1] + 1))
        captures = tuple(Capture(str(layer), resid_post(layer), places) for layer in layers)
        rows.append(Row(tokens[: ends[-1] + 1], captures=captures))
        wanted.append((tokens, ends))
    output = [one for begin in range(0, len(rows), 16) for one in _captured(anatomy, rows[begin : begin + 16])]
    found = []
    for (tokens, ends), read in zip(wanted, output, strict=True):
        for end in ends:
            count = int(rng.integers(1, 4))
            kept = {layer: read[str(layer)][end - count : end].clone() for layer in layers}
            found.append(Found(loaded.tokenizer.decode([tokens[end]]).strip(), kept))
    return found


def _captured(anatomy: object, rows: list[Row]) -> list[dict[str, Tensor]]:
    return run(anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures  # type: ignore[arg-type]


@dataclass(frozen=True)
class Example:
    """One question: tokens, marks, what is written there, and the first tokens of both answers, the right one first."""

    tokens: tuple[int, ...]
    places: tuple[int, ...]
    states_PH: Tensor
    answers: tuple[int, int]


def example(loaded: LoadedModel, one: Found, other: str, layer: int, rng: np.random.Generator) -> Example:
    """A question about one word, with the two in random order."""
    first, second = (one.word, other) if rng.random() < 0.5 else (other, one.word)
    ask = f"Which of these words is in the text, {first} or {second}?"
    prompt = asked(loaded.tokenizer, SETTINGS, layer, len(one.states[layer]), ask)
    begins = [loaded.tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in (one.word, other)]
    return Example(prompt.tokens, prompt.places, one.states[layer], (begins[0], begins[1]))


def logits(model: torch.nn.Module, block: torch.nn.Module, rows: Sequence[Example]) -> Tensor:
    """Logits after each question with its states written at the marks, ``[rows, vocabulary]``."""
    width = max(len(row.tokens) for row in rows)
    ids = torch.tensor([[*row.tokens, *([row.tokens[-1]] * (width - len(row.tokens)))] for row in rows])
    direction, where = torch.zeros(len(rows), width, rows[0].states_PH.shape[1]), torch.zeros(len(rows), width, 1)
    for number, row in enumerate(rows):
        direction[number, list(row.places)] = torch.nn.functional.normalize(row.states_PH, dim=-1)
        where[number, list(row.places)] = 1.0
    handle = block.register_forward_hook(
        lambda _m, _a, out: out + where * direction * out.detach().norm(dim=-1, keepdim=True)
    )
    last = sorted({len(row.tokens) - 1 for row in rows})
    try:
        read = model(input_ids=ids, use_cache=False, logits_to_keep=torch.tensor(last)).logits
    finally:
        handle.remove()
    return read[torch.arange(len(rows)), torch.tensor([last.index(len(row.tokens) - 1) for row in rows])]


def drawn(
    loaded: LoadedModel,
    found: Sequence[Found],
    words: Sequence[str],
    layers: Sequence[int],
    rng: np.random.Generator,
    count: int,
) -> list[Example]:
    """Some questions, whose two words are drawn alike, and begin with different tokens."""
    places: dict[str, list[Found]] = {word: [] for word in words}
    for one in found:
        places[one.word].append(one)
    made: list[Example] = []
    while len(made) < count:
        word, other = rng.choice(list(words), 2, replace=False).tolist()
        one = places[word][int(rng.integers(len(places[word])))]
        row = example(loaded, one, other, int(rng.choice(list(layers))), rng)
        if row.answers[0] != row.answers[1]:
            made.append(row)
    return made


def swapped(rows: Sequence[Example]) -> list[Example]:
    """The same questions with the states of the next one that has as many."""
    by_count: dict[int, list[int]] = {}
    for number, row in enumerate(rows):
        by_count.setdefault(len(row.places), []).append(number)
    following = {a: b for same in by_count.values() for a, b in zip(same, [*same[1:], same[0]], strict=True)}
    return [replace(row, states_PH=rows[following[number]].states_PH) for number, row in enumerate(rows)]


@torch.no_grad()
def judged(model: torch.nn.Module, block: torch.nn.Module, rows: Sequence[Example]) -> dict[str, float]:
    """Share of questions whose right word is likelier than the other, and mass on both together."""
    right, mass = 0, 0.0
    for begin in range(0, len(rows), ROWS):
        some = rows[begin : begin + ROWS]
        logp = logits(model, block, some).log_softmax(-1)
        for row, values in zip(some, logp, strict=True):
            right += bool(values[row.answers[0]] > values[row.answers[1]])
            mass += float(values[list(row.answers)].exp().sum())
    share = right / len(rows)
    error = 1.96 * (share * (1 - share) / len(rows)) ** 0.5
    return {"right": share, "plus_minus": error, "coverage": mass / len(rows), "questions": len(rows)}


def main(options: argparse.Namespace) -> None:
    """All of it."""
    begun = time.process_time()
    torch.manual_seed(options.seed)
    rng = np.random.default_rng(options.seed)
    loaded = load("smollm2", device="cpu")
    depth = loaded.n_layers
    layers = [int(depth * share) for share in SETTINGS.depths]
    prompts = [one for one in texts(options.texts) if one.characters < 2_000]
    rng.shuffle(prompts)  # type: ignore[arg-type]
    prompts = prompts[: options.prompts]
    own, held = prompts[: -len(prompts) // HELD_OUT], prompts[-len(prompts) // HELD_OUT :]
    inside, outside = found_in(loaded, own, layers, rng), found_in(loaded, held, layers, rng)
    words = sorted({one.word for one in (*inside, *outside)})
    rng.shuffle(words)
    unseen = set(words[: len(words) // HELD_OUT])
    inside = [one for one in inside if one.word not in unseen]
    outside = [one for one in outside if one.word in unseen]
    seen, unseen_words = sorted({one.word for one in inside}), sorted({one.word for one in outside})
    print(f"{len(inside)} places to train on, {len(outside)} held out; {time.process_time() - begun:.0f} s", flush=True)
    test = drawn(loaded, outside, unseen_words, layers, np.random.default_rng(1), options.test)
    config = LoraConfig(
        r=options.rank,
        lora_alpha=2 * options.rank,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
        layers_to_transform=list(range(options.first, depth)),
    )
    block = inspect_model(loaded.model).blocks[SETTINGS.written_at]
    model = get_peft_model(loaded.model, config)
    before = judged(model, block, test)
    print(f"untrained, held out: {before}", flush=True)
    parameters = [one for one in model.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=options.rate, weight_decay=0.0)
    step, recent = 0, []
    with suppress(KeyboardInterrupt):  # an interrupt ends training, and what there is is judged and saved
        while time.process_time() - begun < 60 * options.minutes:
            step += 1
            spent = (time.process_time() - begun) / (60 * options.minutes)
            for group in optimizer.param_groups:
                group["lr"] = options.rate * min(1.0, step / WARM_UP, max(0.05, (1 - spent) / 0.4))
            rows = drawn(loaded, inside, seen, layers, rng, ROWS)
            right = torch.tensor([row.answers[0] for row in rows])
            said = logits(model, block, rows)
            loss = torch.nn.functional.cross_entropy(said, right)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            recent.append(
                float(sum(bool(v[r.answers[0]] > v[r.answers[1]]) for v, r in zip(said, rows, strict=True)) / ROWS)
            )
            if step % 10 == 0:
                print(
                    f"step {step:4d}  loss {loss:.3f}  right {np.mean(recent[-10:]):.2f}  "
                    f"{time.process_time() - begun:.0f} s",
                    flush=True,
                )
    trained = time.process_time() - begun
    after, control = judged(model, block, test), judged(model, block, swapped(test))
    save(options.out, model, loaded, {
        "base": "smollm2", "base_weights_sha256": loaded.weights_sha256, "layers": layers, "rank": options.rank,
        "seed": options.seed, "steps": step, "rows": ROWS, "texts": {"training": len(own), "held_out": len(held)},
        "words": {"training": len(seen), "held_out": len(unseen_words)}, "held_out": after,
        "untrained_held_out": before, "held_out_with_other_states": control,
        "last_training_right": float(np.mean(recent[-20:])),
        "processor_seconds": {"training": round(trained), "all": round(time.process_time() - begun)},
    })  # fmt: skip


def save(out: Path, model: torch.nn.Module, loaded: LoadedModel, card: dict[str, object]) -> None:
    """Write the adapter, how it is asked, and a card."""
    model.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    (out / "oracle.json").write_text(SETTINGS.model_dump_json(indent=1) + "\n", encoding="utf-8")
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(card, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="file or folder of prompts; by default the package's own")
    parser.add_argument("--out", type=Path, default=Path("small-oracle"))
    parser.add_argument("--minutes", type=float, default=11.0, help="time of the processor, reading included")
    parser.add_argument("--prompts", type=int, default=120)
    parser.add_argument("--test", type=int, default=128)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--first", type=int, default=4, help="first block that is adapted")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
