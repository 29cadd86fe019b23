"""Runs in the planted world that are killed at given moments: ``interrupted_run.py FOLDER MOMENT...``.

Everything is imported once; each run is a forked process, which a kill ends without any clearing up. ``whole`` in the
folder is run to its end, then ``broken`` is killed whenever a number of calls was reached, and at last run to its end.
Moments are shares of the calls that a whole run makes.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[3] / "oracles")]

import inspect_ai.agent._acp.server  # noqa: E402 - imported late by every run otherwise
import inspect_ai.model._openai_responses  # noqa: E402, F401
from running_world import run  # noqa: E402

from firsthand.counterfactual.responses import Sampling  # noqa: E402

CONNECTIONS = 4


def started(folder: Path) -> int:
    """Start a run; returns its process."""
    process = os.fork()
    if process:
        return process
    os.environ["PLANTED_CALLS"] = f"{folder}.calls"
    code = 3
    try:
        result = run(
            folder,
            1,
            effort="light",
            sampling=Sampling(samples=10),
            connections=CONNECTIONS,
            arguments={"seconds": 0.005},
        )
        code = 0 if result.finished else 4
    finally:
        os._exit(code)


def made(folder: Path) -> int:
    """How many calls were begun."""
    place = Path(f"{folder}.calls")
    return place.read_bytes().count(b" begin ") if place.exists() else 0


def main(folder: Path, shares: list[float]) -> int:
    """All of it; returns an exit code."""
    whole, broken = folder / "whole", folder / "broken"
    _, status = os.waitpid(started(whole), 0)
    total = made(whole)
    kills = 0
    for share in shares:
        process = started(broken)
        while made(broken) < share * total:
            if os.waitpid(process, os.WNOHANG) != (0, 0):
                return 5
            time.sleep(0.001)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        kills += 1
    _, end = os.waitpid(started(broken), 0)
    (folder / "kills").write_text(str(kills))
    return status or end


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sorted(float(share) for share in sys.argv[2:])))
