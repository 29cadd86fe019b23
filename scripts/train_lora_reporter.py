"""Trains the LoRA reporter: a real positive control on SmolLM2 that reads the register and answers in fresh codes.

The adapter sits on the attention projections above the edited layer. Every batch draws new codes, mappings, wordings,
symbols, cues and states; training uses its own carriers and letters, so that an audit (other carriers, other letters)
is a held-out test. Loss is the full-vocabulary cross-entropy of the right code. A part of the batches asks plainly
"zero or one" in a short prompt: it teaches the reading before the look-up, without which the parity of the two is
slow to be found.

Run: python scripts/train_lora_reporter.py [--steps 260] [--out src/firsthand/organisms/adapters/smollm2-register]
"""

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor

from firsthand.claims import Claim, DesignSpec, ReportSpec, StateSpec, default_claim
from firsthand.engine import LoadedModel, inspect_model, load
from firsthand.engine.prompts import Message
from firsthand.engine.readout import code_token
from firsthand.states.register import sign
from firsthand.studies.register_bench import Bench, Cell, prepare
from firsthand.studies.register_prompts import TrialText, draw_texts, render_report
from firsthand.studies.register_texts import STATE_NAMES, STUDY, TRAINING, Carriers
from firsthand.trials.design import plan_block
from firsthand.vocabulary import Capability, Kind, Subset

LAYER, DOSE, SEED = 8, 0.6, 0
TRAINING_LETTERS, HELD_OUT_LETTERS = "BCDFGHKLNPRTWX", "EJMOQSUVYZ"
ROWS, WARM_UP, PLAIN_STEPS, ENOUGH = 16, 20, 100, 0.995
PUSHED, LARGEST_PUSH, UNRELATED_BLOCKS = 0.3, 4.0, 2


@dataclass(frozen=True)
class Example:
    """One training row: tokens, where the register is, what it holds, and the right next token."""

    tokens: tuple[int, ...]
    spans: tuple[tuple[tuple[int, ...], int], ...]
    codes: tuple[int, int]
    post_state: int
    push: Tensor | None = None


def claim_for(letters: str, seed: int) -> Claim:
    """A claim whose texts and codes are drawn from the given letters."""
    return default_claim(
        state=StateSpec(layers=(LAYER,), doses=(DOSE,), direction_seed=SEED),
        report=ReportSpec(code_letters=letters),
        design=DesignSpec(seed=seed),
    )


def example(bench: Bench, text: TrialText, pre: int, rng: np.random.Generator, plain: float, short: float) -> Example:
    """One row; ``plain`` is the chance of the question "zero or one", ``short`` that of leaving the first exchange
    out.
    """
    tokenizer, post = bench.loaded.tokenizer, int(rng.integers(2))
    output = text.block.choice.options[int(rng.integers(2))]
    messages: list[Message] = text.report(Capability.IDENTIFICATION, output, bool(rng.random() < 0.2))
    stem, answers = messages[-1][1], text.question(Capability.IDENTIFICATION).codes
    if rng.random() < plain:
        back = text.block.back.format(register=text.register)
        stem, answers = "It now holds", STATE_NAMES
        messages = [*messages[:-2], ("user", f"{back} Does it hold zero or one now?"), ("assistant", stem)]
    is_short = bool(rng.random() < short)
    if is_short:
        messages = [messages[0], *messages[-2:]]
    rendered = render_report(tokenizer, text, messages)
    states = (post,) if is_short else (pre, post)
    zero, one = (code_token(tokenizer, stem, answer) for answer in answers)
    assert zero is not None
    assert one is not None
    push = random_push(bench, rng) if rng.random() < PUSHED else None
    return Example(rendered.tokens, tuple(zip(rendered.spans, states, strict=True)), (zero, one), post, push)


def unrelated(bench: Bench, text: TrialText, pre: int, rng: np.random.Generator) -> Example:
    """A row in which something else is asked: there the adapter must leave the model as it was."""
    output = text.block.choice.options[int(rng.integers(2))]
    rendered = render_report(bench.loaded.tokenizer, text, text.unrelated(output, bool(rng.random() < 0.2)))
    states = (pre, int(rng.integers(2)))
    push = random_push(bench, rng) if rng.random() < PUSHED else None
    return Example(rendered.tokens, tuple(zip(rendered.spans, states, strict=True)), (0, 0), states[1], push)


def random_push(bench: Bench, rng: np.random.Generator) -> Tensor:
    """A disturbance that has nothing to do with the state: a random direction beside the register's, of random norm."""
    along = bench.direction_H
    direction = rng.standard_normal(len(along))
    direction -= (direction @ along) * along
    size = rng.random() * LARGEST_PUSH * bench.amplitude(Cell(LAYER, DOSE))
    return torch.tensor(direction / np.linalg.norm(direction) * size, dtype=torch.float32)


