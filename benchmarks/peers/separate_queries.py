"""Short queries after a shared prefix of 4,000 tokens, each as a full forward of its own.

``python separate_queries.py WORKLOAD OUT.json --queries 3`` measures a sample of the 500 queries, taken evenly, and
writes the log-probabilities after each one's last token. No cache, sdpa attention, the last token's logits only.
"""

import time

import torch
from common import arguments, head, load_model, log_probabilities, peak_rss_mb, save_full, write

from workload import Workload, read


def sampled(workload: Workload, count: int) -> list[int]:
    """``count`` indices of queries, evenly over all."""
    total = workload.query_lengths.numel()
    return [(2 * place + 1) * total // (2 * count) for place in range(min(count, total))]


def main() -> None:
    """Measure and write."""
    parser = arguments(__doc__)
    parser.add_argument("--queries", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    workload = read(options.workload)
    model = load_model(workload.model)
    indices = sampled(workload, options.queries)

    @torch.no_grad()
    def one(tokens: torch.Tensor) -> torch.Tensor:
        return log_probabilities(model(input_ids=tokens[None], use_cache=False, logits_to_keep=1).logits)

    one(workload.prefix[:64])
    begun = time.perf_counter()
    rows = [one(torch.cat([workload.prefix, workload.query(index)])) for index in indices]
    seconds = time.perf_counter() - begun
    result = {
        "prefix_tokens": workload.prefix.numel(),
        "queries": len(indices),
        "query_indices": indices,
        "query_tokens": [int(workload.query_lengths[index]) for index in indices],
        "seconds": seconds,
        "queries_per_s": len(indices) / seconds,
        "seconds_for_500": seconds / len(indices) * workload.query_lengths.numel(),
        "peak_rss_mb": peak_rss_mb(),
        "full_logprobs": save_full(options.out, torch.cat(rows)),
    }
    write(options.out, {**head("separate-queries", workload, options.threads), **result})
    print(f"separate queries: {len(indices)} in {seconds:.1f} s, {result['queries_per_s']:.4f} queries/s")


if __name__ == "__main__":
    main()
