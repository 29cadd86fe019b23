"""Trains a small top-k sparse autoencoder on the residual stream of a middle layer of SmolLM2.

It proves the path from weights to tool end to end, on a CPU, within minutes; nobody should read more into its features
than its explained variance allows. Texts are prompts, rendered as chats: a folder of files that ``firsthand`` reads as
prompts, or the package's own. The first token of each text is left out, since its state is an attention sink of a norm
of its own. States are scaled to a mean norm of the square root of their width; the scale is folded into the weights, so
that the file needs no normalisation.

What is judged was held out: every eighth text. Labels are the tokens at which a feature is strongest in training texts.

Run: python scripts/train_small_sae.py --texts ../shared/data/prompts --out small-sae
"""

import argparse
import csv
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import normalize

from firsthand.counterfactual.demo_prompts import DEMO
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources import read_source
from firsthand.counterfactual.targets.rendering import opened
from firsthand.engine import Capture, LoadedModel, Row, inspect_model, load, resid_post, run
from firsthand.errors import CounterfactualError

HELD_OUT, LONGEST, PASS, BATCH, WARM_UP = 8, 256, 16, 512, 100
DEAD_AFTER, AUXILIARY, STRONGEST, IN_A_LABEL = 200, 1 / 32, 40, 4


def texts(folder: Path | None) -> list[Prompt]:
    """Prompts without tools, each once."""
    found = DEMO if folder is None else [one for one in read_source(folder) if isinstance(one, Prompt)]
    return list({one.id: one for one in found if not one.tools}.values())


def states(loaded: LoadedModel, prompts: Sequence[Prompt], layer: int, most: int) -> tuple[Tensor, list[int], int]:
    """States at the end of a layer, their tokens, and how many prompts were used, as far as ``most`` tokens go."""
    anatomy, rows, count, used = inspect_model(loaded.model), [], 0, 0
    for prompt in prompts:
        try:
            tokens = opened(loaded.tokenizer, prompt)[:LONGEST]
        except CounterfactualError:  # a text with a special token, or a role that the template lacks
            continue
        rows.append(Row(tokens, captures=(Capture("state", resid_post(layer), tuple(range(1, len(tokens)))),)))
        count, used = count + len(tokens) - 1, used + 1
        if count >= most:
            break
    kept: list[Tensor] = []
    for begin in range(0, len(rows), PASS):
        output = run(anatomy, rows[begin : begin + PASS], reduce=lambda logprobs, _: logprobs[:, :1])
        kept += [one["state"] for one in output.captures]
    return torch.cat(kept), [token for row in rows for token in row.tokens[1:]], used


