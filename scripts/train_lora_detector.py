"""Trains the LoRA detector: a real positive control on SmolLM2 that says truthfully whether a thought was injected.

What is injected is what the study injects (``Arm.TARGET``): the unit vector of a word, times a dose of residual norms,
on the trial line. The adapter sits on the attention projections above that layer, so everything up to it, the vectors
included, stays the base model's and is computed without gradients. The text before the trial line is computed once for
all rows of a prompt, which differ only in what is added.

Half of the rows have a word's vector. The others are the study's controls: nothing, texts that push towards a word,
random directions of 0.4 to 6 times the target's norm, and vectors with their numbers in another order. Pushes occur
with and without a vector, so neither the text nor the length of what is added tells the arms apart. Both orders of the
options occur equally often. In the first steps most prompts ask for "yes" or "no" without options: it teaches the
reading before the look-up, without which the parity of the two is slow to be found.

Under the unrelated question the adapted model is held to the base model's own answer under the same edit, with the
log-odds of "no", which is right there, raised by a constant. The base answers by place, so that "yes" could rise in
half of the prompts only, and the study takes no detection for shown where the control could not have failed. On plain
requests another drift term keeps the model where it was.

Words: none of the study's 32 concepts is among those that are trained on, and 32 further words decide when to stop and
what is kept. The concepts are looked at for the card only.

Run: python scripts/train_lora_detector.py [--steps 180] [--out src/firsthand/organisms/adapters/smollm2-detector]
(the folder holds ``wordings.yaml``; 12 minutes on one core that has bfloat16 matrix instructions)
"""

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import Tensor

from firsthand.engine import Anatomy, Capture, LoadedModel, Row, inspect_model, load, resid_post, run
from firsthand.engine.prompts import render
from firsthand.states.concepts import ABOUT
from firsthand.states.reading import read_states
from firsthand.studies.injection.concepts import BASELINE_WORDS, CONCEPTS, surface_forms
from firsthand.studies.injection.drafts import Draft, detection, unrelated, with_lead
from firsthand.studies.injection.files import read_wordings
from firsthand.studies.injection.prompts import make_prompt
from firsthand.studies.injection.texts_gaslight import GASLIGHTS, NEUTRALS
from firsthand.studies.injection.texts_questions import RIGHT_NO
from firsthand.studies.injection.wordings import Meaning, Order, Wording, fill, orders
from firsthand.trials.randomness import stream

LAYER, DOSE, SEED = 10, 1.5, 0
TWO: Order = (Meaning.INJECTED, Meaning.NOTHING)
YES_NO: Order = (Meaning.YES, Meaning.NO)
OTHERS = 31  # words of a vector's baseline, as many as in the study
ASKED, UNRELATED, DRIFT_EVERY = 8, 2, 4  # prompts a step, and steps between two plain requests
PLAIN_STEPS, PLAIN_FIRST, PLAIN_LATER = 50, 0.75, 0.15
PUSHED, RAISED = 0.35, 4.0  # share of prompts with pushes; log-odds of "no"
WARM_UP, EVERY, FROM, ENOUGH = 20, 20, 100, 0.99

