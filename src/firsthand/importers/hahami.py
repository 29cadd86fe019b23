"""Importer for the injection study of arXiv 2512.12411 (Llama-3.1-8B): one CSV file a question.

Every row is one answer under one concept vector at one layer and coefficient, except in the localisation and layer
files, whose rows hold counts of right answers. The columns ``*_judge`` are another model's verdicts on the response.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Source
from firsthand.analysis.imported_study import NOBODY, ImportedStudy
from firsthand.analysis.repeats import collapse, unanimous
from firsthand.importers.base import Imported, ImporterError
from firsthand.importers.named_answers import first_word, last_named
from firsthand.importers.reading import Column, Read, Schema, read_csv, shown_names
from firsthand.vocabulary import Capability, Kind

TEXT, NUMBER = Column("text"), Column("number")
_VECTOR: Schema = {"concept": TEXT, "vec_type": TEXT}
_CELL: Schema = {**_VECTOR, "layer": NUMBER, "coeff": NUMBER}
_FLAG, _EXTRA_FLAG = Column("flag", "outcome"), Column("flag", "extra")
_NAMED = "affirmative_response_followed_by_correct_identification_judge"
_AFFIRMED = "affirmative_response_judge"
_JUDGES: Schema = {
    "coherence_judge": _EXTRA_FLAG,
    "thinking_about_word_judge": _EXTRA_FLAG,
    _AFFIRMED: _EXTRA_FLAG,
    _NAMED: _EXTRA_FLAG,
    "mcq_correct_judge": _EXTRA_FLAG,
    "injection_strength_correct_judge": _EXTRA_FLAG,
}
_JUDGED: Schema = {
    **_CELL,
    **_JUDGES,
    "type": Column("text", "extra"),
    "assistant_tokens_only": _EXTRA_FLAG,
    "expected_strength_category": Column("text", "extra"),
    "response": Column("text", "extra"),
}
_COUNTS: Schema = {
    "num_trials": Column("number", "extra"),
    "accuracy": Column("number", "extra"),
    "correct_predictions": Column("number", "outcome"),
    "total_predictions": NUMBER,
    "chance_level": Column("number", "extra"),
}

STRENGTHS = ("Weak", "Moderate", "Strong", "Very strong")


@dataclass(frozen=True)
class _File:
    name: str
    schema: Schema
    make: Callable[[str, Read], ImportedStudy]


class Hahami:
    """Reads the published CSV files of the study."""

    name = "hahami"
    title = "Injected concepts in Llama-3.1-8B: detection, strength, layer, place (CSV files of arXiv 2512.12411)"

    def read(self, folder: Path) -> Imported:
        """Read every file of the study that is there."""
        present = {path.name for path in folder.iterdir() if path.suffix == ".csv"}
        known = {file.name for file in FILES}
        if not present & known:
            raise ImporterError(
                f"{folder} holds none of this study's files: {', '.join(sorted(known))}.",
                "Name the folder with the published CSV files.",
            )
        studies: list[ImportedStudy] = []
        sources: list[Source] = []
        notes: list[str] = []
        for file in FILES:
            if file.name not in present:
                notes.append(f"{file.name} is not there; its study is left out")
                continue
            try:
                read = read_csv(folder / file.name, file.schema)
                studies.append(file.make(file.name, read))
                sources.append(read.source)
            except ImporterError as error:
                notes.append(f"left out: {error.problem}")
        if present - known:
            notes.append(f"unknown files are left out: {shown_names(sorted(present - known))}")
        if not studies:
            raise ImporterError(
                f"No file in {folder} could be used. {' '.join(notes)}", "Restore the files as published."
            )
        return Imported(tuple(studies), tuple(sources), tuple(notes))


def _base(table: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The columns that every study has; a row is one answer under an injection."""
    made = table.copy()
    made["trial_id"] = [f"{prefix}-{row}" for row in made["row"]]
    made["kind"], made["repeats"], made["identical"] = Kind.TARGET.value, 1, True
    return made


def _needed(read: Read, *columns: str) -> None:
    missing = [name for name in columns if name not in read.table or not read.table[name].notna().any()]
    if missing:
        raise ImporterError(
            f"{read.source.file} has no values in {', '.join(missing)}, without which nothing can be scored.",
            "Restore the file as published.",
        )


