"""Documents and rendered reports on disk, written whole or not at all."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from firsthand.errors import FirsthandError
from firsthand.report.document import AuditDocument

D = TypeVar("D", bound=BaseModel)


class ReportError(FirsthandError):
    """A report that cannot be written or drawn."""


def write_text(path: Path, text: str) -> Path:
    """Write text as UTF-8, whole or not at all; see :func:`write_bytes`."""
    return write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, data: bytes) -> Path:
    """Write a file by a rename, so that a reader never meets half of it.

    Args:
        path: Where to write; missing folders are made.
        data: What to write.

    Returns:
        The path written.

    Raises:
        ReportError: If the file cannot be written, for instance because the disk is full. Nothing is left behind, and
            an older file at the path is untouched.
    """
    temporary: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
        temporary = Path(name)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise ReportError(
            f"The report could not be written to {path}: {error.strerror or error}.",
            "Free some space or name another file, and render the report again; the trace is not affected.",
        ) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return path


def write_json(document: BaseModel, path: Path | str) -> Path:
    """Write a document as JSON, whole or not at all."""
    return write_text(Path(path), document.model_dump_json(indent=2) + "\n")


def read_json(path: Path | str) -> AuditDocument:
    """Read the document of an audit back from JSON.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    return read_document(path, AuditDocument, "an audit document")


def read_document(path: Path | str, kind: type[D], name: str) -> D:
    """Read a document of any kind back from JSON.

    Args:
        path: The file.
        kind: What it holds.
        name: The same in words, for what is said if it does not.

    Raises:
        ReportError: If the file cannot be read, or is not a document of this version.
    """
    try:
        return kind.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise ReportError(f"{path} could not be read: {error.strerror or error}.", "Check the path.") from error
    except ValueError as error:
        first = str(error).splitlines()[:3]
        raise ReportError(
            f"{path} is not {name} of this version: {' '.join(first)}.",
            "Write it again with --json, using this version of firsthand.",
        ) from error


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
