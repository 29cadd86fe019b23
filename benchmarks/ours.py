"""This engine on the tasks of the engine benchmark, one task a process: ``python ours.py TASK WORKLOAD OUT.json``.

Tasks: ``sweep`` (all cells, float32), ``sweep-bfloat16``, ``wide`` (4,096 rows with one vector, then with as many
distinct ones), ``generate`` (30 continuations of one prompt), ``queries`` (500 short questions after one prefix) and
``shots`` (every shot count of a 500-shot context from one pass). The JSON has the form that peers write (see
``peers/common.py``).
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers")]

from common import head, load_model, peak_rss_mb, save_full, write  # noqa: E402

from firsthand.engine import Anatomy, Edit, Row, Sampling, generate, inspect_model, resid_post, run  # noqa: E402
from matmul_rate import BLOCK_SHAPES, HEAD_SHAPE, rate  # noqa: E402
from workload import FULL_CELLS, Workload, read  # noqa: E402

SAMPLES, NEW_TOKENS, WIDE, SHOTS = 30, 128, 4096, 500


def swept(workload: Workload, cells: list[int]) -> list[Row]:
    """One row a cell."""
    tokens, positions = tuple(workload.prompt.tolist()), tuple(workload.positions.tolist())
    vectors = list(workload.vectors)
    rows = []
    for cell in cells:
        concept, layer, dose = workload.parts(cell)
        edit = Edit(
            resid_post(int(workload.layers[layer])),
            positions,
            vectors[concept],
            strength=float(workload.doses[layer, dose]),
        )
        rows.append(Row(tokens, (edit,)))
    return rows


def sweep(anatomy: Anatomy, workload: Workload, out: Path) -> dict[str, Any]:
    """The whole sweep, answers of every cell, and the vocabulary of the sampled ones."""
    cells = workload.cells(workload.order.numel())
    rows = swept(workload, cells)
    answers = workload.answers

    def keep(logprobs_RV: torch.Tensor, _: Any) -> torch.Tensor:
        return logprobs_RV[:, answers]

    run(anatomy, rows[:20], reduce=keep)
    begun = time.perf_counter()
    found = run(anatomy, rows, reduce=keep).logprobs_RV
    seconds = time.perf_counter() - begun
    peak = peak_rss_mb()
    full = run(anatomy, rows[:FULL_CELLS]).logprobs_RV
    tail = workload.prompt.numel() - int(workload.positions[0])
    depth, block = anatomy.n_layers, 2 * sum(i * o for i, o in BLOCK_SHAPES)
    above = [depth - 1 - int(workload.layers[workload.parts(cell)[1]]) for cell in cells]
    flops = sum(tail * layers * block + 2 * HEAD_SHAPE[0] * HEAD_SHAPE[1] for layers in above)
    gemm = rate(2040, anatomy.model.dtype)
    return {
        "cells": len(cells),
        "seconds": seconds,
        "cells_per_s": len(cells) / seconds,
        "peak_rss_mb": peak,
        "gflops": flops / seconds / 1e9,
        "gemm_gflops": gemm,
        "share_of_gemm": flops / seconds / 1e9 / gemm,
        "cell_indices": cells,
        "answer_logprobs": found.double().tolist(),
        "full_cells": cells[:FULL_CELLS],
        "full_logprobs": save_full(out, full.float()),
    }


def wide(anatomy: Anatomy, workload: Workload, _: Path) -> dict[str, Any]:
    """4,096 rows at one layer, with one vector and with 4,096."""
    tokens, positions = tuple(workload.prompt.tolist()), tuple(workload.positions.tolist())
    many = torch.randn(WIDE, anatomy.hidden_size, generator=torch.Generator().manual_seed(1))
    layer = int(workload.layers[len(workload.layers) // 2])

    def timed(vectors: list[torch.Tensor]) -> float:
        rows = [Row(tokens, (Edit(resid_post(layer), positions, v),)) for v in vectors]
        begun = time.perf_counter()
        run(anatomy, rows, reduce=lambda logprobs, _: logprobs[:, workload.answers])
        return time.perf_counter() - begun

    distinct = list(many)
    timed(distinct[:256])
    one, each = timed([distinct[0]] * WIDE), timed(distinct)
    return {"rows": WIDE, "one_vector_s": one, "distinct_s": each, "ratio": each / one, "peak_rss_mb": peak_rss_mb()}


def generated(anatomy: Anatomy, workload: Workload, _: Path) -> dict[str, Any]:
    """30 continuations of one 800-token prompt at temperature 1."""
    tokenizer = AutoTokenizer.from_pretrained(workload.model)
    anatomy.model.generation_config.eos_token_id = None
    prompt, free = Row(tuple(workload.generation.tolist())), Sampling(temperature=1.0)
    generate(anatomy, tokenizer, [Row(prompt.tokens[:40])], samples=2, max_tokens=2, sampling=free)
    begun = time.perf_counter()
    (made,) = generate(anatomy, tokenizer, [prompt], samples=SAMPLES, max_tokens=NEW_TOKENS, sampling=free)
    seconds = time.perf_counter() - begun
    tokens = sum(len(one.tokens) for one in made)
    return {
        "tokens": tokens,
        "ended_early": sum(one.ended != "length" for one in made),
        "seconds": seconds,
        "tokens_per_s": tokens / seconds,
        "peak_rss_mb": peak_rss_mb(),
    }


def queries(anatomy: Anatomy, workload: Workload, out: Path) -> dict[str, Any]:
    """500 short questions after one 4,000-token prefix."""
    prefix = tuple(workload.prefix.tolist())
    rows = [Row((*prefix, *workload.query(i).tolist())) for i in range(workload.query_lengths.numel())]
    run(anatomy, [Row(row.tokens[3900:]) for row in rows[:4]])
    begun = time.perf_counter()
    found = run(anatomy, rows).logprobs_RV
    seconds = time.perf_counter() - begun
    return {
        "queries": len(rows),
        "seconds": seconds,
        "queries_per_s": len(rows) / seconds,
        "peak_rss_mb": peak_rss_mb(),
        "full_logprobs": save_full(out, found),
    }


def shots(anatomy: Anatomy, workload: Workload, _: Path) -> dict[str, Any]:
    """A context of 500 labelled examples, read before every label in one pass, against three of the 500 prefixes."""
    # Eight tokens an example stand for text and label; the last of them is the label.
    places = [8 * i + 6 for i in range(SHOTS)]
    tokens = tuple(workload.prefix.tolist()[: 8 * SHOTS])
    label = int(workload.answers[0])
    begun = time.perf_counter()
    every = run(anatomy, [Row(tokens, read=tuple(places))], reduce=lambda logprobs, _: logprobs[:, [label]])
    seconds = time.perf_counter() - begun
    sample = [SHOTS // 6, SHOTS // 2, SHOTS * 5 // 6]
    begun = time.perf_counter()
    each = [float(run(anatomy, [Row(tokens[: places[i] + 1])], path="plain").logprobs_RV[0, label]) for i in sample]
    apart = (time.perf_counter() - begun) / len(sample) * SHOTS
    return {
        "shot_counts": SHOTS,
        "context_tokens": len(tokens),
        "seconds": seconds,
        "separate_seconds": apart,
        "ratio": apart / seconds,
        "largest_difference": max(abs(float(every.logprobs_RV[i, 0]) - e) for i, e in zip(sample, each, strict=True)),
        "peak_rss_mb": peak_rss_mb(),
    }


TASKS: dict[str, Callable[[Anatomy, Workload, Path], dict[str, Any]]] = {
    "sweep": sweep,
    "sweep-bfloat16": sweep,
    "wide": wide,
    "generate": generated,
    "queries": queries,
    "shots": shots,
}


def main() -> None:
    """Run one task and write its result."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("workload", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    workload = read(options.workload)
    model = load_model(workload.model)
    if options.task.endswith("bfloat16"):
        model = model.to(torch.bfloat16)
    result = TASKS[options.task](inspect_model(model), workload, options.out)
    write(options.out, {**head(f"firsthand {options.task}", workload, options.threads), **result})
    shown = {k: v for k, v in result.items() if isinstance(v, int | float)}
    print(options.task, " ".join(f"{k}={v:.4g}" for k, v in shown.items()))


if __name__ == "__main__":
    main()
