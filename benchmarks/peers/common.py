"""What all peers of the engine benchmark share: arguments, the trial of batch sizes, timing and the written JSON.

A peer gives :func:`main` a function that prepares its tool once and returns another that evaluates a batch of cells.
The batch size is chosen in a process of its own, so that a large batch that was only tried does not count as memory
that the peer needs.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from workload import FULL_CELLS, Workload, read

Evaluate = Callable[[list[int]], torch.Tensor]
"""Log-probabilities of the whole vocabulary after the last token, ``[cells, vocabulary]``, for a list of cells."""

TRIAL_ROWS = 4
WORSE = 0.85


@dataclass(frozen=True)
class Peer:
    """How one tool does the sweep.

    Attributes:
        name: Its name in the results.
        prepare: Loads the model and returns the function that evaluates a batch.
        packages: Distributions whose versions are recorded beside torch and transformers.
        sizes: Batch sizes to try, ascending.
        note: What a reader of the result must know.
        extra: Called after the measurement with the measured cells: more entries for the JSON.
    """

    name: str
    prepare: Callable[[Workload], Evaluate]
    packages: Sequence[str] = ()
    sizes: Sequence[int] = (1,)
    note: str = ""
    extra: Callable[[list[int]], dict[str, Any]] = field(default=lambda cells: {})


def arguments(description: str | None) -> argparse.ArgumentParser:
    """A parser with the arguments that every script here takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workload", type=Path, help="folder with workload.json and workload.safetensors")
    parser.add_argument("out", type=Path, help="JSON file to write")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def load_model(folder: str, attention: str = "sdpa") -> Any:
    """The model as Transformers loads it, in float32, ready for evaluation."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention)
    return model.eval()


def adding(rows: torch.Tensor, span: slice, vectors: torch.Tensor) -> Callable[..., None]:
    """A forward hook that adds to some rows of a block's output, in place."""

    def hook(_module: Any, _inputs: Any, output: Any) -> None:
        hidden = output[0] if isinstance(output, tuple) else output
        hidden[rows, span] += vectors

    return hook


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """Log-probabilities after the last token, ``[rows, vocabulary]``, from logits ``[rows, tokens, vocabulary]``."""
    return torch.log_softmax(logits[:, -1].float(), dim=-1)


def versions(packages: Sequence[str]) -> dict[str, str]:
    """Installed versions, Python's included."""
    found = {"python": platform.python_version()}
    for package in ("torch", "transformers", *packages):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def peak_rss_mb() -> float:
    """The largest resident memory of this process so far, in MB (10^6 bytes)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / 1e6


def write(out: Path, result: dict[str, Any]) -> None:
    """Write a result."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1) + "\n")


def save_full(out: Path, rows: torch.Tensor) -> str:
    """Write full log-probabilities next to the JSON; returns the file's name."""
    import numpy as np

    out.parent.mkdir(parents=True, exist_ok=True)
    full = out.with_suffix(".npy")
    np.save(full, rows.numpy())
    return full.name


def head(name: str, workload: Workload, threads: int, packages: Sequence[str] = ()) -> dict[str, Any]:
    """The entries that every result begins with."""
    return {
        "name": name,
        "workload": workload.name,
        "model": Path(workload.model).name,
        "versions": versions(packages),
        "cpus": os.cpu_count(),
        "threads": threads,
    }


def try_sizes(evaluate: Evaluate, cells: list[int], sizes: Sequence[int]) -> dict[int, float]:
    """Cells a second by batch size, on a few cells each; stops when a larger batch is clearly worse."""
    evaluate(cells[: sizes[0]])
    rates: dict[int, float] = {}
    for size in sizes:
        if rates and size > len(cells):
            break
        batches = [cells[at : at + size] for at in range(0, min(len(cells), max(TRIAL_ROWS, size)), size)]
        begun = time.perf_counter()
        for batch in batches:
            evaluate(batch)
        rates[size] = sum(len(batch) for batch in batches) / (time.perf_counter() - begun)
        if rates[size] < WORSE * max(rates.values()):
            break
    return rates


def trial(options: argparse.Namespace) -> dict[int, float]:
    """Run :func:`try_sizes` in a process of its own.

    Raises:
        RuntimeError: When it fails.
    """
    command = [sys.executable, sys.argv[0], str(options.workload), str(options.out), "--trial"]
    command += ["--cells", str(options.cells), "--threads", str(options.threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        raise RuntimeError(f"in the trial of batch sizes: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
    return {int(size): rate for size, rate in json.loads(done.stdout.splitlines()[-1]).items()}


def measure(evaluate: Evaluate, cells: list[int], size: int, answers: torch.Tensor) -> dict[str, Any]:
    """Warm up, then evaluate all cells; the first 24 keep their full log-probabilities (under ``full``)."""
    evaluate(cells[:size])
    chosen, full = [], []
    begun = time.perf_counter()
    for at in range(0, len(cells), size):
        rows = evaluate(cells[at : at + size])
        chosen.append(rows[:, answers].double())
        if at < FULL_CELLS:
            full.append(rows[: FULL_CELLS - at].clone())
    seconds = time.perf_counter() - begun
    return {
        "cells": len(cells),
        "batch_size": size,
        "seconds": seconds,
        "cells_per_s": len(cells) / seconds,
        "peak_rss_mb": peak_rss_mb(),
        "cell_indices": cells,
        "answer_logprobs": torch.cat(chosen).tolist(),
        "full": torch.cat(full),
    }


def run(peer: Peer, workload: Workload, options: argparse.Namespace) -> dict[str, Any]:
    """Everything after the arguments: the trial, the measurement, the result."""
    rates = {} if options.batch_size or len(peer.sizes) == 1 else trial(options)
    size = options.batch_size or (max(rates, key=lambda key: rates[key]) if rates else peer.sizes[0])
    cells = workload.cells(options.cells)
    begun = time.perf_counter()
    evaluate = peer.prepare(workload)
    loading = time.perf_counter() - begun
    result = measure(evaluate, cells, size, workload.answers)
    full = result.pop("full")
    named = {
        "prompt_tokens": workload.prompt.numel(),
        "note": peer.note,
        "tried_cells_per_s": rates,
        "load_seconds": loading,
        "full_cells": cells[: full.shape[0]],
        "full_logprobs": save_full(options.out, full),
    }
    return {**named, **result, **peer.extra(cells)}


def main(peer: Peer, description: str | None) -> None:
    """Parse, run and write; a failure is written too, as ``failed`` with its reason, and the exit code is 1."""
    parser = arguments(description)
    parser.add_argument("--cells", type=int, default=80, help="cells to measure, even over the layers")
    parser.add_argument("--batch-size", type=int, default=None, help="cells a batch (default: the best of a trial)")
    parser.add_argument("--trial", action="store_true", help="only try the batch sizes and print cells a second")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    workload = read(options.workload)
    if options.trial:
        rates = try_sizes(peer.prepare(workload), workload.cells(options.cells), peer.sizes)
        print(json.dumps(rates))
        return
    start = head(peer.name, workload, options.threads, peer.packages)
    try:
        result = run(peer, workload, options)
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is the result of its run
        traceback.print_exc()
        write(options.out, {**start, "failed": f"{type(error).__name__}: {error}"})
        sys.exit(1)
    write(options.out, {**start, **result})
    print(f"{peer.name}: {result['cells_per_s']:.3f} cells/s, {result['cells']} cells, batch {result['batch_size']}")
