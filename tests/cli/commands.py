"""The entry point of the command line, run in this process as a user meets it."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
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
        code = _ended()
        told = self.capsys.readouterr()
        return Done(code, told.out, told.err)


def once(*arguments: str | Path) -> Done:
    """The same for a fixture that several tests share."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["firsthand", *map(str, arguments)])
        patch.setenv("COLUMNS", "100")
        code = _ended()
    return Done(code, out.getvalue(), err.getvalue())


def _ended() -> int:
    try:
        run()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0


def assert_refused(done: Done, *words: str) -> None:
    """The command ended with an error of our own that says what to do."""
    assert done.code == 2, done.err
    assert "What to do:" in done.err
    for word in words:
        assert word in done.err
