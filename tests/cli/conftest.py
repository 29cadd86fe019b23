"""Commands as a user meets them."""

import pytest
from commands import Command


@pytest.fixture
def firsthand(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command and says how it ended."""
    monkeypatch.setenv("COLUMNS", "100")
    return Command(monkeypatch, capsys)
