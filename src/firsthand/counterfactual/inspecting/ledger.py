"""What calls of models used, noted when an answer arrives, whatever becomes of it.

Every call is appended to a file at once, so what was paid is known after a crash too.
"""

import threading
from pathlib import Path

from inspect_ai.model import ModelUsage
from pydantic import ValidationError

from firsthand.counterfactual.usage import Entry, Usage, summed
from firsthand.trials.files import storage_error


class Ledger:
    """Usage of a run, one line a call in a file if one is given.

    Args:
        path: Where calls are appended; those of earlier runs are read first.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._guard = path, threading.Lock()
        self._entries = summed(_read(path)) if path is not None else ()

    def note(self, entry: Entry) -> None:
        """Note one call.

        Raises:
            TraceError: If the file cannot be written to.
        """
        with self._guard:
            self._entries = summed((*self._entries, entry))
            if self._path is not None:
                append(self._path, entry.model_dump_json(exclude_defaults=True))

    def entries(self) -> tuple[Entry, ...]:
        """Sums by stage, role and model, in the order of their first calls."""
        return self._entries


def used(counted: ModelUsage | None) -> Usage:
    """What one answered call used, as Inspect tells it; of a provider that tells nothing only the call is known."""
    if counted is None:
        return Usage(calls=1)
    return Usage(
        calls=1,
        input=counted.input_tokens,
        output=counted.output_tokens,
        cache_write=counted.input_tokens_cache_write or 0,
        cache_read=counted.input_tokens_cache_read or 0,
    )


def append(path: Path, line: str) -> None:
    """Append one line to a file.

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


def _read(path: Path) -> list[Entry]:
    found: list[Entry] = []
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        try:
            found.append(Entry.model_validate_json(line))
        except ValidationError:  # the line that was being written when a run was killed
            continue
    return found
