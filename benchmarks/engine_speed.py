"""The engine beside its peers, all in one run on one machine; writes ``benchmarks/ENGINE.md``.

``python benchmarks/engine_speed.py [--peers .peers] [--cells 40] [--threads 2] [--out FILE]``

Peers run in an environment of their own, made by ``benchmarks/peers/setup.sh`` (``make bench`` does so). Every task is
a process of its own, one after the other, so that none measures another's memory. The machine must be idle.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PEERS = ("hooks", "nnsight_peer", "transformer_lens_peer", "steering_vectors_peer", "sampling")
LONG_CELLS, SAMPLED_CELLS, QUERIES, TOKENS = 20, 8, 2, 16


def ran(command: list[str], out: Path) -> dict[str, Any]:
    """Run a script and read the JSON that it wrote; a failure is a result too."""
    print("--", " ".join(Path(part).name for part in command[1:]), flush=True)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if out.exists():
        return json.loads(out.read_text())
    return {"name": Path(command[1]).stem, "failed": (done.stderr.strip() or "no message").splitlines()[-1]}


def by_cell(result: dict[str, Any], folder: Path) -> tuple[dict[int, Any], dict[int, Any]]:
    """Answers' log-probabilities by cell, and the whole vocabulary's."""
    answers = dict(zip(result["cell_indices"], np.array(result["answer_logprobs"]), strict=True))
    return answers, dict(zip(result["full_cells"], np.load(folder / result["full_logprobs"]), strict=True))


def differences(result: dict[str, Any], oracle: dict[str, Any], folder: Path) -> tuple[float, float]:
    """Largest difference from the oracle over the answers, and over the vocabulary."""
    pairs = zip(by_cell(result, folder), by_cell(oracle, folder), strict=True)
    found = [max(float(np.abs(one[c] - two[c]).max()) for c in one.keys() & two.keys()) for one, two in pairs]
    return found[0], found[1]


def processor() -> str:
    """The processor's name, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


class Bench:
    """Runs tasks and keeps their results."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options, self.folder = options, folder
        self.python = str(options.peers / "bin" / "python")

    def peer(self, script: str, length: str, *arguments: str) -> dict[str, Any]:
        """Run a peer's script on a workload."""
        out = self.folder / f"{script}-{length}.json"
        command = [self.python, str(HERE / "peers" / f"{script}.py"), str(self.folder / length), str(out)]
        return ran([*command, "--threads", str(self.options.threads), *arguments], out)

    def ours(self, task: str, length: str = "short") -> dict[str, Any]:
        """Run a task of this engine."""
        out = self.folder / f"ours-{task}-{length}.json"
        command = [sys.executable, str(HERE / "ours.py"), task, str(self.folder / length), str(out)]
        return ran([*command, "--threads", str(self.options.threads)], out)

    def sweep(self, length: str) -> list[str]:
        """The sweep by everyone, as lines of a table."""
        cells = self.options.cells if length == "short" else LONG_CELLS
        oracle = self.peer("oracle", length, "--cells", "24" if length == "short" else "8")
        peers = []
        for script in PEERS:
            few = SAMPLED_CELLS if script == "sampling" else cells
            peers.append(self.peer(script, length, "--cells", str(few)))
        mine = [self.ours("sweep", length), self.ours("sweep-bfloat16", length)]
        best = max((p["cells_per_s"] for p in peers if "failed" not in p), default=float("nan"))
        lines = [
            "| tool | cells | cells a second | against the best peer | answers' largest error | vocabulary's largest "
            "error | peak memory | share of GEMM rate |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for result in (*mine, *peers):
            if "failed" in result:
                lines.append(f"| {result['name']} | failed: {result['failed']} | | | | | | |")
                continue
            answers, whole = differences(result, oracle, self.folder)
            share = (
                f"{result['share_of_gemm']:.0%} of {result['gemm_gflops']:.0f} GFLOP/s" if "gflops" in result else ""
            )
            lines.append(
                f"| {result['name']} | {result['cells']} | {result['cells_per_s']:.2f} | "
                f"{result['cells_per_s'] / best:.1f} x | {answers:.1e} | {whole:.1e} | "
                f"{result['peak_rss_mb']:.0f} MB | {share} |"
            )
        return lines

    def others(self) -> list[str]:
        """Everything but the sweep, as lines of a table."""
        wide, shots = self.ours("wide"), self.ours("shots")
        queries, apart = self.ours("queries"), self.peer("separate_queries", "short", "--queries", str(QUERIES))
        made, theirs = self.ours("generate"), self.peer("generate", "short", "--tokens", str(TOKENS))
        full = np.load(self.folder / queries["full_logprobs"])[apart["query_indices"]]
        error = float(np.abs(full - np.load(self.folder / apart["full_logprobs"])).max())
        return [
            "| task | this engine | beside it | ratio |",
            "|---|---|---|---|",
            f"| {wide['rows']:,} rows at one layer, as many vectors | {wide['distinct_s']:.1f} s, "
            f"{wide['peak_rss_mb']:.0f} MB | one vector: {wide['one_vector_s']:.1f} s | {wide['ratio']:.2f} |",
            f"| 30 continuations of 128 tokens after 800 | {made['tokens_per_s']:.0f} tokens/s | `generate`: "
            f"{theirs['tokens_per_s_for_128']:.0f} tokens/s ({theirs['new_tokens']} of 128 run) | "
            f"{made['tokens_per_s'] / theirs['tokens_per_s_for_128']:.1f} x |",
            f"| 500 questions after 4,000 tokens | {queries['seconds']:.1f} s, {queries['peak_rss_mb']:.0f} MB | "
            f"separate forwards: {apart['seconds_for_500']:.0f} s ({apart['queries']} of 500 run); largest "
            f"difference of log-probabilities {error:.1e} | {apart['seconds_for_500'] / queries['seconds']:.0f} x |",
            f"| all {shots['shot_counts']} shot counts of a {shots['context_tokens']}-token context | "
            f"{shots['seconds']:.1f} s | separate forwards: {shots['separate_seconds']:.0f} s (3 of 500 run); largest "
            f"difference {shots['largest_difference']:.1e} | {shots['ratio']:.0f} x |",
        ]


def main() -> None:
    """Measure everything and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=HERE.parent / ".peers")
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=HERE / "ENGINE.md")
    options = parser.parse_args()
    if not (options.peers / "bin" / "python").exists():
        raise SystemExit(f"There is no environment for peers at {options.peers}: run benchmarks/peers/setup.sh first.")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        subprocess.run([sys.executable, str(HERE / "workload.py"), folder], check=True)
        page = [
            "# The engine beside its peers",
            "",
            f"One run of `python benchmarks/engine_speed.py` (`make bench`) on {processor()}, {options.threads} "
            "threads. SmolLM2-135M-Instruct. Every figure is from this run. Errors are the largest absolute difference "
            "of a log-probability from the oracle (float32, eager, no cache, one row, one edit). Peers were measured "
            "on a part of the cells, taken evenly over layers, at their best batch size.",
            "",
            "## 2,560 cells (32 vectors, 10 layers, 8 doses) on a prompt of 136 tokens, 11 of them edited",
            "",
            *bench.sweep("short"),
            "",
            "## The same on a prompt of 500 tokens",
            "",
            *bench.sweep("long"),
            "",
            "## Other tasks",
            "",
            *bench.others(),
            "",
        ]
    options.out.write_text("\n".join(page))
    print("\n".join(page))


if __name__ == "__main__":
    main()
