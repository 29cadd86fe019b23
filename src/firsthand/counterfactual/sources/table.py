"""CSV: one column holds prompts, each of which is one turn of a user."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final

from firsthand.counterfactual.sources.files import opened_text
from firsthand.counterfactual.sources.found import Altered, Found, Refused
from firsthand.counterfactual.sources.making import made
from firsthand.counterfactual.sources.messages import said_in
from firsthand.errors import CounterfactualError

NAMES: Final = ("prompt", "question", "instruction", "text", "input", "query", "message", "content")
"""Names of a column of prompts, the likeliest first."""

_LONGEST_CELL: Final = 16_000_000


def read(path: Path, *, column: str | None = None) -> Iterator[Found]:
    """The prompts of a column.

    Args:
        path: A table with a header, separated by commas, semicolons or tabs.
        column: Name of the column. ``None``: the first of :data:`NAMES` that there is, or the only column; which one
            was taken is said.

    Raises:
        CounterfactualError: If the column is not there, or none can be guessed.
    """
    with opened_text(path) as text:
        yield from _rows(path, text, column)


def _rows(path: Path, text: IO[str], column: str | None) -> Iterator[Found]:
    # The longest cell is a setting of the whole process: it is made large for each row and put back after it.
    rows = csv.reader(text, delimiter=delimiter(text.readline()))
    text.seek(0)
    header = _next(rows)
    if not isinstance(header, list) or not header:
        raise CounterfactualError(f"{path} holds no table.", "Give a CSV file with a header.")
    place, guessed = _column(path, header, column)
    if guessed:
        others = ", ".join(name for name in header if name != header[place]) or "none"
        yield Altered("header", f"column {header[place]!r} taken for the prompts (other columns: {others[:200]})")
    number = 0
    while (row := _next(rows)) is not None:
        number += 1
        where = f"row {number}"
        if isinstance(row, str):
            yield Refused(where, "a row that cannot be read", row)
        elif len(row) != len(header):
            if row:
                yield Refused(where, "a row with too few or too many cells", f"{len(row)} of {len(header)}")
            else:
                number -= 1
        else:
            yield made(said_in([{"role": "user", "content": row[place]}]), source=path.name, place=where)


def _next(rows: Iterator[list[str]]) -> "list[str] | str | None":
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(rows, None)
    except csv.Error as error:
        return str(error)
    finally:
        csv.field_size_limit(before)


def delimiter(header: str) -> str:
    """What separates the cells of a header: a tab, a semicolon or a comma, whichever there is most of."""
    return max((",", "\t", ";"), key=header.count)


def _column(path: Path, header: Sequence[str], column: str | None) -> tuple[int, bool]:
    """Number of the column, and whether it was guessed."""
    listed = ", ".join(map(repr, header[:20]))
    if column is not None:
        if header.count(column) != 1:
            raise CounterfactualError(
                f"{path} has {header.count(column) or 'no'} columns that are called {column!r}.",
                f"Name one of its columns: {listed}.",
            )
        return header.index(column), False
    lower = [name.strip().lower() for name in header]
    if (guess := guessed_column(lower)) is not None:
        return lower.index(guess), len(header) > 1
    raise CounterfactualError(f"No column of {path} is known to hold prompts.", f"Name its column: one of {listed}.")


def guessed_column(header: Sequence[str]) -> str | None:
    """The column of a header, in lower case, that holds prompts by its name, or that is the only one."""
    return next((name for name in NAMES if name in header), header[0] if len(header) == 1 else None)
