"""Reading other people's files: every cell by a declared type, and every oddity said rather than guessed.

A table is read as text and then parsed by column. What cannot be parsed is treated by what the column is for: a row
whose *setting* is unreadable cannot be placed and is left out; an unreadable *answer* is an invalid answer. Both are
counted in a note.
"""

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Source
from firsthand.importers.base import ImporterError
from firsthand.trials.files import sha256_file

_FLAGS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0, "1.0": 1.0, "0.0": 0.0, "yes": 1.0, "no": 0.0}
_EMPTY = frozenset({"", "nan", "none", "null", "na", "n/a"})


@dataclass(frozen=True)
class Column:
    """What a published column holds.

    Attributes:
        type: How its cells are read; a flag is true or false, and verbatim is text with the space around it, in which
            "none" is a word.
        role: ``setting`` (a row without it cannot be placed), ``outcome`` (a row without it has an invalid answer), or
            ``extra`` (may be missing altogether).
    """

    type: Literal["text", "verbatim", "number", "flag"]
    role: Literal["setting", "outcome", "extra"] = "setting"


Schema = Mapping[str, Column]


@dataclass(frozen=True, eq=False)
class Read:
    """A table as read.

    Attributes:
        table: Parsed columns of the schema, and ``row``, the number of the row in the file from 1.
        source: The file with its hash and number of rows.
        notes: What was left out or could not be read.
    """

    table: pd.DataFrame
    source: Source
    notes: tuple[str, ...]


def read_csv(path: Path, schema: Schema) -> Read:
    """Read a CSV file with a header.

    Raises:
        ImporterError: It is unreadable, empty, or lacks a column that is not ``extra``.
    """
    text, notes = _text_of(path)
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [name.strip() for name in next(rows, [])]
        lines = [line for line in rows if line]
    except csv.Error as error:
        raise ImporterError(f"{path.name} is no CSV table: {error}.", "Restore the file as published.") from error
    if not header:
        raise ImporterError(f"{path.name} is empty.", "Restore the file as published.")
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise ImporterError(f"{path.name} has columns twice: {', '.join(repeated)}.", "Restore the file as published.")
    whole = [line for line in lines if len(line) == len(header)]
    if len(whole) < len(lines):
        notes.append(f"{len(lines) - len(whole)} rows have another number of cells than the header and are left out")
    records: list[dict[str, Any]] = [dict(zip(header, line, strict=True)) for line in whole]
    return _parsed(path, records, header, schema, notes)


def read_jsonl(path: Path, schema: Schema) -> Read:
    """Read a file of one JSON object a line; nested objects are columns named ``outer.inner``.

    Raises:
        ImporterError: It is unreadable, empty, or lacks a column that is not ``extra``.
    """
    text, notes = _text_of(path)
    records, broken = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            records.append(_flat(value))
        else:
            broken.append(number)
    if broken:
        notes.append(f"{len(broken)} lines are no JSON objects and are left out, the first is line {broken[0]}")
    header = list(dict.fromkeys(name for record in records for name in record))
    return _parsed(path, records, header, schema, notes)


def read_json(path: Path, schema: Schema) -> Read:
    """Read a file that is one JSON array of objects; nested objects are columns named ``outer.inner``.

    Raises:
        ImporterError: It is unreadable, no array, empty, or lacks a column that is not ``extra``.
    """
    text, notes = _text_of(path)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImporterError(f"{path.name} is no JSON: {error}.", "Restore the file as published.") from error
    if not isinstance(value, list):
        raise ImporterError(
            f"{path.name} holds {type(value).__name__} and not a list of trials.", "Restore the file as published."
        )
    records = [_flat(item) for item in value if isinstance(item, dict)]
    if len(records) < len(value):
        notes.append(f"{len(value) - len(records)} items of the list are no objects and are left out")
    header = list(dict.fromkeys(name for record in records for name in record))
    return _parsed(path, records, header, schema, notes)


