"""From how many shared tokens on is a prefix worth a pass of its own? ``python benchmarks/crossover.py [--threads 2]``

Rows of SmolLM2 share some tokens and have eight of their own. Each is timed by the shared and by the plain path,
interleaved, the best of five. What a prefix saves are its tokens times the rows but one; where that begins to win, for
any number of rows, is ``firsthand.engine.sweep.LEAST_SAVED``.
"""

import argparse
import time
from collections.abc import Sequence

import torch

import firsthand
from firsthand.engine import Anatomy, Row, inspect_model, run
from firsthand.engine.sweep import Path

OWN, ROUNDS = 8, 5


def seconds(anatomy: Anatomy, rows: Sequence[Row], path: Path) -> float:
    """Time of one run that keeps one number a row."""
    begun = time.perf_counter()
    run(anatomy, rows, path=path, reduce=lambda logprobs, _: logprobs[:, :1])
    return time.perf_counter() - begun


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    anatomy = inspect_model(firsthand.load("smollm2").model)
    source = torch.Generator().manual_seed(0)
    print("shared tokens   rows   shared    plain   plain / shared")
    for count in (2, 4, 16):
        for shared in (2, 4, 8, 16, 32, 64, 128):
            begin = tuple(torch.randint(100, 40_000, (shared,), generator=source).tolist())
            own = torch.randint(100, 40_000, (count, OWN), generator=source).tolist()
            rows = [Row((*begin, *tokens)) for tokens in own]
            seconds(anatomy, rows, "shared")
            rounds = [(seconds(anatomy, rows, "shared"), seconds(anatomy, rows, "plain")) for _ in range(ROUNDS)]
            fast, plain = (min(values) for values in zip(*rounds, strict=True))
            print(f"{shared:13d} {count:6d} {fast:7.3f}s {plain:7.3f}s {plain / fast:10.2f}", flush=True)


if __name__ == "__main__":
    main()
