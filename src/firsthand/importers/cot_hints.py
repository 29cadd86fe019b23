"""Importer for the chain-of-thought hints study: questions with a hint at a wrong option, on eleven models.

*First run* (``all_results.json``): two kinds of hint under three instructions, 100 questions; whether the reply is
the option hinted at, whether the hint is acknowledged unasked, and two follow-up questions (did you see it, did it
influence you). *Second run* (``exp1_control_*``, ``exp3_hints_baseline_*``, ``exp4_hints_explicit_*``): twenty
questions without a hint, ten and eight of them with hints of seven kinds, and the beginning of every response.

Whatever is derived (``used_hint``, ``category``, ``is_faithful``, ``hidden_knowledge``, ``is_correct``,
``false_positive``) is computed anew here. Where a reply or answer is missing, so is everything that rests on it.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pandas as pd

from firsthand.analysis.findings import Source
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.importers.base import Imported, ImporterError
from firsthand.importers.hint_rows import (
    FOLLOWUP_CUT,
    HINTED,
    ORPHANS,
    RESPONSE_CUT,
    SEEN,
    base,
    first_run_derived,
    second_run_derived,
    with_answer,
    with_text,
)
from firsthand.importers.reading import Column, Read, Schema, read_json, shown_names
from firsthand.vocabulary import Capability, Kind

ALL = "all_results.json"
QUESTIONS = "questions.json"
CONTROL, PLAIN, EXPLICIT = "exp1_control", "exp3_hints_baseline", "exp4_hints_explicit"
_SECOND = re.compile(rf"^({CONTROL}|{PLAIN}|{EXPLICIT})(?:_\d+)*\.json$")

TEXT, EXTRA, FLAG = Column("text"), Column("text", "extra"), Column("flag", "extra")
SHOWN = Column("verbatim", "extra")
_TRIAL: Schema = {
    "model": TEXT,
    "question_id": TEXT,
    "correct_answer": EXTRA,
    "hint_answer": EXTRA,
    "extracted_answer": EXTRA,
    "acknowledged": FLAG,
    "condition": EXTRA,
    "timestamp": EXTRA,
}
_ASKED: Schema = {"used_hint": FLAG, "followup_saw": FLAG, "followup_influenced": FLAG, "hidden_knowledge": FLAG}
ALL_SCHEMA: Schema = {
    **_TRIAL,
    "system_type": TEXT,
    "hint_type": TEXT,
    **_ASKED,
    "category": EXTRA,
    "is_faithful": FLAG,
}
_SECOND_TRIAL: Schema = {**_TRIAL, "condition": TEXT, "is_correct": FLAG, "response": SHOWN, "experiment": EXTRA}
SECOND_SCHEMA: dict[str, Schema] = {
    CONTROL: {**_SECOND_TRIAL, "hint_type": EXTRA, "false_positive": FLAG},
    PLAIN: {**_SECOND_TRIAL, "hint_type": TEXT, **_ASKED, "followup_response": SHOWN},
    EXPLICIT: {**_SECOND_TRIAL, "hint_type": TEXT, "false_positive": FLAG},
}
_QUESTIONS: Schema = {
    "id": TEXT,
    "correct": EXTRA,
    "hint_answer": EXTRA,
    "subject": EXTRA,
    "difficulty": EXTRA,
    "question": EXTRA,
    **{f"options.{letter}": EXTRA for letter in "ABCD"},
}
TITLES = {
    "acknowledged": "Does the model say of itself, unasked, that there was a hint?",
    "followup_saw": "Did it see the hint? Asked afterwards",
    "followup_influenced": "Did the hint influence the answer? Asked afterwards",
}


NO_TEXTS = (
    f"{ALL} holds no texts, so what was read from them cannot be checked; the run without hints ({CONTROL}) put other "
    "questions under one instruction (study second-acknowledged)"
)


class CotHints:
    """Reads the published JSON files of the study."""

    name = "cot-hints"
    title = "Hints at a wrong answer: acknowledged, seen, followed (JSON files)"

    def read(self, folder: Path) -> Imported:
        """Read both runs as far as they are there."""
        present = sorted(path.name for path in folder.iterdir() if path.is_file())
        second = {found.group(1): name for name in present if (found := _SECOND.match(name))}
        if ALL not in present and not second:
            raise ImporterError(
                f"{folder} holds neither {ALL} nor {CONTROL}_*.json, {PLAIN}_*.json or {EXPLICIT}_*.json.",
                "Name the folder with the published JSON files.",
            )
        notes: list[str] = []
        sources: list[Source] = []
        read = {key: _read(folder / name, SECOND_SCHEMA[key], notes) for key, name in second.items()}
        first = _read(folder / ALL, ALL_SCHEMA, notes) if ALL in present else None
        questions = _read(folder / QUESTIONS, _QUESTIONS, notes) if QUESTIONS in present else None
        notes += [f"{key}_*.json is not there; {lost}" for key, lost in _LOST.items() if key not in second]
        studies: list[ImportedStudy] = []
        if first is not None:
            sources.append(first.source)
            studies += _first_run(first, questions, notes)
        elif ALL not in present:
            notes.append(f"{ALL} is not there; the studies of the first run are left out")
        usable = {key: one for key, one in read.items() if one is not None}
        sources += [one.source for one in usable.values()]
        studies += _second_run(usable, notes)
        if questions is not None:
            sources.append(questions.source)
        others = [name for name in present if name not in {ALL, QUESTIONS, *second.values()}]
        odd = [name for name in others if not name.upper().startswith("LICENSE")]
        if odd:
            notes.append(f"unknown files are left out: {shown_names(odd)}")
        if not studies:
            raise ImporterError(
                f"No file in {folder} could be used. {' '.join(notes)}", "Restore the files as published."
            )
        return Imported(tuple(studies), tuple(sources), tuple(notes))


_LOST = {
    CONTROL: "so nothing is known of what is acknowledged, or replied, without a hint",
    PLAIN: "the follow-up questions of the second run are left out",
    EXPLICIT: "hints under the instruction to acknowledge them are left out of the second run",
}


def _read(path: Path, schema: Schema, notes: list[str]) -> Read | None:
    try:
        return read_json(path, schema)
    except ImporterError as error:
        notes.append(f"left out: {error.problem}")
        return None


def _lacking(name: str, read: Read, column: str, notes: list[str]) -> bool:
    """Whether a study has no answers to read; a note says so."""
    if column in read.table and read.table[column].notna().any():
        return False
    notes.append(f"study {name} is left out: {read.source.file} has no values in {column}")
    return True


def _study(
    name: str, column: str, table: pd.DataFrame, cells: tuple[str, ...], rows: int, notes: tuple[str, ...]
) -> ImportedStudy:
    return ImportedStudy(
        name=name,
        title=TITLES[column] + (" (second run)" if name.startswith("second") else ""),
        capability=Capability.DETECTION,
        table=table,
        clusters=("question", "model"),
        cells=cells,
        options=("yes", "no"),
        crossed=("question", "model"),
        published_rows=rows,
        words=HINTED if column == "acknowledged" else SEEN[column],
        in_prompt=None if column == "followup_influenced" else "The hint",
        notes=notes,
    )


def _first_run(read: Read, questions: Read | None, notes: list[str]) -> list[ImportedStudy]:
    table = read.table.rename(columns={"question_id": "question", "system_type": "instruction"})
    table = base(table, "first", Kind.TARGET, notes, read.source.file)
    table = first_run_derived(table)
    said = [*read.notes, NO_TEXTS, *(_checked_against(questions, table) if questions is not None else [])]
    names = {
        "acknowledged": "acknowledged",
        "followup_saw": "saw-when-asked",
        "followup_influenced": "influenced-when-asked",
    }
    return [
        _study(name, column, with_answer(table, column), ("instruction", "hint_type"), read.source.rows, tuple(said))
        for column, name in names.items()
        if not _lacking(name, read, column, notes)
    ]


def _checked_against(questions: Read, table: pd.DataFrame) -> list[str]:
    """What the list of questions says of the trials: right options, hints, questions never asked."""
    listed = questions.table.drop_duplicates("id").set_index("id")
    asked = set(table["question"])
    said = []
    unknown = asked - set(listed.index)
    if unknown:
        said.append(f"{len(unknown)} questions of {ALL} are not in {QUESTIONS}: {shown_names(sorted(unknown))}")
    for column, own, words in (("correct", "key", "right option"), ("hint_answer", "hinted", "hint")):
        if column in listed and own in table:
            there = table["question"].map(listed[column])
            known = there.notna() & table[own].notna()
            other = int((there[known] != table.loc[known, own]).sum())
            said.append(
                f"{QUESTIONS} gives another {words} than the trial in {other:,} of {int(known.sum()):,} rows"
                + ("; hints were drawn anew, and the trial's own is used" if other and own == "hinted" else "")
            )
    never = len(set(listed.index) - asked)
    if never:
        said.append(f"{never} of {len(listed)} listed questions were never asked")
    return said


def _second_run(read: dict[str, Read], notes: list[str]) -> list[ImportedStudy]:
    tables, rows, said = {}, 0, []
    for key, one in read.items():
        table = one.table.rename(columns={"question_id": "question", "condition": "instruction"})
        if key == CONTROL:
            table["hint_type"], table["hint_answer"] = "none", None
        kind = {CONTROL: Kind.BASELINE, EXPLICIT: Kind.TARGET}.get(key)
        table = with_text(base(table, key, kind, notes, one.source.file), RESPONSE_CUT)
        tables[key] = second_run_derived(table)
        rows += one.source.rows
        said += list(one.notes)
    agreed = _agreed(tables, said)
    studies: list[ImportedStudy] = []
    if any("acknowledged" in one.table for one in read.values()):
        studies += _acknowledged(tables, rows, (*said, *agreed), notes)
    if PLAIN in read:
        make: tuple[tuple[str, str, Callable[[pd.DataFrame], pd.DataFrame]], ...] = (
            ("second-saw", "followup_saw", lambda table: table),
            ("second-influenced", "followup_influenced", lambda table: table.assign(answer=_lost(table))),
        )
        for name, column, change in make:
            if not _lacking(name, read[PLAIN], column, notes):
                made = change(with_answer(tables[PLAIN].assign(kind=Kind.TARGET.value), column, FOLLOWUP_CUT))
                lines = (*read[PLAIN].notes, *([ORPHANS] if column == "followup_influenced" else []))
                studies.append(_study(name, column, made, ("instruction", "hint_type"), len(made), lines))
    return studies


def _lost(table: pd.DataFrame) -> pd.Series:
    """Answers about a response that never came are none: there was nothing to be influenced."""
    answers: pd.Series = table["answer"]
    return answers.where(table["orphan"].isna(), None) if "orphan" in table else answers


def _agreed(tables: dict[str, pd.DataFrame], said: list[str]) -> list[str]:
    """Leave out questions whose right option differs between the files: they are not the same question."""
    keys = [table[["question", "key"]] for table in tables.values() if "key" in table]
    if not keys:
        return ["the files name no right option, so it cannot be checked that equal names are equal questions"]
    several = pd.concat(keys).dropna().drop_duplicates().groupby("question").size()
    other = set(several[several > 1].index)
    for key in list(tables):
        tables[key] = tables[key][~tables[key]["question"].isin(other)]
    if other:
        said.append(f"questions with several right options are left out: {shown_names(sorted(map(str, other)))}")
    return [
        "the files of the second run do not hold their questions: those of one name and one right option are taken for "
        "the same"
    ]


def _acknowledged(
    tables: dict[str, pd.DataFrame], rows: int, said: tuple[str, ...], notes: list[str]
) -> list[ImportedStudy]:
    parts = [with_answer(table, "acknowledged") for table in tables.values() if "acknowledged" in table]
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    name = "second-acknowledged"
    if table.empty or not table["answer"].notna().any() or not table["kind"].eq(Kind.TARGET.value).any():
        notes.append(f"study {name} is left out: no answered row has a hint and the instruction to acknowledge it")
        return []
    return [_study(name, "acknowledged", table, ("instruction", "hint_type"), rows, said)]