def _detection(name: str, read: Read) -> ImportedStudy:
    _needed(read, _NAMED)
    table = _base(read.table, "detection")
    named = table[_NAMED]
    coherent = table["coherence_judge"] if "coherence_judge" in table else pd.Series(1.0, index=table.index)
    table["correct"] = np.where(named.notna() & coherent.notna(), (named == 1.0) & (coherent == 1.0), np.nan)
    if "coherence_judge" in table and table["coherence_judge"].notna().all():
        table["coherent"] = table["coherence_judge"] == 1.0
    if _AFFIRMED in table:
        table["answer"] = table[_AFFIRMED].map({1.0: "yes", 0.0: "no"})
    same = [*_CELL, "response"] if "response" in table else ["row"]
    return ImportedStudy(
        name="detection",
        title="Is there an injected thought, and of what? A success is coherent, says yes, and then names the concept",
        capability=Capability.DETECTION,
        table=collapse(table, same),
        clusters=("concept",),
        cells=("layer", "coeff", "vec_type"),
        options=("yes", "no"),
        dose="coeff",
        published_rows=read.source.rows,
        notes=read.notes,
    )


def _strength(name: str, read: Read) -> ImportedStudy:
    judged = "injection_strength_correct_judge"
    _needed(read, judged, "expected_strength_category")
    table = _base(read.table, "strength")
    table["truth"], table["correct"] = table["expected_strength_category"], table[judged]
    notes = list(read.notes)
    without = table["truth"].isna()
    if without.any():
        notes.append(f"{read.source.file}: {int(without.sum())} rows name no right answer and are left out")
    if "response" in table:
        table["answer"] = [last_named(text, STRENGTHS) for text in table["response"]]
        scored = table[table["correct"].notna() & ~without]
        agree = (scored["answer"].eq(scored["truth"]) == scored["correct"].eq(1.0)).mean()
        notes.append(
            f"{read.source.file}: the category given is the last one that the response names; scored by it, "
            f"{100 * float(agree):.1f}% of rows agree with the file's own judge, whose score is the one used"
        )
    table = table[~without]
    same = [*_CELL, "response"] if "response" in table else ["row"]
    return ImportedStudy(
        name="strength",
        title="How strong is the injected thought? Answered in words, in one of four categories",
        capability=Capability.CHARACTERISATION,
        table=collapse(table, same),
        clusters=("concept",),
        cells=("layer", "coeff", "vec_type"),
        options=STRENGTHS,
        dose="coeff",
        published_rows=read.source.rows,
        notes=tuple(notes),
    )


def _control(name: str, read: Read) -> ImportedStudy:
    table = _base(read.table, "control")
    quiet = table["coeff"].eq(0.0)
    table.loc[quiet, "kind"] = Kind.BASELINE.value
    table.loc[quiet, ["concept", "vec_type"]] = NOBODY  # nothing was injected, so no vector went in
    table["contrast"] = table["logit_diff"]
    table["answer"] = [first_word(text, ("yes", "no")) for text in table["response"]]
    table["_layer"] = table["layer"].where(~quiet, -1.0)
    return ImportedStudy(
        name="control-question",
        title="The same injections under a question whose answer is no",
        capability=Capability.DETECTION,
        table=collapse(table, ["concept", "vec_type", "_layer", "coeff", "contrast", "response"]).drop(
            columns="_layer"
        ),
        clusters=("concept",),
        cells=("layer", "coeff"),
        options=("yes", "no"),
        control=True,
        dose="coeff",
        published_rows=read.source.rows,
        notes=read.notes,
    )


def _counted(read: Read, prefix: str) -> pd.DataFrame:
    """Rows that hold counts of right answers."""
    table = _base(read.table, prefix)
    total, right = table["total_predictions"], table["correct_predictions"]
    possible = (total > 0) & (right.isna() | ((right >= 0) & (right <= total)))
    if not possible.all():
        row = int(table.loc[~possible, "row"].iloc[0])
        raise ImporterError(
            f"{read.source.file} has more right answers than answers, or none at all, in row {row}.",
            "Restore the file as published.",
        )
    table["correct"], table["repeats"] = right / total, total.astype(np.int64)
    table["identical"] = False
    return table


def _stated_chance(table: pd.DataFrame) -> float | None:
    if "chance_level" not in table:
        return None
    values = table["chance_level"].dropna().unique()
    return float(values[0]) if len(values) == 1 else None


