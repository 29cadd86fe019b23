"""Requests that arrive within milliseconds of one another are carried out together, off the event loop."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Final, Generic, TypeVar

J = TypeVar("J")
D = TypeVar("D")

_QUIET_SECONDS: Final = 0.005
"""A batch is closed when nothing has arrived for so long: longer than it takes to hand over one request."""
_MOST_SECONDS: Final = 0.05
"""A batch is closed after so long in any case."""


class Gathering(Generic[J, D]):
    """One worker thread that takes jobs as they come, and carries out together what came together.

    Args:
        work: Carries out jobs; for each its outcome, or what went wrong with it.
        most: Most jobs carried out together.
    """

    def __init__(self, work: Callable[[Sequence[J]], Sequence[D | Exception]], most: int = 256) -> None:
        self.batches: list[int] = []
        """Number of jobs of each batch so far."""
        self._work, self._most = work, most
        self._waiting: queue.SimpleQueue[tuple[J, Future[D]]] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._worker: threading.Thread | None = None

    def submit(self, job: J) -> "Future[D]":
        """Hand over a job; a future that is cancelled before its batch begins is not carried out."""
        future: Future[D] = Future()
        with self._guard:
            if self._worker is None:
                self._worker = threading.Thread(target=self._run, name="firsthand engine", daemon=True)
                self._worker.start()
        self._waiting.put((job, future))
        return future

    def _run(self) -> None:
        while True:
            taken = self._gathered()
            going = [(job, future) for job, future in taken if future.set_running_or_notify_cancel()]
            if going:
                self.batches.append(len(going))
                self._carry_out(going)

    def _gathered(self) -> list[tuple[J, "Future[D]"]]:
        taken = [self._waiting.get()]
        end = time.monotonic() + _MOST_SECONDS
        while len(taken) < self._most and time.monotonic() < end:
            try:
                taken.append(self._waiting.get(timeout=_QUIET_SECONDS))
            except queue.Empty:
                break
        return taken

    def _carry_out(self, going: Sequence[tuple[J, "Future[D]"]]) -> None:
        try:
            outcomes = self._work([job for job, _ in going])
            for (_, future), outcome in zip(going, outcomes, strict=True):
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)
        except Exception as error:  # noqa: BLE001  the worker must outlive whatever a job does, and whoever waits must hear of it
            for _, future in going:
                if not future.done():
                    future.set_exception(error)
