"""Sampling of long answers with Transformers: 30 continuations of one 800-token prompt, 128 new tokens each.

``python generate.py WORKLOAD OUT.json [--tokens 16]`` measures tokens a second of ``generate`` at temperature 1. With
fewer than 128 tokens the JSON says so, and its time for 128 tokens is the time of the first token plus 127 times the
mean of the later steps: a slight underestimate, as attention grows with each token.
"""

import time
from typing import Any

import torch
from common import arguments, head, load_model, peak_rss_mb, write

from workload import read

NEW_TOKENS = 128
SEQUENCES = 30


def clocked(model: Any, prompt: torch.Tensor, sequences: int, tokens: int) -> tuple[float, list[float], torch.Tensor]:
    """Generate; returns when it began, when each step ended and the new tokens."""
    from transformers import StoppingCriteria, StoppingCriteriaList

    class Clock(StoppingCriteria):
        """Notes when each step ends and never stops."""

        def __init__(self) -> None:
            self.ends: list[float] = []

        def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
            self.ends.append(time.perf_counter())
            return torch.zeros(input_ids.shape[0], dtype=torch.bool)

    clock = Clock()
    begun = time.perf_counter()
    with torch.no_grad():
        made = model.generate(
            prompt[None],
            attention_mask=torch.ones_like(prompt)[None],
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            max_new_tokens=tokens,
            min_new_tokens=tokens,
            num_return_sequences=sequences,
            stopping_criteria=StoppingCriteriaList([clock]),
        )
    return begun, clock.ends, made[:, prompt.numel() :]


def main() -> None:
    """Measure and write."""
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=NEW_TOKENS)
    parser.add_argument("--sequences", type=int, default=SEQUENCES)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    workload = read(options.workload)
    model = load_model(workload.model)
    torch.manual_seed(0)
    clocked(model, workload.generation[:32], 2, 2)
    begun, ends, made = clocked(model, workload.generation, options.sequences, options.tokens)
    seconds, first = ends[-1] - begun, ends[0] - begun
    step = (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else None
    whole = None if step is None else first + (NEW_TOKENS - 1) * step
    result = {
        "prompt_tokens": workload.generation.numel(),
        "sequences": options.sequences,
        "new_tokens": options.tokens,
        "note": "" if options.tokens == NEW_TOKENS else f"ran {options.tokens} of {NEW_TOKENS} new tokens",
        "seconds": seconds,
        "tokens_per_s": made.numel() / seconds,
        "first_token_s": first,
        "later_step_s": step,
        "seconds_for_128": whole,
        "tokens_per_s_for_128": None if whole is None else options.sequences * NEW_TOKENS / whole,
        "distinct_sequences": len({tuple(row) for row in made.tolist()}),
        "peak_rss_mb": peak_rss_mb(),
    }
    write(options.out, {**head("transformers-generate", workload, options.threads), **result})
    print(f"generate: {made.numel()} tokens, {result['tokens_per_s']:.1f} tokens/s, first after {first:.1f} s")


if __name__ == "__main__":
    main()
