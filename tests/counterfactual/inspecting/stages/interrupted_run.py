"""A run in the planted world as a process of its own, to be killed: ``interrupted_run.py FOLDER``."""

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[3] / "oracles")]

from running_world import run  # noqa: E402

if __name__ == "__main__":
    result = run(Path(sys.argv[1]), 3, effort="light", connections=4, arguments={"seconds": 0.005})
    sys.exit(0 if result.finished else 3)