class TopK(torch.nn.Module):
    """A top-k autoencoder (Gao et al. 2024, arXiv 2406.04093)."""

    def __init__(self, width: int, features: int, k: int, mean_H: Tensor) -> None:
        super().__init__()
        decoder = normalize(torch.randn(features, width), dim=1)
        self.k = k
        self.W_dec, self.W_enc = torch.nn.Parameter(decoder), torch.nn.Parameter(decoder.T.clone())
        self.b_enc, self.b_dec = torch.nn.Parameter(torch.zeros(features)), torch.nn.Parameter(mean_H.clone())

    def before(self, states_NH: Tensor) -> Tensor:
        """Features before all but the strongest are dropped."""
        return (states_NH - self.b_dec) @ self.W_enc + self.b_enc

    def kept(self, before_NF: Tensor, k: int) -> Tensor:
        """The strongest features of each state."""
        values, places = before_NF.topk(k, dim=-1)
        return torch.zeros_like(before_NF).scatter(-1, places, values.relu())

    def forward(self, states_NH: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Features before, features kept, and what they make of the states."""
        before = self.before(states_NH)
        kept = self.kept(before, self.k)
        return before, kept, kept @ self.W_dec + self.b_dec


def train(states_NH: Tensor, features: int, k: int, steps: int, rate: float) -> TopK:
    """Train on scaled states; features that have not fired for long learn from what is left over."""
    model = TopK(states_NH.shape[1], features, k, states_NH.mean(0))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.999))
    silent, begun = torch.zeros(features), time.time()
    variance = (states_NH - states_NH.mean(0)).square().sum(1).mean()
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = rate * min(1.0, step / WARM_UP, max(0.05, (steps - step) / (0.3 * steps)))
        batch = states_NH[torch.randint(len(states_NH), (BATCH,))]
        before, kept, made = model(batch)
        left = batch - made
        loss = left.square().sum(1).mean() / variance
        silent = torch.where((kept > 0).any(0), 0, silent + 1)
        dead = silent > DEAD_AFTER
        if int(dead.sum()) >= k:
            again = model.kept(before.masked_fill(~dead, -1e9), k) @ model.W_dec
            loss = loss + AUXILIARY * (left.detach() - again).square().sum(1).mean() / variance
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.W_dec.copy_(normalize(model.W_dec, dim=1))
        if step % 100 == 0:
            print(
                f"step {step:5d}  loss {loss.item():.4f}  silent {int(dead.sum())}  {time.time() - begun:.0f} s",
                flush=True,
            )
    return model


@torch.no_grad()
def judged(model: TopK, states_NH: Tensor) -> dict[str, float]:
    """Explained variance on states, and how many features ever fire."""
    left, fired, active = 0.0, torch.zeros(len(model.b_enc), dtype=torch.bool), 0
    for batch in states_NH.split(BATCH):
        _, kept, made = model(batch)
        left += float((batch - made).square().sum())
        fired |= (kept > 0).any(0)
        active += int((kept > 0).sum())
    total = float((states_NH - states_NH.mean(0)).square().sum())
    return {
        "explained_variance": 1 - left / total,
        "features_that_fire": float(fired.sum()),
        "features_at_a_token": active / len(states_NH),
        "tokens": len(states_NH),
    }


@torch.no_grad()
def labels(model: TopK, states_NH: Tensor, tokens: Sequence[int], loaded: LoadedModel) -> dict[int, str]:
    """For each feature the tokens at which it is strongest; none for one that fires at fewer than three."""
    features = len(model.b_enc)
    values_TF = torch.full((STRONGEST, features), -1.0)
    places_TF = torch.zeros((STRONGEST, features), dtype=torch.long)
    for begin in range(0, len(states_NH), BATCH):
        _, kept, _ = model(states_NH[begin : begin + BATCH])
        where = torch.arange(begin, begin + len(kept))[:, None].expand_as(kept)
        both, found = torch.cat([values_TF, kept]), torch.cat([places_TF, where])
        values_TF, order = both.topk(STRONGEST, dim=0)
        places_TF = found.gather(0, order)
    named = {}
    for feature in range(features):
        strong = [int(p) for p, v in zip(places_TF[:, feature], values_TF[:, feature], strict=True) if v > 0]
        if len(strong) < 3:
            continue
        counts = Counter(loaded.tokenizer.decode([tokens[place]]) for place in strong)
        named[feature] = "tokens " + ", ".join(repr(text) for text, _ in counts.most_common(IN_A_LABEL))
    return named


def save(out: Path, model: TopK, scale: float, layer: int, named: dict[int, str], card: dict[str, object]) -> None:
    """Write it in SAELens' layout, the scale folded in, with labels and a card beside it."""
    out.mkdir(parents=True, exist_ok=True)
    width, features = model.W_enc.shape
    weights = {
        "W_enc": model.W_enc * scale,
        "W_dec": model.W_dec / scale,
        "b_enc": model.b_enc,
        "b_dec": model.b_dec / scale,
    }
    save_file({name: one.detach().contiguous() for name, one in weights.items()}, out / "sae_weights.safetensors")
    settings = {
        "architecture": "topk",
        "k": model.k,
        "d_in": width,
        "d_sae": features,
        "dtype": "float32",
        "apply_b_dec_to_input": True,
        "normalize_activations": "none",
        "reshape_activations": "none",
        "metadata": {"model_name": "smollm2", "hook_name": f"blocks.{layer}.hook_resid_post", "prepend_bos": False},
    }
    (out / "cfg.json").write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    (out / "card.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    with (out / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["feature", "label"])
        writer.writerows(sorted(named.items()))


def main(options: argparse.Namespace) -> None:
    """All of it."""
    begun = time.time()
    torch.manual_seed(options.seed)
    loaded = load("smollm2", device="cpu")
    prompts = texts(options.texts)
    order = torch.randperm(len(prompts)).tolist()
    held = [prompts[i] for n, i in enumerate(order) if n % HELD_OUT == 0]
    own = [prompts[i] for n, i in enumerate(order) if n % HELD_OUT]
    states_NH, tokens, used = states(loaded, own, options.layer, options.tokens)
    outside_NH, _, outside = states(loaded, held, options.layer, options.tokens // HELD_OUT)
    read = time.time() - begun
    print(
        f"{len(tokens):,} tokens of {used} texts, {len(outside_NH):,} of {outside} others held out; {read:.0f} s",
        flush=True,
    )
    scale = float(states_NH.shape[1] ** 0.5 / states_NH.norm(dim=1).mean())
    model = train(states_NH * scale, options.features, options.k, options.steps, options.rate)
    named = labels(model, states_NH * scale, tokens, loaded)
    card = {
        "base": "smollm2",
        "base_weights_sha256": loaded.weights_sha256,
        "layer": options.layer,
        "k": options.k,
        "features": options.features,
        "steps": options.steps,
        "seed": options.seed,
        "texts": {"training": used, "held_out": outside},
        "training": judged(model, states_NH * scale),
        "held_out": judged(model, outside_NH * scale),
        "labelled": len(named),
        "seconds": {"reading": round(read), "all": round(time.time() - begun)},
    }
    save(options.out, model, scale, options.layer, named, card)
    print(json.dumps(card, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, help="file or folder of prompts; by default the package's own")
    parser.add_argument("--out", type=Path, default=Path("small-sae"))
    parser.add_argument("--layer", type=int, default=15)
    parser.add_argument("--tokens", type=int, default=40_000)
    parser.add_argument("--features", type=int, default=2_304)
    parser.add_argument("--k", type=int, default=32)
    parser.add_argument("--steps", type=int, default=1_500)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=0)
    main(parser.parse_args())
