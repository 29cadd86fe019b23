"""Makes the planted world importable by name. Without Inspect AI (extra ``investigate``) nothing here is collected."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[3] / "oracles")]

collect_ignore_glob = [] if find_spec("inspect_ai") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _no_calls_yet() -> None:
    from planted_world import FAILED

    FAILED.clear()
