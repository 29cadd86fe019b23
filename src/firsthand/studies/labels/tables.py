"""Rows of the files that people keep labelled texts in: CSV, JSONL, JSON, Parquet, and folders of ``datasets``."""

import csv
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

from firsthand.errors import LabelsError

Record: TypeAlias = dict[str, Any]

_KINDS: Final = ".csv, .jsonl, .json, .parquet, or a folder written by save_to_disk of Hugging Face datasets"


def read_records(path: Path) -> list[Record]:
    """The rows of a file, each with the same columns.

    Newlines, quotes and other line separators within a field stay what they are. A key that a JSON object lacks is
    ``None``.

    Args:
        path: A file whose ending says what it is, or a folder written by ``save_to_disk``.

    Returns:
        The rows, in the file's order.

    Raises:
        LabelsError: If the file is missing, of another kind, damaged, without rows, or not a table.
    """
    reader = _folder if path.is_dir() else _READERS.get(path.suffix.lower())
    if reader is None:
        raise LabelsError(f"{path} is no file of a known kind.", f"Give a file ending in {_KINDS}.")
    try:
        rows = reader(path)
    except (OSError, ValueError, RecursionError, csv.Error) as error:  # Arrow's and JSON's errors are ValueErrors
        raise LabelsError(f"{path} cannot be read: {error}.", "Correct the file, or save it again.") from error
    if not rows:
        raise LabelsError(f"{path} holds no rows.", "Give a file with labelled texts.")
    columns = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name) for name in columns} for row in rows]


def _csv(path: Path) -> list[Record]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file, strict=True)
        header = next(lines, [])
        if len(set(header)) != len(header):
            raise ValueError(f"its header names a column twice: {', '.join(header)}")
        rows = []
        for fields in lines:
            if not fields:  # a blank line
                continue
            if len(fields) != len(header):
                raise ValueError(f"line {lines.line_num} has {len(fields)} fields where the header has {len(header)}")
            rows.append(dict(zip(header, fields, strict=True)))
    return rows


def _jsonl(path: Path) -> list[Record]:
    # Not splitlines(), which also parts at U+2028 and its like inside a string.
    lines = enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1)
    return [_object(_parsed(line, number), f"line {number}") for number, line in lines if line.strip()]


def _parsed(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {number} is not JSON: {error}") from error


def _json(path: Path) -> list[Record]:
    value = json.loads(path.read_text(encoding="utf-8-sig"))
    if not isinstance(value, list):
        raise ValueError(f"it holds one {type(value).__name__} instead of a list of objects")
    return [_object(row, f"item {number}") for number, row in enumerate(value, start=1)]


def _object(value: Any, where: str) -> Record:
    if not isinstance(value, dict):
        raise ValueError(f"{where} is a {type(value).__name__} instead of an object with named fields")
    return value


def _parquet(path: Path) -> list[Record]:
    import pyarrow.parquet

    rows: list[Record] = pyarrow.parquet.read_table(path).to_pylist()
    return rows


def _folder(path: Path) -> list[Record]:
    """A data set of Hugging Face's library; where classes have names, labels are given by name."""
    try:
        datasets = import_module("datasets")  # not a dependency
    except ImportError as error:
        raise LabelsError(
            f"{path} is a folder, for which the package 'datasets' is needed.",
            "Install it (pip install datasets), or save the set as Parquet.",
        ) from error
    found = datasets.load_from_disk(str(path))
    if isinstance(found, dict):
        if len(found) != 1:
            raise LabelsError(
                f"{path} holds the parts {', '.join(map(str, found))}.", f"Give one of them, such as {path}/train."
            )
        found = next(iter(found.values()))
    names = {column: feature.names for column, feature in found.features.items() if getattr(feature, "names", None)}
    return [{column: _named(value, names.get(column)) for column, value in row.items()} for row in found]


def _named(value: Any, names: list[str] | None) -> Any:
    """The name of a class; its number is -1 where a published test set withholds it."""
    if names is None or not isinstance(value, int):
        return value
    return names[value] if 0 <= value < len(names) else None


_READERS: Final[dict[str, Callable[[Path], list[Record]]]] = {
    ".csv": _csv,
    ".jsonl": _jsonl,
    ".json": _json,
    ".parquet": _parquet,
}
