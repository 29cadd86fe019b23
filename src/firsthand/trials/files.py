"""Files that are either whole or absent.

Everything is written to a temporary name beside its place and renamed, so that a run killed at any moment leaves whole
files only. A full disk is reported as such and leaves what was there before.
"""

import contextlib
import errno
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from firsthand.errors import TraceError


def write_atomic(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path`` so that a reader sees the old content or the new, never a part.

    Raises:
        TraceError: If the disk is full or the folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise storage_error(path, error) from error


def storage_error(path: Path, error: OSError) -> TraceError:
    """An error that says why ``path`` could not be written and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return TraceError(
            f"The disk is full: {path} could not be written.",
            "Free some space and run the same command again; what was finished is kept and continued.",
        )
    return TraceError(f"{path} could not be written: {error.strerror}.", "Choose a folder that you may write to.")


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON with sorted keys, atomically."""
    write_atomic(path, (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> Any:
    """Read a JSON file.

    Raises:
        TraceError: If it is missing or not whole.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TraceError(
            f"{path} does not exist.", "Check the folder; a run that never started has no trace."
        ) from error
    except (ValueError, OSError) as error:
        raise TraceError(
            f"{path} is damaged: {error}.", "Restore it from a copy, or run again in a new folder."
        ) from error


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal.

    Raises:
        TraceError: If it cannot be read.
    """
    try:
        with path.open("rb") as handle:
            return hashlib.file_digest(handle, "sha256").hexdigest()
    except OSError as error:
        raise TraceError(
            f"{path} could not be read: {error.strerror}.", "Check that it is a file that you may read."
        ) from error


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished temporary files of :func:`write_atomic` that a killed run left in or below ``folder``."""
    for path in folder.rglob(".*.tmp"):
        with contextlib.suppress(OSError):
            path.unlink()
