"""What an audit costs: wall-clock time and peak memory of ``firsthand audit`` and of ``firsthand --help``.

Run on an idle machine: ``python benchmarks/audit_cost.py [--blocks N]``. The audit runs in a new temporary folder; the
model is loaded once before, so that the conversion of its GGUF file (done once after installation) is not counted.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = [sys.executable, "-c", "from firsthand.cli.main import run; run()"]


def timed(arguments: list[str]) -> tuple[float, int]:
    """Seconds that a command took, and its exit code."""
    begun = time.perf_counter()
    done = subprocess.run([*COMMAND, *arguments], stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - begun, done.returncode


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blocks", type=int, default=None, help="confirmation blocks (default: the standard claim's)")
    options = parser.parse_args()
    helped = min(timed(["--help"])[0] for _ in range(5))
    subprocess.run([sys.executable, "-c", "import firsthand; firsthand.load('smollm2')"], check=True)
    with tempfile.TemporaryDirectory() as folder:
        more = [] if options.blocks is None else ["--blocks", str(options.blocks)]
        seconds, code = timed(["audit", "--out", str(Path(folder) / "run"), *more])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024**2
    print(f"cores                        {os.cpu_count()}")
    print(f"firsthand --help             {helped:.2f} s (best of five)")
    print(f"firsthand audit (smollm2)    {seconds:.0f} s, exit code {code}")
    print(f"peak memory                  {peak:.2f} GiB")


if __name__ == "__main__":
    main()
