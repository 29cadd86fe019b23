"""Commands as a user meets them."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from commands import Command


@pytest.fixture
def firsthand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command and says how it ended."""
    monkeypatch.setenv("COLUMNS", "100")
    return Command(monkeypatch, capsys)
