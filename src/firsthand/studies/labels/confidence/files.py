"""Multiple-choice questions from files: MMLU's layout without a header, named columns, or a folder of such files."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firsthand.errors import LabelsError
from firsthand.studies.labels.confidence.marks import LETTERS, Raw, meant_by
from firsthand.studies.labels.tables import Record, read_records

QUESTION_COLUMNS: Final = ("question", "prompt", "query", "stem", "input")
OPTION_COLUMNS: Final = ("options", "choices", "answers")
ANSWER_COLUMNS: Final = ("answer", "label", "target", "answerkey", "answer_key", "correct", "gold")
SUBJECT_COLUMNS: Final = ("subject", "category", "group", "topic", "task")
ENDINGS: Final = (".csv", ".jsonl", ".json", ".parquet")


@dataclass(frozen=True)
class Columns:
    """Names of columns, where they are not to be guessed.

    Attributes:
        question: Column of the questions.
        options: Column that holds all options as a list, or the columns of the single options.
        answer: Column of the right answer: a letter, the option's own text, or its number.
        subject: Column of what a question is about.
    """

    question: str | None = None
    options: tuple[str, ...] = ()
    answer: str | None = None
    subject: str | None = None


def read_raw(path: Path, columns: Columns) -> list[tuple[Raw, int | None]]:
    """The questions of a file or folder with the number of the right option, ``None`` where it names none.

    Raises:
        LabelsError: If nothing there can be read as questions, or answers can be read in two ways.
    """
    guessed = columns == Columns()
    files = {
        file: (_headerless(file) if guessed else []) or _named(file, read_records(file), columns)
        for file in _files(path)
    }
    return meant_by(files)


def _files(path: Path) -> list[Path]:
    if not path.is_dir() or any((path / name).exists() for name in ("dataset_info.json", "state.json")):
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in ENDINGS)
    if not found:
        raise LabelsError(
            f"The folder {path} holds no file of questions.", f"Give files ending in {', '.join(ENDINGS)}."
        )
    return found


def _subject_of(path: Path) -> str:
    name = path.stem
    return next((name.removesuffix(end) for end in ("_test", "_dev", "_val") if name.endswith(end)), name)


def _headerless(path: Path) -> list[Raw]:
    """Rows of MMLU's layout: question, two options or more, and the letter of one of them; none for another layout."""
    if path.suffix.lower() != ".csv":
        return []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except (OSError, ValueError, csv.Error):
        return []  # what is wrong with it is told by the reader of named columns
    if not rows or not 4 <= len(rows[0]) <= len(LETTERS) + 2 or _is_header(rows[0]):
        return []
    if not _ends_in_letter(rows[0]) or 2 * sum(map(_ends_in_letter, rows)) <= len(rows):
        return []
    subject = _subject_of(path)
    # A row of another length keeps its fields; it is counted as malformed or without an answer later on.
    return [Raw(row[0].strip(), tuple(field.strip() for field in row[1:-1]), row[-1].strip(), subject) for row in rows]


def _is_header(row: Sequence[str]) -> bool:
    """Whether a row names columns: one of questions and one of answers."""
    names = {field.strip().lower() for field in row}
    return bool(names & set(QUESTION_COLUMNS)) and bool(names & set(ANSWER_COLUMNS))


def _ends_in_letter(row: Sequence[str]) -> bool:
    mark = row[-1].strip().upper()
    return len(mark) == 1 and mark in LETTERS[: max(0, len(row) - 2)]


def _named(path: Path, rows: Sequence[Record], columns: Columns) -> list[Raw]:
    names = list(rows[0])
    question = _column(path, names, "questions", columns.question, QUESTION_COLUMNS, "question")
    answer = _column(path, names, "answers", columns.answer, ANSWER_COLUMNS, "answer")
    options = _option_columns(path, names, columns.options, answer)
    given = columns.subject
    subject = (
        _column(path, names, "subjects", given, (), "group")
        if given is not None
        else next((n for common in SUBJECT_COLUMNS for n in names if n.strip().lower() == common), None)
    )
    return [
        Raw(
            _text(row[question]),
            _options([row[name] for name in options]),
            _text(row[answer]),
            (_text(row[subject]) if subject is not None else "") or _subject_of(path),
        )
        for row in rows
    ]


def _column(path: Path, names: Sequence[str], what: str, given: str | None, common: Sequence[str], option: str) -> str:
    if given in names:
        return str(given)
    found = [n for c in common for n in names if n.strip().lower() == c] if given is None else []
    if found:
        return found[0]
    problem = f"no column '{given}'" if given is not None else f"no column that is known to hold {what}"
    raise LabelsError(
        f"{path} has {problem}; it has: {', '.join(map(str, names))}.", f"Name one of them by '{option}'."
    )


def _option_columns(path: Path, names: Sequence[str], given: Sequence[str], answer: str) -> list[str]:
    if given:
        return [_column(path, names, "options", name, (), "options") for name in given]
    whole = [n for c in OPTION_COLUMNS for n in names if n.strip().lower() == c and n != answer]
    if whole:
        return whole[:1]
    for pattern in ("{}", "option_{}", "choice_{}", "option {}", "option{}", "choice{}"):
        wanted = [pattern.format(letter).lower() for letter in LETTERS]
        single = [n for want in wanted for n in names if n.strip().lower() == want]
        if len(single) >= 2:
            return single
    raise LabelsError(
        f"{path} has no column that is known to hold options; it has: {', '.join(map(str, names))}.",
        "Name one that holds a list of them, or one for each, by 'options'.",
    )


def _options(values: Sequence[Any]) -> tuple[str, ...]:
    """Options of one row: a list, a list written as JSON, ``{"text": [...]}``, or one column each."""
    if len(values) > 1:
        return tuple(_text(value) for value in values if value is not None)
    value = values[0]
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return (value.strip(),)
    if isinstance(value, Mapping):
        value = value.get("text", list(value.values()))
    return tuple(_text(one) for one in value) if isinstance(value, (list, tuple)) else (_text(value),)


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN, which is how tables write nothing
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()