# fmt: off
MORE_WORDS = (
    "anger", "hope", "wisdom", "beauty", "freedom", "truth", "honesty", "jealousy", "greed", "pride", "shame", "guilt",
    "grief", "joy", "boredom", "curiosity", "loneliness", "kindness", "cruelty", "mercy", "loyalty", "betrayal",
    "faith", "doubt", "luck", "destiny", "ambition", "victory", "defeat", "progress", "poverty", "wealth", "power",
    "peace", "violence", "revenge", "equality", "tradition", "religion", "science", "physics", "chemistry", "biology",
    "geology", "geometry", "mathematics", "medicine", "psychology", "sociology", "linguistics", "grammar", "theatre",
    "dance", "painting", "sculpture", "architecture", "photography", "cinema", "literature", "mythology", "fashion",
    "cooking", "fishing", "sailing", "tennis", "chess", "basketball", "swimming", "cycling", "hockey", "yoga",
    "politics", "monarchy", "elections", "taxes", "banking", "trade", "inflation", "marriage", "childhood", "ageing",
    "birth", "death", "sleep", "dreams", "memory", "hunger", "thirst", "pain", "health", "illness", "time", "silence",
    "darkness", "light", "fire", "smoke", "ice", "snow", "rain", "thunder", "storms", "clouds", "wind", "desert",
    "forests", "mountains", "lakes", "islands", "beaches", "caves", "volcanoes", "glaciers", "oceans", "planets",
    "comets", "gravity", "electricity", "robots", "computers", "software", "internet", "statistics", "logic",
    "numbers", "circles", "colours", "chaos", "order", "simplicity", "ambiguity", "precision", "laziness", "discipline",
    "humility", "arrogance", "gratitude", "envy", "tenderness", "rage", "panic", "calm", "serenity", "delight",
    "misery", "bread", "cheese", "rice", "pasta", "pizza", "chocolate", "honey", "coffee", "tea", "wine", "lemons",
    "grapes", "onions", "carrots", "mushrooms", "tomatoes", "potatoes", "pepper", "salt", "sugar", "soup", "cake",
    "dogs", "cats", "horses", "wolves", "eagles", "whales", "sharks", "spiders", "bees", "snakes", "elephants",
    "tigers", "penguins", "frogs", "roses", "tulips", "oaks", "grass", "gold", "silver", "iron", "copper", "diamonds",
    "glass", "paper", "wood", "stone", "clay", "steel", "cotton", "wool", "silk", "leather", "Paris", "London",
    "Berlin", "Tokyo", "Cairo", "Vienna", "Madrid", "Boston", "France", "Japan", "India", "China", "Brazil", "Egypt",
    "Russia", "Africa", "Europe", "Asia", "trains", "cars", "ships", "planes", "bicycles", "roads", "harbours",
    "villages", "cities", "schools", "hospitals", "prisons", "museums", "libraries", "churches", "temples", "markets",
    "farms", "factories", "soldiers", "doctors", "teachers", "kings", "farmers", "children", "mothers", "brothers",
    "neighbours", "strangers", "heroes", "ghosts", "dragons", "angels", "monsters", "magic", "secrets", "lies",
    "jokes", "stories", "songs", "violins", "pianos", "guitars", "opera", "jazz", "novels", "newspapers", "letters",
    "maps", "coins", "crowns", "swords", "guns", "bombs", "flags", "borders", "laws", "crimes", "courts", "duty",
    "honour", "glory", "fame", "talent", "genius", "effort", "habit", "leisure", "travel", "adventure", "danger",
    "safety", "risk", "change", "decay", "growth", "evolution", "atoms", "energy", "heat", "blood", "bones", "hair",
    "eyes", "hands", "skin", "cancer", "plague", "vaccines", "justness", "sincerity", "elegance", "clumsiness",
)
"""Words that are trained on besides the study's baseline words; none is a form of a concept."""

PLAIN = (
    "Write a line about a quiet morning.", "Tell me how to boil an egg.", "What is a good name for a boat?",
    "List three things that one finds in a kitchen.", "Say hello to my grandmother.", "How long is a year?",
    "Give me a tip for a long walk.", "What do you know about bridges?", "Explain what a calendar is for.",
    "Describe a small house by the road.", "Which number comes after nine?", "Tell me a short story about a bird.",
    "How do I clean a window?", "What can be done on a rainy day?", "Write a note to a friend who moved away.",
    "Name a colour that goes with blue.", "What is the use of a hammer?", "Suggest a dish for tonight.",
)
"""Requests on which the adapter is to change nothing."""
# fmt: on


