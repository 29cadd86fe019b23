"""A run that is killed at any moment goes on to the same end, and makes no call twice but those that were in flight."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from firsthand.counterfactual.inspecting.stages.from_logs import claims_from_logs, investigations_from_logs
from firsthand.trials.randomness import stream

KILLS = int(os.environ.get("FIRSTHAND_KILLS", "3"))
CONNECTIONS = 4
SCRIPT = Path(__file__).parent / "interrupted_run.py"


def start(folder: Path, calls: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PLANTED_CALLS": str(calls), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def begun(calls: Path) -> Counter[str]:
    lines = calls.read_text().splitlines() if calls.exists() else []
    return Counter(line.split()[2] for line in lines if " begin " in line)


@pytest.mark.timeout(300)
def test_killed_at_random_moments_it_ends_the_same_and_pays_for_no_call_twice(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):  # the same fences, so that calls can be compared
        folder.mkdir()
        (folder / "fence.key").write_bytes(b"k" * 32)
    assert start(whole, tmp_path / "whole.calls").wait() == 0
    expected = begun(tmp_path / "whole.calls")

    total = sum(expected.values())
    moments = sorted(stream("kills", KILLS).choice(range(1, total - 5), KILLS, replace=False))
    for moment in moments:
        process = start(broken, tmp_path / "broken.calls")
        while sum(begun(tmp_path / "broken.calls").values()) < moment and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(broken, tmp_path / "broken.calls").wait() == 0

    made = begun(tmp_path / "broken.calls")
    assert set(made) == set(expected)
    assert sum((made - expected).values()) <= KILLS * CONNECTIONS
    assert not expected - made
    assert investigations_from_logs(broken) == investigations_from_logs(whole)
    assert claims_from_logs(broken) == claims_from_logs(whole)
