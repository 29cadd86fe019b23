"""How fast this machine multiplies SmolLM2's matrices: what bounds every engine's speed from above.

``python benchmarks/matmul_rate.py [--threads 2] [--m 1 17 136 544]`` prints GFLOP/s in float32 and bfloat16 for M
tokens a product. All linear maps of the model are multiplied in turn, 30 blocks and the head, each with weights of its
own, so that with few tokens the weights come from memory, as they do in the model. The rate is all flops over all time:
the shapes' rates weighted by their shares of flops.
"""

import argparse
import os
import time
from dataclasses import dataclass
from functools import cache

import torch

BLOCKS = 30
HIDDEN, INNER, KEYS, VOCABULARY = 576, 1536, 192, 49152
# (inputs, outputs) of each linear map of a block: queries, keys, values, output; gate, up, down.
BLOCK_SHAPES = (
    (HIDDEN, HIDDEN),
    (HIDDEN, KEYS),
    (HIDDEN, KEYS),
    (HIDDEN, HIDDEN),
    (HIDDEN, INNER),
    (HIDDEN, INNER),
    (INNER, HIDDEN),
)
HEAD_SHAPE = (HIDDEN, VOCABULARY)
MIN_SECONDS = 1.0
MIN_PASSES = 3


@dataclass(frozen=True)
class Rate:
    """What was measured.

    Attributes:
        gflops: GFLOP/s over all shapes.
        by_shape: GFLOP/s of each shape, by ``(inputs, outputs)``.
    """

    gflops: float
    by_shape: dict[tuple[int, int], float]


@cache
def weights(dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    """Random weights of every linear map in the order in which a forward uses them, ``[outputs, inputs]``."""
    source = torch.Generator().manual_seed(0)
    shapes = [*BLOCK_SHAPES * BLOCKS, HEAD_SHAPE]
    return tuple(torch.randn(outs, ins, generator=source).mul_(ins**-0.5).to(dtype) for ins, outs in shapes)


def one_pass(inputs: dict[int, torch.Tensor], maps: tuple[torch.Tensor, ...]) -> dict[tuple[int, int], float]:
    """Multiply with every map once; returns the seconds spent on each shape."""
    spent: dict[tuple[int, int], float] = {}
    for weight in maps:
        outs, ins = weight.shape
        begun = time.perf_counter()
        torch.nn.functional.linear(inputs[ins], weight)
        spent[ins, outs] = spent.get((ins, outs), 0.0) + time.perf_counter() - begun
    return spent


@torch.no_grad()
def measured(m: int, dtype: torch.dtype = torch.float32, head: bool = True) -> Rate:
    """Rates with ``m`` tokens a product; ``head=False`` leaves the vocabulary's map out. The median of some passes."""
    maps = weights(dtype) if head else weights(dtype)[:-1]
    inputs = {ins: torch.randn(m, ins).to(dtype) for ins in (HIDDEN, INNER)}
    one_pass(inputs, maps)
    passes: list[dict[tuple[int, int], float]] = []
    while len(passes) < MIN_PASSES or sum(sum(spent.values()) for spent in passes) < MIN_SECONDS:
        passes.append(one_pass(inputs, maps))
    spent = sorted(passes, key=lambda one: sum(one.values()))[len(passes) // 2]
    flops = dict.fromkeys(spent, 0)
    for weight in maps:
        flops[weight.shape[1], weight.shape[0]] += 2 * m * weight.numel()
    by_shape = {shape: flops[shape] / spent[shape] / 1e9 for shape in spent}
    return Rate(sum(flops.values()) / sum(spent.values()) / 1e9, by_shape)


def rate(m: int, dtype: torch.dtype = torch.float32, head: bool = True) -> float:
    """GFLOP/s on the model's linear maps with ``m`` tokens a product, weighted by the shapes' shares of flops."""
    return measured(m, dtype, head).gflops


def main() -> None:
    """Print one table for each data type."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--m", type=int, nargs="+", default=[1, 17, 136, 544, 2176], help="tokens a product")
    parser.add_argument("--dtype", nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--no-head", action="store_true", help="the blocks only")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {os.cpu_count()} cores, {options.threads} threads; GFLOP/s")
    for dtype in options.dtype:
        for m in options.m:
            got = measured(m, getattr(torch, dtype), head=not options.no_head)
            shapes = "  ".join(f"{ins}x{outs} {speed:.1f}" for (ins, outs), speed in got.by_shape.items())
            print(f"{dtype:9} M={m:<5} {got.gflops:7.1f}   {shapes}", flush=True)


if __name__ == "__main__":
    main()