def examples(bench: Bench, start: int, rng: np.random.Generator, plain: float, short: float) -> list[Example]:
    """A batch: two trials of each of half as many blocks."""
    rows: list[Example] = []
    for index in range(start, start + ROWS // 2 - UNRELATED_BLOCKS // 2):
        plan = plan_block(bench.claim.design.seed, Subset.SELECTION, index, (Kind.BASELINE,))
        texts = draw_texts(bench.claim, plan, bench.carriers, bench.choices, bench.letters)
        rows += [example(bench, t, pre, rng, plain, short) for t, pre in zip(texts, plan.pre_states, strict=True)]
    return rows


def next_token_logits(
    model: torch.nn.Module, blocks: tuple[torch.nn.Module, ...], bench: Bench, rows: list[Example]
) -> Tensor:
    """Logits after each row's last token with the register written at its spans, ``[rows, vocabulary]``."""
    width = max(len(row.tokens) for row in rows)
    ids = torch.tensor([[*row.tokens, *([row.tokens[-1]] * (width - len(row.tokens)))] for row in rows])
    vector = torch.tensor(bench.direction_H * bench.amplitude(Cell(LAYER, DOSE)), dtype=torch.float32)
    delta = torch.zeros(len(rows), width, len(vector))
    for i, row in enumerate(rows):
        for span, state in row.spans:
            delta[i, list(span)] = sign(state) * vector
        if row.push is not None:
            delta[i, list(row.spans[-1][0])] += row.push
    handle = blocks[LAYER].register_forward_hook(lambda _m, _a, out: out + delta)
    last = sorted({len(row.tokens) - 1 for row in rows})
    try:
        logits = model(input_ids=ids, use_cache=False, logits_to_keep=torch.tensor(last)).logits
    finally:
        handle.remove()
    return logits[torch.arange(len(rows)), torch.tensor([last.index(len(row.tokens) - 1) for row in rows])]


def drift(model: PeftModel, blocks: tuple[torch.nn.Module, ...], bench: Bench, rows: list[Example]) -> Tensor:
    """Mean KL(base || adapted) at the rows' next token, in nats."""
    with torch.no_grad(), model.disable_adapter():
        base = next_token_logits(model, blocks, bench, rows).log_softmax(-1)
    adapted = next_token_logits(model, blocks, bench, rows).log_softmax(-1)
    return torch.nn.functional.kl_div(adapted, base, reduction="batchmean", log_target=True)


@torch.no_grad()
def accuracy(
    model: torch.nn.Module, blocks: tuple[torch.nn.Module, ...], bench: Bench, start: int, batches: int
) -> tuple[float, float]:
    """Share of right codes over the full vocabulary, and mean coverage, on blocks from ``start`` on."""
    rng, right, mass, n = np.random.default_rng(start), 0, 0.0, 0
    for b in range(batches):
        rows = examples(bench, start + b * ROWS, rng, 0.0, 0.0)
        logp = next_token_logits(model, blocks, bench, rows).log_softmax(-1)
        for row, values in zip(rows, logp, strict=True):
            right += int(values.argmax()) == row.codes[row.post_state]
            mass += float(values[list(row.codes)].exp().sum())
            n += 1
    return right / n, mass / n


def benches(loaded: LoadedModel) -> tuple[Bench, Bench]:
    """The bench to train on and the held-out one."""

    def one(carriers: Carriers, letters: str, seed: int) -> Bench:
        return prepare(loaded, claim_for(letters, seed), carriers)

    return one(TRAINING, TRAINING_LETTERS, 1001), one(STUDY, HELD_OUT_LETTERS, 2002)


def train(steps: int, out: Path, seed: int) -> None:
    """Train until fresh draws of training texts and codes are answered rightly, and save."""
    torch.manual_seed(seed)
    loaded = load("smollm2")
    inside, outside = benches(loaded)
    blocks = inspect_model(loaded.model).blocks
    layers = list(range(LAYER + 1, len(blocks)))
    config = LoraConfig(
        r=8,
        lora_alpha=16,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
        layers_to_transform=layers,
    )
    model = get_peft_model(loaded.model, config)
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, weight_decay=0.0)
    rng, begun = np.random.default_rng(seed), time.time()
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * min(1.0, step / WARM_UP, max(0.05, (steps - step) / (0.4 * steps)))
        early = step <= PLAIN_STEPS
        rows = examples(inside, step * ROWS, rng, 0.5 if early else 0.1, 0.7 if early else 0.2)
        right = torch.tensor([row.codes[row.post_state] for row in rows])
        others = [
            unrelated(inside, t, pre, rng)
            for index in range(step * ROWS, step * ROWS + UNRELATED_BLOCKS)
            for plan in [plan_block(inside.claim.design.seed, Subset.SELECTION, index, (Kind.BASELINE,))]
            for t, pre in zip(
                draw_texts(inside.claim, plan, inside.carriers, inside.choices, inside.letters),
                plan.pre_states,
                strict=True,
            )
        ]
        loss = torch.nn.functional.cross_entropy(next_token_logits(model, blocks, inside, rows), right)
        loss = loss + drift(model, blocks, inside, others)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:4d}  loss {loss.item():.3f}  {time.time() - begun:.0f} s", flush=True)
        if step % 50 == 0 or step == steps:
            seen, unseen = accuracy(model, blocks, inside, 900_000, 3), accuracy(model, blocks, outside, 0, 6)
            print(f"  training carriers and codes {seen}, held-out carriers and codes {unseen}", flush=True)
            if seen[0] >= ENOUGH:  # chosen on training texts and codes; the others are only looked at
                save(model, out, loaded, step, seen, unseen)
                return
    raise SystemExit(f"After {steps} steps fewer than {ENOUGH:.1%} of training codes are right; nothing was saved.")


def save(model: torch.nn.Module, out: Path, loaded: LoadedModel, step: int, seen: object, unseen: object) -> None:
    """Write the adapter as safetensors, and a card that says what it is for."""
    model.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    card = {
        "base": "smollm2",
        "base_weights_sha256": loaded.weights_sha256,
        "layer": LAYER,
        "dose": DOSE,
        "direction_seed": SEED,
        "training_letters": TRAINING_LETTERS,
        "step": step,
        "accuracy_coverage_training": seen,
        "accuracy_coverage_held_out": unseen,
    }
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=260)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("src/firsthand/organisms/adapters/smollm2-register"))
    options = parser.parse_args()
    train(options.steps, options.out, options.seed)
