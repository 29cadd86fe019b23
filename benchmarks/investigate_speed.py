"""Sampling for investigations beside Transformers' own ``generate``: the same prompts, samples and settings, in turns.

``python benchmarks/investigate_speed.py [--model smollm2] [--prompts 6] [--samples 20] [--tokens 48] [--rounds 2]
[--threads 2]``

Both draw from the same distribution (temperature 1, the model's own top-p and top-k) and stop at the model's end token.
``generate`` is given one prompt at a time with ``num_return_sequences``, which is what it is fastest at on a CPU, and
also all prompts at once, padded. The rounds alternate, so that what else the machine does falls on all of them alike;
ratios are of the median rates. A token is one that was generated, up to and with the end token.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers

from firsthand.counterfactual.demo_prompts import DEMO
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.engine.loading import LoadedModel, load


def ours(target: LocalTarget, prompts: list[Prompt], samples: int, turn: int) -> int:
    """Sample with the engine, all prompts side by side; returns the number of tokens."""
    requests = [Request(prompt=prompt, batch=f"bench {turn}", samples=samples) for prompt in prompts]
    return sum(one.tokens for batch in target.respond(requests) for one in batch)


def plain(loaded: LoadedModel, rows: list[tuple[int, ...]], samples: int, tokens: int) -> int:
    """Sample with ``generate``, the given prompts padded to one batch; returns the number of tokens."""
    tokenizer, longest = loaded.tokenizer, max(map(len, rows))
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id
    ids = torch.tensor([[pad] * (longest - len(row)) + list(row) for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
    ends = loaded.model.generation_config.eos_token_id
    ends = set(ends if isinstance(ends, list) else [ends]) | {tokenizer.eos_token_id}
    with torch.no_grad():
        made = loaded.model.generate(
            ids,
            attention_mask=mask,
            do_sample=True,
            temperature=1.0,
            max_new_tokens=tokens,
            num_return_sequences=samples,
            pad_token_id=pad,
            eos_token_id=sorted(end for end in ends if end is not None),
        )
    count = 0
    for row in made[:, longest:].tolist():
        end = next((i + 1 for i, token in enumerate(row) if token in ends), len(row))
        count += end
    return count


def rate(work: Callable[[], int]) -> float:
    """Tokens a second of some work."""
    begun = time.perf_counter()
    return work() / (time.perf_counter() - begun)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--prompts", type=int, default=6)
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    loaded = load(options.model)
    target = LocalTarget(loaded, Sampling(samples=options.samples, max_tokens=options.tokens))
    prompts = list(DEMO[: options.prompts])
    rows = [target.tokens(prompt) for prompt in prompts]
    ours(target, prompts[:1], 2, -1)
    plain(loaded, rows[:1], 2, 2)
    rates: dict[str, list[float]] = {"engine": [], "generate, one prompt at a time": [], "generate, padded": []}
    for turn in range(options.rounds):
        work: list[Any] = [
            lambda turn=turn: ours(target, prompts, options.samples, turn),
            lambda: sum(plain(loaded, [row], options.samples, options.tokens) for row in rows),
            lambda: plain(loaded, rows, options.samples, options.tokens),
        ]
        for name, one in zip(rates, work, strict=True):
            rates[name].append(rate(one))
            print(f"{name}: {rates[name][-1]:.0f} tokens a second", flush=True)
    middle = {name: statistics.median(found) for name, found in rates.items()}
    lengths = sorted(map(len, rows))
    print(
        f"\n{options.model}, {options.prompts} prompts of {lengths[0]}-{lengths[-1]} tokens, {options.samples} samples "
        f"of at most {options.tokens} tokens, {options.threads} threads, torch {torch.__version__}, transformers "
        f"{transformers.__version__}, {platform.processor() or platform.machine()}"
    )
    for name, found in middle.items():
        print(f"{name:32} {found:8.0f} tokens a second   {middle['engine'] / found:5.2f} times slower than the engine")


if __name__ == "__main__":
    main()
