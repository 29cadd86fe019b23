"""A run that is killed at any moment goes on to the same end, and makes no call twice but those that were in flight."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from interrupted_run import CONNECTIONS

from firsthand.counterfactual.inspecting.stages.from_logs import (
    claims_from_logs,
    endings_from_logs,
    investigations_from_logs,
    used_from_logs,
)
from firsthand.trials.randomness import stream

KILLS = int(os.environ.get("FIRSTHAND_KILLS", "2"))
SCRIPT = Path(__file__).parent / "interrupted_run.py"


def begun(folder: Path) -> Counter[str]:
    lines = Path(f"{folder}.calls").read_text().splitlines()
    return Counter(line.split()[2] for line in lines if " begin " in line)


@pytest.mark.timeout(900)
def test_killed_at_random_moments_it_ends_the_same_and_pays_for_no_call_twice(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    for folder in (whole, broken):  # the same fences, so that calls can be compared
        folder.mkdir()
        (folder / "fence.key").write_bytes(b"k" * 32)
    moments = stream("kills", KILLS).uniform(0.02, 0.95, KILLS)
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), *map(str, moments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    assert (tmp_path / "kills").read_text() == str(KILLS)

    expected, made = begun(whole), begun(broken)
    assert set(made) == set(expected)
    assert not expected - made
    assert sum((made - expected).values()) <= KILLS * CONNECTIONS
    for read in (investigations_from_logs, claims_from_logs, endings_from_logs, used_from_logs):
        assert read(broken) == read(whole)
    assert investigations_from_logs(whole)
