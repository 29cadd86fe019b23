"""Runs of ``firsthand investigate agents`` that are killed: ``killed_agents.py FOLDER LOG ARGUMENTS MOMENT...``.

Everything is imported once; each run is a forked process that carries out the command, and a kill ends it without any
clearing up. ``FOLDER/whole`` is run to its end, then ``FOLDER/broken`` is killed again and again, and at last run to
its end. A moment is a share of the requests that the server gets from a whole run, and the seconds after them.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import inspect_ai.agent._acp.server  # imported late by every run otherwise
import inspect_ai.model._openai_responses
import inspect_ai.model._providers.openai_compatible  # noqa: F401

from firsthand.cli.investigate import staged  # noqa: F401
from firsthand.cli.main import run


def started(arguments: list[str], out: Path) -> int:
    """Start the command; returns its process."""
    process = os.fork()
    if process:
        return process
    code = 3
    try:
        with out.with_suffix(".out").open("a") as told:
            os.dup2(told.fileno(), 1)
            os.dup2(told.fileno(), 2)
        sys.argv = ["firsthand", *arguments, "--out", str(out)]
        run()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        os._exit(code)


def asked(log: Path) -> int:
    """How many requests have come."""
    return log.read_bytes().count(b"begin ") if log.exists() else 0


def main(folder: Path, log: Path, arguments: list[str], moments: list[tuple[float, float]]) -> int:
    """All of it; returns an exit code."""
    begun = time.monotonic()
    _, status = os.waitpid(started(arguments, folder / "whole"), 0)
    seconds, total, kills = time.monotonic() - begun, asked(log), 0
    (folder / "whole.log").write_bytes(log.read_bytes())
    for share, later in moments:
        process = started(arguments, folder / "broken")
        while asked(log) - total < share * total:
            if os.waitpid(process, os.WNOHANG) != (0, 0):
                return 5
            time.sleep(0.001)
        time.sleep(later)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        kills += 1
    _, end = os.waitpid(started(arguments, folder / "broken"), 0)
    (folder / "broken.log").write_bytes(log.read_bytes()[len((folder / "whole.log").read_bytes()) :])
    (folder / "told.json").write_text(json.dumps({"kills": kills, "requests": total, "seconds": seconds}))
    return status or end


if __name__ == "__main__":
    place, log_file, words, *given = sys.argv[1:]
    pairs = sorted((float(share), float(later)) for share, _, later in (one.partition("+") for one in given))
    sys.exit(main(Path(place), Path(log_file), json.loads(words), pairs))
