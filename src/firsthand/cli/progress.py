"""Progress in the terminal: a bar with time left where there is a terminal, plain lines where there is none."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class TerminalProgress:
    """Shows stages with steps done, time passed and time left; use as a context manager."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self._live = console.is_terminal
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            disable=not self._live,
        )
        self._task: TaskID | None = None
        self._stage, self._done, self._total, self._begun = "", 0, 0, time.monotonic()

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop drawing, whatever happened."""
        self._bar.stop()

    def start(self, stage: str, total: int) -> None:
        """A stage begins."""
        self._stage, self._done, self._total, self._begun = stage, 0, total, time.monotonic()
        self._task = self._bar.add_task(stage, total=total)
        if not self._live:
            self._line(f"{stage}: {total} steps")

    def step(self) -> None:
        """One step is done; without a terminal a line is printed about every tenth of a stage."""
        self._done += 1
        if self._task is not None:
            self._bar.advance(self._task)
        tenth = max(1, self._total // 10)
        if not self._live and (self._done % tenth == 0 or self._done == self._total):
            passed = time.monotonic() - self._begun
            left = passed / self._done * (self._total - self._done)
            self._line(f"{self._stage}: {self._done} of {self._total}, {passed:.0f} s passed, about {left:.0f} s left")

    def say(self, message: str) -> None:
        """A short message."""
        if self._live:
            self._bar.console.print(message, markup=False, highlight=False)
        else:
            self._line(message)

    @staticmethod
    def _line(text: str) -> None:
        print(text, file=sys.stderr, flush=True)  # noqa: T201 - the plain form of progress