def _text_of(path: Path) -> tuple[str, list[str]]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ImporterError(
            f"{path} could not be read: {error.strerror}.", "Check that it is a file that you may read."
        ) from error
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return data.decode("utf-8-sig", errors="replace"), [
            "the file is not valid UTF-8; unreadable characters are replaced"
        ]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, inner in value.items():
        if isinstance(inner, dict) and inner and len(prefix) < 80:
            flat |= _flat(inner, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = inner
    return flat


def _parsed(
    path: Path, records: Sequence[Mapping[str, Any]], header: Sequence[str], schema: Schema, notes: list[str]
) -> Read:
    if not records:
        raise ImporterError(f"{path.name} has no rows.", "Restore the file as published.")
    missing = [name for name, column in schema.items() if column.role != "extra" and name not in header]
    if missing:
        raise ImporterError(
            f"{path.name} lacks the columns: {', '.join(missing)}. It has: {shown_names(header)}.",
            "Check that it is the published file and that this importer is made for it.",
        )
    unknown = [name for name in header if name not in schema]
    if unknown:
        notes.append(f"unknown columns are not used: {shown_names(unknown)}")
    absent = [name for name, column in schema.items() if name not in header]
    if absent:
        notes.append(f"columns that may be there are not, and what rests on them is left out: {', '.join(absent)}")
    table = pd.DataFrame({"row": np.arange(1, len(records) + 1)})
    keep = np.ones(len(records), dtype=bool)
    for name, column in schema.items():
        if name in absent:
            continue
        values, odd = _cells([record.get(name) for record in records], column.type)
        table[name] = values
        empty = pd.isna(pd.Series(values)).to_numpy()
        if odd:
            what = {"number": "numbers", "flag": "true or false"}.get(column.type, "text")
            notes.append(f"column {name}: {len(odd)} cells are not {what}, the first in row {odd[0] + 1}")
        if column.role == "setting" and empty.any():
            notes.append(
                f"column {name}: {int(empty.sum())} rows have no usable value, cannot be placed, and are left out"
            )
            keep &= ~empty
    if not keep.any():
        raise ImporterError(f"{path.name} has no row with a complete setting.", "Restore the file as published.")
    source = Source(file=path.name, sha256=sha256_file(path), rows=len(records))
    return Read(table[keep].reset_index(drop=True), source, tuple(f"{path.name}: {note}" for note in notes))


def _cells(values: Sequence[Any], kind: str) -> tuple[list[Any], list[int]]:
    """Parse cells; those that are there but of another type are missing, and their places are returned too."""
    parsed: list[Any] = []
    odd: list[int] = []
    texts = kind in ("text", "verbatim")
    empty = frozenset({""}) if kind == "verbatim" else _EMPTY
    for index, value in enumerate(values):
        if value is None or (isinstance(value, str) and value.strip().lower() in empty):
            parsed.append(None if texts else float("nan"))
            continue
        made = _text(value, strip=kind == "text") if texts else _number(value, kind)
        if made is None:
            odd.append(index)
            made = None if texts else float("nan")
        parsed.append(made)
    return parsed, odd


def _text(value: Any, *, strip: bool = True) -> str | None:
    if isinstance(value, str):
        text = value.encode("utf-8", errors="surrogatepass").decode("utf-8", errors="replace")
        return text.strip() if strip else text
    if isinstance(value, (bool, int, float)):
        return str(value)
    return json.dumps(value, sort_keys=True) if isinstance(value, list) else None


def _number(value: Any, kind: str) -> float | None:
    if kind == "flag":
        return _FLAGS.get(str(value).strip().lower())
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def shown_names(names: Sequence[str], most: int = 12) -> str:
    """Some names of columns or files, cut short where there are many or long ones."""
    short = [name if len(name) <= 60 else f"{name[:59]}…" for name in names]
    return ", ".join(short[:most]) + (f" and {len(short) - most} more" if len(short) > most else "")