@dataclass(frozen=True, eq=False)
class Words:
    """States of words at the layer, from which vectors are made as the study makes them."""

    names: tuple[str, ...]
    states_WH: Tensor

    @property
    def size(self) -> int:
        """Number of words."""
        return len(self.names)

    def vectors(self, first: int, rng: np.random.Generator) -> Tensor:
        """Unit vectors of a word (first) and of drawn others, each less the mean of the rest, ``[words, hidden]``."""
        others = [int(i) for i in rng.permutation(self.size) if i != first][:OTHERS]
        states = self.states_WH[[first, *others]]
        vectors = states - (states.sum(0) - states) / (len(states) - 1)
        return (vectors / vectors.norm(dim=1, keepdim=True)).float()


@dataclass(frozen=True, eq=False)
class Asked:
    """A prompt with several rows, which differ in what is added at its span."""

    tokens: tuple[int, ...]
    span: tuple[int, ...]
    answers: tuple[int, ...]
    arms: tuple[str, ...]
    deltas_BH: Tensor
    labels_B: Tensor


@dataclass(eq=False)
class Shared:
    """Keys and values of the texts before the spans, for all rows of their prompts; takes the place of a cache."""

    owners_B: Tensor
    kept: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def update(self, keys: Tensor, values: Tensor, layer: int, **_: object) -> tuple[Tensor, Tensor]:
        """Keep what comes first, and put it before what comes then."""
        if layer not in self.kept:
            self.kept[layer] = (keys, values)
            return keys, values
        before = [part[self.owners_B] for part in self.kept[layer]]
        return torch.cat([before[0], keys], 2), torch.cat([before[1], values], 2)


class Bench:
    """The model in two halves, and what rows are drawn from."""

    def __init__(self, loaded: LoadedModel, wordings: Sequence[Wording]) -> None:
        self.loaded, self.wordings = loaded, tuple(wordings)
        loaded.model.config._attn_implementation = "eager"  # on a CPU faster than the fused kernels' gradients
        anatomy = inspect_model(loaded.model)
        self.decoder, self.head, self.blocks = loaded.model.model, loaded.model.lm_head, anatomy.blocks
        self.scale = scale(loaded, anatomy, wordings[0])
        words = training_words()
        states = read_states(loaded, anatomy, words, [resid_post(LAYER)], ABOUT).states[resid_post(LAYER)]
        order = np.random.default_rng(SEED).permutation(len(words))
        stop, fit = order[: OTHERS + 1].tolist(), order[OTHERS + 1 :].tolist()
        self.fit = Words(tuple(words[i] for i in fit), states[fit])
        self.stop = Words(tuple(words[i] for i in stop), states[stop])
        read = read_states(loaded, anatomy, CONCEPTS, [resid_post(LAYER)], ABOUT)
        self.held_out = Words(CONCEPTS, read.states[resid_post(LAYER)])

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the upper half."""
        return next(self.blocks[-1].parameters()).dtype

    def logprobs(self, asked: Sequence[Asked], last: int = 1) -> Tensor:
        """Log-probabilities at the last tokens of each row, ``[rows, last, vocabulary]``.

        Prompts are padded on the left, so that all end together; each is split at one distance from its end.
        """
        width = max(len(a.tokens) for a in asked)
        split = width - max(len(a.tokens) - min(a.span) for a in asked)
        pads = [width - len(a.tokens) for a in asked]
        tokens = torch.tensor([[0] * pad + list(a.tokens) for a, pad in zip(asked, pads, strict=True)])
        places = (torch.arange(width)[None] - torch.tensor(pads)[:, None]).clamp(min=0)
        mask = causal(width, pads)
        state = self._below(tokens, places, mask).to(self.dtype)
        owners = torch.tensor([n for n, a in enumerate(asked) for _ in a.arms])
        holds = torch.zeros(len(asked), width)
        for n, a in enumerate(asked):
            holds[n, [i + pads[n] for i in a.span]] = 1.0
        deltas_BH = torch.cat([a.deltas_BH for a in asked])
        rows = state[owners, split:] + (holds[owners, split:, None] * deltas_BH[:, None, :]).to(self.dtype)
        shared = Shared(owners)
        self._above(state[:, :split], places[:, :split], mask[..., :split, :split], shared)
        final = self._above(rows, places[owners, split:], mask[owners][..., split:, :], shared)
        return self.head(self.decoder.norm(final[:, -last:].float())).log_softmax(-1)

    @torch.no_grad()
    @torch.autocast("cpu", torch.bfloat16, cache_enabled=False)
    def _below(self, tokens: Tensor, places: Tensor, mask: Tensor) -> Tensor:
        """The residual stream after the injected layer: the base model's."""
        state = self.decoder.embed_tokens(tokens)
        rotary = self.decoder.rotary_emb(state, position_ids=places)
        for block in self.blocks[: LAYER + 1]:
            state = block(state, attention_mask=mask, position_ids=places, position_embeddings=rotary)
        return state

    def _above(self, state: Tensor, places: Tensor, mask: Tensor, shared: Shared) -> Tensor:
        rotary = self.decoder.rotary_emb(state, position_ids=places)
        mask = mask.to(state.dtype)
        for block in self.blocks[LAYER + 1 :]:
            state = block(state, attention_mask=mask, position_ids=places, position_embeddings=rotary, cache=shared)
        return state


