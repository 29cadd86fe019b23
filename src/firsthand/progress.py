"""How long work tells where it stands, without knowing who listens."""

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

T = TypeVar("T")


class Progress(Protocol):
    """Something that shows stages of known length."""

    def start(self, stage: str, total: int) -> None:
        """A stage begins; ``total`` steps will follow."""
        ...

    def step(self) -> None:
        """One step of the current stage is done."""
        ...

    def say(self, message: str) -> None:
        """A short message about what goes on now."""
        ...


class Silent:
    """Shows nothing."""

    def start(self, stage: str, total: int) -> None:
        """Ignore."""

    def step(self) -> None:
        """Ignore."""

    def say(self, message: str) -> None:
        """Ignore."""


def tracked(items: Iterable[T], stage: str, total: int, progress: Progress) -> Iterator[T]:
    """Yield ``items`` and report one step after each is done with."""
    progress.start(stage, total)
    for item in items:
        yield item
        progress.step()
