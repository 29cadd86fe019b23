"""Questions, and a predictor that says what a list says. Without Inspect AI nothing here is collected."""

import logging
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2] / "tools")]

collect_ignore_glob = [] if find_spec("inspect_ai") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    # Inspect traces every call, and formatting that for pytest takes longer than the calls.
    logging.disable(logging.INFO)


@pytest.fixture(autouse=True, scope="session")
def _distributions_are_listed_once() -> None:
    """Inspect lists all installed distributions for every task that it runs, which takes a second each time."""
    from functools import cache

    from inspect_ai._util import package

    package.packages_distributions = cache(package.packages_distributions)
