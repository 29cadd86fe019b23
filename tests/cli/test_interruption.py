"""An audit that is stopped at any moment loses nothing: the same command ends with the same trace."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from firsthand.claims import Claim, DesignSpec, FrozenClaim, StateSpec, default_claim, write_frozen
from firsthand.engine.loading import LoadedModel
from firsthand.trials.trace import Trace

COMMAND = [sys.executable, "-c", "from firsthand.cli.main import run; run()"]
BLOCKS = 24


@pytest.fixture(scope="module")
def claim_file(tiny: LoadedModel, tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from firsthand.auditing.audit import freeze

    claim: Claim = default_claim(
        str(tiny_folder),
        observers=("table",),
        state=StateSpec(layers=(0, 1), doses=(0.5,)),
        design=DesignSpec(selection_blocks=2, confirmation_blocks=BLOCKS),
    )
    frozen: FrozenClaim = freeze(claim, tiny)
    path = tmp_path_factory.mktemp("claim") / "claim.frozen.json"
    write_frozen(path, frozen)
    return path


def start(claim_file: Path, out: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "audit", "--claim", str(claim_file), "--out", str(out)],
        env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_hears_ctrl_c,
    )


def _hears_ctrl_c() -> None:
    """What a shell starts in the background ignores Ctrl-C, and so would whatever the tests start from there."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for_units(out: Path, process: subprocess.Popen[str], number: int) -> None:
    """Wait until that many confirmation units are finished, or the process ends."""
    for _ in range(6000):
        if len(list((out / "trace" / "units").glob("*.json"))) >= number or process.poll() is not None:
            return
        time.sleep(0.05)
    raise AssertionError("the audit made no progress")


@pytest.fixture(scope="module")
def whole(claim_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "run"
    process = start(claim_file, out)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out


def same_bytes(one: Path, other: Path) -> None:
    names = [sorted(p.relative_to(f) for p in f.rglob("*") if p.suffix in (".parquet", ".json")) for f in (one, other)]
    assert names[0] == names[1]
    for name in names[0]:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_killed_at_random_moments_it_ends_with_the_same_trace_to_the_byte(
    claim_file: Path, whole: Path, tmp_path: Path
) -> None:
    out, rng = tmp_path / "run", np.random.default_rng(7)
    for unit in sorted(rng.integers(0, BLOCKS, size=3).tolist()):
        process = start(claim_file, out)
        wait_for_units(out, process, unit)
        time.sleep(float(rng.random() * 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    process = start(claim_file, out)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    for part in ("selection", "trace"):
        same_bytes(whole / part, out / part)
    assert Trace(out / "trace").content_digest() == Trace(whole / "trace").content_digest()


def test_ctrl_c_says_how_to_go_on(claim_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = start(claim_file, out)
    wait_for_units(out, process, 2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert "same command goes on" in errors


def test_a_full_disk_is_a_clear_error_and_keeps_what_was_finished(claim_file: Path, tmp_path: Path) -> None:
    """On a file system of a few hundred kilobytes the audit runs full; it says so, and finished units stay whole."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(small)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small file system could not be mounted here: {mounted.stderr.strip()}")
    try:
        process = start(claim_file, small / "run")
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 2
        assert "disk is full" in errors
        assert "Traceback" not in errors
        trace = Trace(small / "run" / "selection")
        for entry in (small / "run" / "selection" / "units").glob("*.json"):
            assert trace.unit_done(entry.stem)
    finally:
        subprocess.run(["umount", str(small)], check=False)
