"""What calls of models used, by role and model: what prices are multiplied with.

A call is noted when its answer arrives, whatever becomes of the answer, and appended to a file at once: what was paid
is known after a crash too.
"""

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeAlias

from inspect_ai.model import ModelUsage
from pydantic import Field, ValidationError

from firsthand.counterfactual.part import Part
from firsthand.trials.files import storage_error

_Count: TypeAlias = Annotated[int, Field(ge=0)]


class Usage(Part):
    """What some calls used.

    Attributes:
        role: What the model was asked as: ``target``, ``screener``, ``investigator``, ``classifier``, ``judge`` or
            ``describer``.
        model: Inspect's name of the model.
        calls: Calls that were answered.
        failed: Calls that failed for good.
        input_tokens: Tokens read at the full price.
        output_tokens: Tokens written, those of thinking included.
        cache_read: Tokens read from the provider's cache.
        cache_write: Tokens written to it.
        reasoning_tokens: Tokens of thinking, as far as the provider counts them.
    """

    role: str
    model: str
    calls: _Count = 0
    failed: _Count = 0
    input_tokens: _Count = 0
    output_tokens: _Count = 0
    cache_read: _Count = 0
    cache_write: _Count = 0
    reasoning_tokens: _Count = 0

    def __add__(self, other: "Usage") -> "Usage":
        """What the calls of both used."""
        counts = {
            name: getattr(self, name) + getattr(other, name) for name in type(self).model_fields if name not in _WHO
        }
        return Usage(role=self.role, model=self.model, **counts)

    @classmethod
    def of(cls, role: str, model: str, used: ModelUsage | None) -> "Usage":
        """What one answered call used, as Inspect tells it."""
        if used is None:
            return cls(role=role, model=model, calls=1)
        return cls(
            role=role,
            model=model,
            calls=1,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cache_read=used.input_tokens_cache_read or 0,
            cache_write=used.input_tokens_cache_write or 0,
            reasoning_tokens=used.reasoning_tokens or 0,
        )


_WHO = ("role", "model")


class Ledger:
    """Usage of a run, one line a call in a file if one is given.

    Args:
        path: Where calls are appended; those of earlier runs are read first.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._guard = path, threading.Lock()
        self._sums: dict[tuple[str, str], Usage] = {}
        for usage in _read(path) if path is not None else ():
            self._add(usage)

    def note(self, usage: Usage) -> None:
        """Note one call.

        Raises:
            TraceError: If the file cannot be written to.
        """
        with self._guard:
            self._add(usage)
            if self._path is not None:
                append(self._path, usage.model_dump_json(exclude_defaults=True))

    def entries(self) -> tuple[Usage, ...]:
        """Sums by role and model, in their order."""
        with self._guard:
            return tuple(self._sums[key] for key in sorted(self._sums))

    def _add(self, usage: Usage) -> None:
        key = (usage.role, usage.model)
        self._sums[key] = self._sums[key] + usage if key in self._sums else usage


def append(path: Path, line: str) -> None:
    """Append one line to a file, in one write.

    Raises:
        TraceError: If it cannot be written to.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            # What a killed run left of a line must not swallow the next one.
            torn = file.tell() > 0 and not _ends_line(path)
            file.write(("\n" if torn else "").encode() + line.encode() + b"\n")
    except OSError as error:
        raise storage_error(path, error) from error


def _ends_line(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) == b"\n"


def _read(path: Path) -> Iterable[Usage]:
    if not path.is_file():
        return
    for line in path.read_bytes().splitlines():
        try:
            yield Usage.model_validate_json(line)
        except ValidationError:  # the line that was being written when a run was killed
            continue
