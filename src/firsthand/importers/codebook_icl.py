"""Importer for the codebook-in-context study: confirmation episodes with five arms, and seeds of a trained reporter.

*Confirmation* (one JSON object an episode): four demonstrations and a query share one visible text; each span carries a
hidden direction of sign plus or minus one, and the demonstrations show which label a sign has. The arms differ in the
direction: none (``clean``), the concept's (``target``), another (``random``), the concept's with shuffled coordinates
(``shuffled``), or the concept's on the query alone (``test_only``). Twins differ in the query's sign only.

*Training* (one JSON object an answer): a reporter trained on other concepts, the same before training (``base``), and
the trained one on the concepts of its training (``trained_seen_bank``), from several seeds.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Source
from firsthand.analysis.imported_study import NOBODY, ImportedStudy
from firsthand.analysis.repeats import collapse
from firsthand.importers.base import Imported, ImporterError
from firsthand.importers.reading import Column, Read, Schema, read_jsonl, shown_names
from firsthand.trials.canonical import digest
from firsthand.vocabulary import Capability, Kind

CONFIRM = "codebook_icl_confirm_v2_raw.jsonl"
TRAINING = re.compile(r"^report_training_v3_seed(\d+)_raw\.jsonl$")
ARMS = ("clean", "target", "random", "shuffled", "test_only")

TEXT, EXTRA = Column("text"), Column("text", "extra")
_SCORES: Schema = {
    "predicted_label": EXTRA,
    "correct": Column("flag", "extra"),
    "direction_sha256": EXTRA,
    "format_ok": Column("flag", "extra"),
    "label_mass": Column("number", "extra"),
    **{
        f"{kind}.{label}": Column("number", "extra")
        for kind in ("conditional_probs", "full_logprobs")
        for label in "QK"
    },
}
_ARM: Schema = {f"condition_scores.{arm}.{name}": column for arm in ARMS for name, column in _SCORES.items()}
CONFIRM_SCHEMA: Schema = {
    "concept": TEXT,
    "carrier_id": TEXT,
    "cell_id": TEXT,
    "correct_label": TEXT,
    "query_sign": TEXT,
    "demo_signs": EXTRA,
    "prompt_sha256": TEXT,
    **_ARM,
    **dict.fromkeys(
        (
            *("config_sha256", "episode_sha256", "prompt", "schema_version", "state_token_positions"),
            *("token_ids", "token_ids_sha256", "label_mapping.+1", "label_mapping.-1"),
        ),
        EXTRA,
    ),
}
TRAINING_SCHEMA: Schema = {
    "arm": TEXT,
    "condition": TEXT,
    "concept": TEXT,
    "carrier_sha256": TEXT,
    "sign": TEXT,
    "prompt_sha256": TEXT,
    "expected_label": Column("text", "outcome"),
    "predicted_label": Column("text", "outcome"),
    "correct": Column("flag", "outcome"),
    "label_mass": Column("number", "extra"),
    "signed_margin": Column("number", "extra"),
    "direction_sha256": EXTRA,
    "carrier": EXTRA,
    "correct_probability": Column("number", "extra"),
    "format_ok": Column("flag", "extra"),
    "marker_position": EXTRA,
}


class CodebookIcl:
    """Reads the raw JSONL files of the study."""

    name = "codebook_icl"
    title = "A codebook for hidden directions, learnt in context or by training (JSONL files)"

    def read(self, folder: Path) -> Imported:
        """Read the confirmation episodes and every seed of the trained reporter that is there."""
        present = sorted(path.name for path in folder.iterdir() if path.is_file())
        seeds = {int(found.group(1)): name for name in present if (found := TRAINING.match(name))}
        if CONFIRM not in present and not seeds:
            raise ImporterError(
                f"{folder} holds neither {CONFIRM} nor report_training_v3_seed0_raw.jsonl and the like.",
                "Name the folder with the published raw files.",
            )
        studies: list[ImportedStudy] = []
        sources: list[Source] = []
        notes: list[str] = []
        if CONFIRM in present:
            try:
                read = read_jsonl(folder / CONFIRM, CONFIRM_SCHEMA)
                studies.append(_confirm(read))
                sources.append(read.source)
            except ImporterError as error:
                notes.append(f"left out: {error.problem}")
        else:
            notes.append(f"{CONFIRM} is not there; its study is left out")
        trained, used = _training(folder, seeds, notes)
        studies += [] if trained is None else [trained]
        sources += used
        _note_unused(present, seeds, notes)
        if not studies:
            raise ImporterError(
                f"No file in {folder} could be used. {' '.join(notes)}", "Restore the files as published."
            )
        return Imported(tuple(studies), tuple(sources), tuple(notes))


def _key(value: object) -> str:
    """A part of an input as text; a missing one is no text."""
    return "" if value is None or value != value else str(value)


def _note_unused(present: list[str], seeds: dict[int, str], notes: list[str]) -> None:
    if not seeds:
        notes.append("no file of a training seed is there; its study is left out")
    summaries = [name for name in present if name.endswith((".json", ".txt"))]
    if summaries:
        notes.append(f"not read, since everything is computed anew from the raw files: {shown_names(summaries)}")
    other = [name for name in present if name not in {CONFIRM, *seeds.values(), *summaries}]
    if other:
        notes.append(f"unknown files are left out: {shown_names(other)}")


def _confirm(read: Read) -> ImportedStudy:
    table, notes = read.table, list(read.notes)
    parts = []
    for arm in ARMS:
        prefix = f"condition_scores.{arm}."
        if f"{prefix}correct" not in table or not table[f"{prefix}correct"].notna().any():
            notes.append(f"{read.source.file}: arm {arm} has no scores and is left out")
            continue
        parts.append(_arm_rows(table, arm, prefix))
    if not parts:
        raise ImporterError(f"{read.source.file} has no scored arm.", "Restore the file as published.")
    rows = pd.concat(parts, ignore_index=True)
    return ImportedStudy(
        name="codebook-confirm",
        title="Which label has the hidden direction of the query, by a codebook shown in four demonstrations?",
        capability=Capability.IDENTIFICATION,
        table=collapse(rows, ["arm", "input_hash", "truth", "answer", "contrast"]),
        clusters=("concept", "carrier"),
        options=("Q", "K"),
        main_arm="target",
        crossed=("concept", "carrier"),
        published_rows=read.source.rows,
        notes=tuple(notes),
    )


def _arm_rows(table: pd.DataFrame, arm: str, prefix: str) -> pd.DataFrame:
    """One row an episode under one arm; the input is what went into the forward pass, edits included."""

    def of(name: str) -> pd.Series:
        full = f"{prefix}{name}"
        return table[full] if full in table else pd.Series(np.nan, index=table.index)

    used = arm != "clean"
    signs = table["demo_signs"] if "demo_signs" in table else table["cell_id"]
    direction = of("direction_sha256").astype(object)
    told = used and arm != "test_only"
    inputs = [
        digest([_key(prompt), _key(vector) if used else "", _key(query) if used else "", _key(demo) if told else ""])
        for prompt, vector, query, demo in zip(
            table["prompt_sha256"], direction, table["query_sign"], signs, strict=True
        )
    ]
    mapping = table["cell_id"].str.replace(r"q[+-]\d+$", "", regex=True)
    return pd.DataFrame(
        {
            "trial_id": [f"{arm}-{row}" for row in table["row"]],
            "row": table["row"],
            "arm": arm,
            "kind": {"clean": Kind.BASELINE.value, "target": Kind.TARGET.value}.get(arm),
            "repeats": 1,
            "identical": True,
            "concept": table["concept"] if used else NOBODY,
            "carrier": table["carrier_id"],
            "truth": table["correct_label"],
            "answer": of("predicted_label"),
            "correct": of("correct"),
            "contrast": of("full_logprobs.Q") - of("full_logprobs.K"),
            "coverage": of("label_mass"),
            "input_hash": inputs,
            "prompt_hash": table["prompt_sha256"],
            "state": table["query_sign"],
            "twin": [f"{c}/{k}/{m}" for c, k, m in zip(table["concept"], table["carrier_id"], mapping, strict=True)],
        }
    )


def _training(folder: Path, seeds: dict[int, str], notes: list[str]) -> tuple[ImportedStudy | None, list[Source]]:
    parts: list[pd.DataFrame] = []
    sources: list[Source] = []
    said: list[str] = []
    for seed, name in sorted(seeds.items()):
        try:
            read = read_jsonl(folder / name, TRAINING_SCHEMA)
        except ImporterError as error:
            notes.append(f"left out: {error.problem}")
            continue
        parts.append(_seed_rows(read.table, seed))
        sources.append(read.source)
        said += read.notes
    if not parts:
        return None, []
    rows = pd.concat(parts, ignore_index=True)
    if not (rows["arm"].eq("trained target") & rows["correct"].notna()).any():
        notes.append("left out: the training files have no scored row of the trained reporter on target directions")
        return None, []
    return (
        ImportedStudy(
            name="trained-reporter",
            title="Which sign has the hidden direction? A reporter trained on other concepts",
            capability=Capability.IDENTIFICATION,
            table=collapse(
                rows, ["arm", "input_hash", "truth", "answer", *(["coverage"] if "coverage" in rows else [])]
            ),
            clusters=("concept", "carrier", "seed"),
            options=("Q", "K"),
            main_arm="trained target",
            crossed=("concept", "carrier"),
            within="seed",
            published_rows=sum(source.rows for source in sources),
            notes=tuple(said),
        ),
        sources,
    )


def _seed_rows(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """One row an answer. The untrained model is the same in every seed's file, so it has no seed."""
    clean = table["condition"].eq("clean")
    base = table["arm"].eq("base")
    model = np.where(base, "base", f"seed {seed}")
    words = {"base": "untrained", "trained": "trained", "trained_seen_bank": "trained, seen concepts"}
    names = [
        f"{'untrained' if arm == 'base' else 'trained'} clean" if empty else f"{words.get(arm, arm)} {condition}"
        for arm, condition, empty in zip(table["arm"], table["condition"], clean, strict=True)
    ]
    concept = table["concept"].where(~clean, NOBODY)
    direction = table["direction_sha256"] if "direction_sha256" in table else table["condition"]
    direction = direction.astype(object).where(~clean, None)
    inputs = [
        digest([_key(part) for part in parts])
        for parts in zip(model, table["prompt_sha256"], concept, direction, table["sign"], strict=True)
    ]
    kinds = [
        Kind.BASELINE.value if empty else Kind.TARGET.value if condition == "target" else None
        for empty, condition in zip(clean, table["condition"], strict=True)
    ]
    optional = {name: table[name] for name in ("signed_margin", "label_mass") if name in table}
    optional = {{"label_mass": "coverage"}.get(name, name): values for name, values in optional.items()}
    return pd.DataFrame(
        {
            "trial_id": [f"seed{seed}-{row}" for row in table["row"]],
            "row": table["row"],
            "arm": names,
            "kind": kinds,
            "repeats": 1,
            "identical": True,
            "concept": concept,
            "carrier": table["carrier_sha256"].str[:12],
            "seed": np.where(base, NOBODY, str(seed)),
            "truth": table["expected_label"],
            "answer": table["predicted_label"],
            "correct": table["correct"],
            "scorable": ~clean,
            "input_hash": inputs,
            "prompt_hash": table["prompt_sha256"],
            "state": table["sign"],
            "twin": [f"{m}/{c}/{k}" for m, c, k in zip(model, concept, table["carrier_sha256"].str[:12], strict=True)],
            **optional,
        }
    )