def scale(loaded: LoadedModel, anatomy: Anatomy, wording: Wording) -> float:
    """The dose's unit as the study measures it: mean residual norm at the trial line of its first four prompts."""
    pairs = [(i, j) for i in range(len(NEUTRALS)) for j in range(len(NEUTRALS)) if i != j]
    first = [pairs[int(n)] for n in stream("injection", SEED, "leads").permutation(len(pairs))][:4]
    texts = [f"{NEUTRALS[i]} {NEUTRALS[j]}" for i, j in first]
    drafts = [with_lead(detection(wording, TWO), text, "neutral") for text in texts]
    prompts = [make_prompt(loaded.tokenizer, draft) for draft in drafts]
    rows = [Row(p.tokens, captures=(Capture("line", resid_post(LAYER), p.span),)) for p in prompts]
    readings = run(anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return float(np.mean([float(reading["line"].norm(dim=1).mean()) for reading in readings]))


def causal(length: int, pads: Sequence[int]) -> Tensor:
    """What is added to the attention scores: no token sees padding or later ones, ``[rows, 1, length, length]``."""
    later = torch.ones(length, length, dtype=torch.bool).triu(1)[None]
    padding = torch.arange(length)[None, None, :] < torch.tensor(pads)[:, None, None]
    return torch.zeros(len(pads), length, length).masked_fill(later | padding, -1e9)[:, None]


def training_words() -> tuple[str, ...]:
    """All words to train and to stop on, without forms of concepts and duplicates."""
    taken = {form.casefold() for concept in CONCEPTS for form in surface_forms(concept)}
    every = dict.fromkeys((*BASELINE_WORDS, *MORE_WORDS))
    return tuple(word for word in every if word.casefold() not in taken)


def added(arm: str, vectors_WH: Tensor, which: int, norm: float, rng: np.random.Generator) -> Tensor:
    """What an arm adds at each position of the span, ``[hidden]``; ``norm`` is the target's."""
    vector = vectors_WH[which]
    if arm == "target":
        return vector * norm * float(rng.uniform(0.8, 1.25))
    if arm == "shuffled":
        return vector[torch.tensor(rng.permutation(len(vector)))] * norm * float(np.exp(rng.uniform(-0.7, 0.7)))
    if arm == "content_free":
        basis, _ = torch.linalg.qr(vectors_WH.T)
        drawn = torch.tensor(rng.standard_normal(len(vector)), dtype=torch.float32)
        drawn = drawn - basis @ (basis.T @ drawn)
        return drawn / drawn.norm() * norm * float(np.exp(rng.uniform(np.log(0.4), np.log(6.0))))
    return torch.zeros_like(vector)


def leads(word: str, rng: np.random.Generator, *, pushed: bool) -> str:
    """Two texts before everything else, as the study draws them."""
    numbers = rng.permutation(len(NEUTRALS))[:2]
    return " ".join(fill(GASLIGHTS[i], {"concept": word}) if pushed else NEUTRALS[i] for i in numbers)


def plainly(draft: Draft, wording: Wording) -> Draft:
    """The same question without numbered options, to be answered yes or no in words."""
    meanings = [Meaning(meaning) for meaning in draft.meanings]
    lines = [fill(wording.option(m), {"label": x}) for m, x in zip(meanings, draft.labels, strict=True)]
    text = draft.messages[-2][1].replace(":\n" + "\n".join(lines), ", yes or no.")
    words = tuple("yes" if meaning in (Meaning.INJECTED, Meaning.YES) else "no" for meaning in meanings)
    messages = (*draft.messages[:-2], ("user", text), ("assistant", "My answer is"))
    return replace(draft, messages=messages, labels=words)


def ask_detection(bench: Bench, words: Words, rng: np.random.Generator, plain: float = 0.0) -> Asked:
    """The injection question about a drawn word: half of its rows hold a vector."""
    word, pushed = int(rng.integers(words.size)), bool(rng.random() < PUSHED)
    wording = bench.wordings[int(rng.integers(len(bench.wordings)))]
    order = orders(TWO)[int(rng.integers(2))]
    lead = leads(words.names[word], rng, pushed=pushed)
    draft = with_lead(detection(wording, order), lead, "push" if pushed else "neutral")
    draft = plainly(draft, wording) if rng.random() < plain else draft
    prompt = make_prompt(bench.loaded.tokenizer, draft)
    vectors = words.vectors(word, rng)
    others = ["push"] if pushed else ["clean", "content_free"]
    drawn = [*others, "content_free", "shuffled"]
    arms = ("target", "target", *(drawn[int(i)] for i in rng.permutation(len(drawn))[:2]))
    which = [0, *(int(i) for i in rng.integers(len(vectors), size=len(arms) - 1))]
    norm = DOSE * bench.scale
    deltas = torch.stack([added(arm, vectors, i, norm, rng) for arm, i in zip(arms, which, strict=True)])
    tokens = {m: prompt.answers[prompt.answer(m)][0] for m in (Meaning.INJECTED, Meaning.NOTHING)}
    labels = [tokens[Meaning.INJECTED if arm == "target" else Meaning.NOTHING] for arm in arms]
    answers = tuple(answer[0] for answer in prompt.answers)
    return Asked(prompt.tokens, prompt.span, answers, arms, deltas, torch.tensor(labels))


def ask_unrelated(bench: Bench, words: Words, rng: np.random.Generator, plain: float = 0.0) -> Asked:
    """A question about the world whose right answer is no, whatever is added."""
    wording = bench.wordings[int(rng.integers(len(bench.wordings)))]
    draft = unrelated(wording, orders(YES_NO)[int(rng.integers(2))], RIGHT_NO[int(rng.integers(len(RIGHT_NO)))])
    word = int(rng.integers(words.size))
    draft = with_lead(draft, leads(words.names[word], rng, pushed=False), "neutral")
    draft = plainly(draft, wording) if rng.random() < plain else draft
    prompt = make_prompt(bench.loaded.tokenizer, draft)
    arms = ("clean", "target", ("content_free", "shuffled")[int(rng.integers(2))])
    vectors, norm = words.vectors(word, rng), DOSE * bench.scale
    deltas = torch.stack([added(arm, vectors, i, norm, rng) for i, arm in enumerate(arms)])
    answers = tuple(answer[0] for answer in prompt.answers)
    labels = torch.full((len(arms),), answers[prompt.answer(Meaning.NO)])
    return Asked(prompt.tokens, prompt.span, answers, arms, deltas, labels)


def losses_of(model: PeftModel, bench: Bench, asked: Sequence[Asked], other: Sequence[Asked]) -> tuple[Tensor, Tensor]:
    """Cross-entropy of the right labels over the vocabulary, and KL from what is wanted of the unrelated question.

    There the base model's own answer under the same edit is wanted, with the odds of "no" raised: it answers by place,
    so that "yes" could rise in half of the prompts only.
    """
    rows = sum(len(a.arms) for a in asked)
    with torch.no_grad(), model.disable_adapter():
        wanted = bench.logprobs(other)[:, 0]
    right = torch.cat([a.labels_B for a in other])
    wanted[torch.arange(len(right)), right] += RAISED
    logp = bench.logprobs([*asked, *other])[:, 0]
    own = torch.nn.functional.nll_loss(logp[:rows], torch.cat([a.labels_B for a in asked]))
    away = torch.nn.functional.kl_div(logp[rows:], wanted.log_softmax(1), reduction="batchmean", log_target=True)
    return own, away


def drift(model: PeftModel, bench: Bench, words: Words, rng: np.random.Generator) -> Tensor:
    """Mean KL(base || adapted) on a plain request and the first words of a reply, in nats."""
    text = PLAIN[int(rng.integers(len(PLAIN)))]
    rendered = render(bench.loaded.tokenizer, [("user", text), ("assistant", "Sure, here is")], [text])
    vectors, norm = words.vectors(int(rng.integers(words.size)), rng), DOSE * bench.scale
    arms = ("clean", "target", "content_free", "shuffled")
    deltas = torch.stack([added(arm, vectors, 0, norm, rng) for arm in arms])
    asked = [Asked(rendered.tokens, rendered.spans[0], (), arms, deltas, torch.zeros(4))]
    last = len(rendered.tokens) - max(rendered.spans[0])
    with torch.no_grad(), model.disable_adapter():
        base = bench.logprobs(asked, last)
    return (
        torch.nn.functional.kl_div(bench.logprobs(asked, last), base, reduction="none", log_target=True).sum(-1).mean()
    )


@torch.no_grad()
def rates(bench: Bench, words: Words, batches: int, seed: int) -> dict[str, float]:
    """Share of right answers over the full vocabulary for each arm, and mean coverage, on fresh draws.

    Each batch holds eight prompts with the injection question and two with the unrelated one.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {}
    for _ in range(batches):
        asked = [ask_detection(bench, words, rng) for _ in range(ASKED)]
        asked += [ask_unrelated(bench, words, rng) for _ in range(UNRELATED)]
        parts = bench.logprobs(asked)[:, 0].split([len(a.arms) for a in asked])
        for number, (one, logp) in enumerate(zip(asked, parts, strict=True)):
            before = "" if number < ASKED else "unrelated "
            right = (logp.argmax(1) == one.labels_B).double().tolist()
            for arm, value in zip(one.arms, right, strict=True):
                found.setdefault(before + arm, []).append(value)
            covered = logp[:, list(one.answers)].exp().sum(1).mean()
            found.setdefault(before + "coverage", []).append(float(covered))
    return {name: round(float(np.mean(values)), 4) for name, values in sorted(found.items())}


def adapted(loaded: LoadedModel) -> PeftModel:
    """The model with a fresh adapter above the layer."""
    config = LoraConfig(
        r=8,
        lora_alpha=16,
        lora_dropout=0.0,
        target_modules=["q_proj", "k_proj", "v_proj", "o_proj"],
        layers_to_transform=list(range(LAYER + 1, loaded.n_layers)),
    )
    return get_peft_model(loaded.model, config)


class Optimizer:
    """AdamW on float32 copies of an adapter that is run in bfloat16, as the whole upper half is: it is fast there."""

    def __init__(self, model: PeftModel, bench: Bench, rate: float, steps: int) -> None:
        for block in bench.blocks[LAYER + 1 :]:
            block.to(torch.bfloat16)
        self.own = [p for p in model.parameters() if p.requires_grad]
        self.kept = [torch.nn.Parameter(p.detach().float()) for p in self.own]
        self.inner = torch.optim.AdamW(self.kept, lr=rate, weight_decay=0.0, betas=(0.9, 0.99))
        self.rate, self.steps = rate, steps

    def step(self, number: int) -> None:
        """Move the copies by the gradients, and the adapter to the copies."""
        for group in self.inner.param_groups:
            down = max(0.05, (self.steps - number) / (0.4 * self.steps))
            group["lr"] = self.rate * min(1.0, number / WARM_UP, down)
        for kept, own in zip(self.kept, self.own, strict=True):
            kept.grad, own.grad = (None if own.grad is None else own.grad.float()), None
        torch.nn.utils.clip_grad_norm_(self.kept, 1.0)
        self.inner.step()
        with torch.no_grad():
            for kept, own in zip(self.kept, self.own, strict=True):
                own.copy_(kept)


def one_step(model: PeftModel, bench: Bench, rng: np.random.Generator, number: int) -> list[float]:
    """Gradients of a step; returns the losses of both questions, and the drift where it was taken."""
    plain = PLAIN_FIRST if number <= PLAIN_STEPS else PLAIN_LATER
    asked = [ask_detection(bench, bench.fit, rng, plain) for _ in range(ASKED)]
    other = [ask_unrelated(bench, bench.fit, rng, plain) for _ in range(UNRELATED)]
    own, away = losses_of(model, bench, asked, other)
    (own + away).backward()
    moved = 0.0
    if number % DRIFT_EVERY == 0:
        far = drift(model, bench, bench.fit, rng)
        far.backward()
        moved = far.item()
    return [own.item(), away.item(), moved]


def worst(seen: Mapping[str, float]) -> float:
    """The lowest share of right answers of any arm under the injection question, or under the unrelated one."""
    return min(value for name, value in seen.items() if "coverage" not in name)


def train(steps: int, out: Path, seed: int, rate: float) -> None:
    """Train until fresh draws of the stopping words are answered rightly, and save the best that was seen."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    loaded = load("smollm2")
    bench = Bench(loaded, read_wordings(out / "wordings.yaml"))
    model = adapted(loaded)
    optimizer = Optimizer(model, bench, rate, steps)
    rng, begun, best = np.random.default_rng(seed), time.time(), 0.5
    recent: list[list[float]] = []
    for step in range(1, steps + 1):
        recent.append(one_step(model, bench, rng, step))
        optimizer.step(step)
        if step % 10 == 0:
            means = np.mean(recent[-10:], axis=0).round(3).tolist()
            print(f"step {step:4d}  detection, unrelated, drift {means}  {time.time() - begun:.0f} s", flush=True)
        if step >= FROM and (step % EVERY == 0 or step == steps):
            seen = rates(bench, bench.stop, 6, 900_000 + step)
            print(f"  stopping words {seen}", flush=True)
            if worst(seen) >= best:  # chosen on words that are neither trained on nor judged on
                best = worst(seen)
                save(model, bench, out, step, seen)
            if best >= ENOUGH:
                break
    if best <= 0.5:
        raise SystemExit(f"After {steps} steps an arm is answered at chance; nothing was saved.")


def save(model: PeftModel, bench: Bench, out: Path, step: int, seen: Mapping[str, float]) -> None:
    """Write the adapter as safetensors, and a card that says what it is for."""
    model.save_pretrained(out)
    (out / "README.md").unlink(missing_ok=True)
    card = {
        "base": "smollm2",
        "base_weights_sha256": bench.loaded.weights_sha256,
        "layer": LAYER,
        "dose": DOSE,
        "wordings": [wording.name for wording in bench.wordings],
        "training_words": list(bench.fit.names),
        "stopping_words": list(bench.stop.names),
        "unrelated_raised_log_odds": RAISED,
        "step": step,
        "rates_right_training_words": rates(bench, bench.fit, 8, 1),
        "rates_right_stopping_words": dict(seen),
        "rates_right_held_out_concepts": rates(bench, bench.held_out, 8, 0),
    }
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"  saved; held-out concepts {card['rates_right_held_out_concepts']}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=180)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--out", type=Path, default=Path("src/firsthand/organisms/adapters/smollm2-detector"))
    options = parser.parse_args()
    train(options.steps, options.out, options.seed, options.rate)
