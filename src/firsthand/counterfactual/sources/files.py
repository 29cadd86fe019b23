"""Files of records: JSON lines, one JSON document, and the same compressed by gzip.

Lines end in a line feed and in nothing else: texts hold U+2028 and other characters that Python's ``splitlines`` takes
for the end of a line.
"""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from firsthand.counterfactual.sources.found import Refused
from firsthand.errors import CounterfactualError

_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file's bytes, unpacked where gzip packed them.

    Raises:
        CounterfactualError: If it cannot be read.
    """
    try:
        with path.open("rb") as handle:
            packed = handle.read(2) == _GZIP
        with cast(IO[bytes], gzip.open(path)) if packed else path.open("rb") as stream:
            yield stream
    except (OSError, EOFError, zlib.error) as error:
        why = (isinstance(error, OSError) and error.strerror) or str(error)
        raise CounterfactualError(
            f"{path} could not be read: {why}.", "Check that it is a whole file that you may read."
        ) from error


def parsed(text: bytes | str) -> Any:
    """A JSON value without the numbers that JSON does not have.

    Raises:
        ValueError: If it is no JSON, or nested too deeply to be read.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def json_records(path: Path) -> Iterator[tuple[str, dict[str, Any] | Refused]]:
    """The objects of a file with their places: of each line, of a list, or the one that is the whole file.

    A line that is no object is refused, and the others are read.

    Raises:
        CounterfactualError: If the file cannot be read, or is a list or a document that is no JSON.
    """
    if is_one_document(path):
        document = json_document(path)
        for number, record in enumerate(document if isinstance(document, list) else [document], start=1):
            place = f"record {number}" if isinstance(document, list) else "the whole file"
            yield place, record if isinstance(record, dict) else Refused(place, "a record that is no JSON object")
        return
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield f"line {number}", _of_line(line.removeprefix(_BOM), f"line {number}")


def _of_line(line: bytes, place: str) -> dict[str, Any] | Refused:
    try:
        record = parsed(line)
    except ValueError as error:
        return Refused(place, "a line that is no JSON", str(error))
    return record if isinstance(record, dict) else Refused(place, "a record that is no JSON object")


def is_one_document(path: Path) -> bool:
    """Whether a file of JSON is one document rather than a record a line."""
    line = first_line(path)
    if line[:1] in (b"[", b""):
        return bool(line)
    try:
        parsed(line)
    except ValueError:
        with opened(path) as stream:  # a broken first line is followed by an object; a document goes on
            following = [text.strip() for text in (stream.readline(), stream.readline()) if text]
        return len(following) < 2 or not following[1].startswith(b"{")
    return False


def first_line(path: Path) -> bytes:
    """The first line of a file that is not blank, without space around it."""
    with opened(path) as stream:
        for line in stream:
            if text := line.removeprefix(_BOM).strip():
                return text
    return b""


def json_document(path: Path) -> Any:
    """The value of a file that is one JSON document, which is read whole.

    Raises:
        CounterfactualError: If it is no JSON.
    """
    with opened(path) as stream:
        text = stream.read().removeprefix(_BOM)
    try:
        return parsed(text)
    except ValueError as error:
        raise CounterfactualError(f"{path} is no JSON: {error}.", "Check that the file is whole.") from error


@contextmanager
def opened_text(path: Path) -> Iterator[IO[str]]:
    """A file's text with its own line ends; bytes that are no UTF-8 become characters that no prompt may hold."""
    with opened(path) as stream:
        yield io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
