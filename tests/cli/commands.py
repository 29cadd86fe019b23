"""The entry point of the command line, run in this process as a user meets it."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from firsthand.cli.main import run


@dataclass(frozen=True)
class Done:
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Command:
    """Runs the entry point of the command line in this process; whatever it does not foresee is raised."""

    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str | Path) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["firsthand", *map(str, arguments)])
        self.capsys.readouterr()
        code = 0
        try:
            run()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        told = self.capsys.readouterr()
        return Done(code, told.out, told.err)


def assert_refused(done: Done, *words: str) -> None:
    """The command ended with an error of our own that says what to do."""
    assert done.code == 2, done.err
    assert "What to do:" in done.err
    for word in words:
        assert word in done.err