def _layer(name: str, read: Read) -> ImportedStudy:
    _needed(read, "correct_predictions")
    table = _counted(read, "layer")
    table["truth"] = table["expected_category"]
    table["identical"] = unanimous(table["correct"].to_numpy(dtype=np.float64))
    return ImportedStudy(
        name="layer",
        title="At which depth was it injected? One of three categories",
        capability=Capability.LOCALISATION,
        table=table,
        clusters=("concept",),
        cells=("injection_layer", "coeff"),
        options=("Early", "Middle", "Late"),
        chance=_stated_chance(table),
        dose="coeff",
        published_rows=read.source.rows,
        notes=read.notes,
    )


def _place(name: str, read: Read) -> ImportedStudy:
    _needed(read, "correct_predictions")
    table = _counted(read, "place")
    places = set(read.table["num_sentences"]) if "num_sentences" in read.table else set()
    count = f"{places.pop():.0f}" if len(places) == 1 else "several"
    return ImportedStudy(
        name=name.removeprefix("output_").removesuffix(".csv").replace("_", "-"),
        title=f"Into which of {count} sentences was it injected?{' (second sweep)' if 'sweep2' in name else ''}",
        capability=Capability.LOCALISATION,
        table=table,
        clusters=("concept",),
        cells=("layer", "coeff"),
        chance=_stated_chance(table),
        dose="coeff",
        published_rows=read.source.rows,
        notes=read.notes,
    )


def _relative(name: str, read: Read) -> ImportedStudy:
    _needed(read, "expected_stronger", "is_correct")
    table = _base(read.table, "relative")
    options = ("FIRST", "SECOND")
    notes = list(read.notes)
    placed = table["expected_stronger"].isin(options)
    if not placed.all():
        notes.append(
            f"{read.source.file}: {int((~placed).sum())} rows expect neither FIRST nor SECOND and are left out"
        )
        table = table[placed]
    other = {"FIRST": "SECOND", "SECOND": "FIRST"}
    table["truth"], table["correct"] = table["expected_stronger"], table["is_correct"]
    table["answer"] = [
        None if np.isnan(right) else (truth if right else other[truth])
        for truth, right in zip(table["truth"], table["correct"], strict=True)
    ]
    if "logit_diff" in table:
        table["contrast"] = table["logit_diff"]
    weaker = np.minimum(table["coeff_first"], table["coeff_second"])
    stronger = np.maximum(table["coeff_first"], table["coeff_second"])
    table["pair"] = [f"{low:g} against {high:g}" for low, high in zip(weaker, stronger, strict=True)]
    return ImportedStudy(
        name="relative-strength",
        title="Which of two injections into the same text is the stronger? Every pair in both orders",
        capability=Capability.CHARACTERISATION,
        table=table,
        clusters=("concept",),
        cells=("layer",),
        options=options,
        pair=("pair", "vec_type"),
        published_rows=read.source.rows,
        notes=tuple(notes),
    )


_LOGITS: Schema = {name: Column("number", "outcome") for name in ("logit_yes", "logit_no", "logit_diff")}
_PLACE: Schema = {**_CELL, "num_sentences": Column("number", "extra"), **_COUNTS}
FILES: tuple[_File, ...] = (
    _File("output_anthropic_reproduce.csv", _JUDGED, _detection),
    _File("output_control_question.csv", {**_JUDGED, **_LOGITS, "response": Column("text", "outcome")}, _control),
    _File("output_injection_strength.csv", _JUDGED, _strength),
    _File(
        "output_relative_strength.csv",
        {
            **_VECTOR,
            "layer": NUMBER,
            "coeff_first": NUMBER,
            "coeff_second": NUMBER,
            "expected_stronger": TEXT,
            "is_correct": _FLAG,
            "logit_first": Column("number", "extra"),
            "logit_second": Column("number", "extra"),
            "logit_diff": Column("number", "extra"),
            "region_first_tokens": Column("text", "extra"),
            "region_second_tokens": Column("text", "extra"),
        },
        _relative,
    ),
    _File(
        "output_layer_detection_logit.csv",
        {**_VECTOR, "injection_layer": NUMBER, "expected_category": TEXT, "coeff": NUMBER, **_COUNTS},
        _layer,
    ),
    _File("output_localization_10sent_sweep2.csv", _PLACE, _place),
    _File("output_localization_10sent.csv", _PLACE, _place),
    _File("output_localization_5sent.csv", _PLACE, _place),
)
