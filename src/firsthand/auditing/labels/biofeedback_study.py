"""The biofeedback study: from a claim, a model and labelled texts to a run folder with a trace and verdicts."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from firsthand.auditing.labels.biofeedback import observed
from firsthand.auditing.labels.biofeedback_findings import finding_of
from firsthand.auditing.labels.biofeedback_known import known_answers
from firsthand.auditing.labels.finishing import finish
from firsthand.auditing.labels.regulating import regulation_finding
from firsthand.auditing.running import bindings_of, card_of, examined, settle, settle_further
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.engine import LoadedModel, load
from firsthand.progress import Progress, Silent, tracked
from firsthand.report.labels_document import DataCard, LabelsDocument
from firsthand.studies.labels.biofeedback import COLUMNS, TARGET, Bench, conversation_rows, prepare
from firsthand.studies.labels.examples import Examples
from firsthand.studies.labels.outsiders import READS, READS_OWN, Outsider, outsider_of, outsider_rows
from firsthand.studies.labels.regulation import COLUMNS as REGULATION_COLUMNS
from firsthand.studies.labels.regulation import regulation_rows
from firsthand.trials.keeping import Columns, kept
from firsthand.trials.trace import Trace

TITLE = "Biofeedback"

PUBLISHED = (
    "arXiv 2605.26242, section 5.1.2 and Figure 2, Llama 3.1 8B and 70B Instruct on the commonsense part of ETHICS: "
    "right answers on labels of a probe of the data's own labels are considerably above chance, on those of a probe of "
    "permuted labels close to the most frequent label; probes of the embedding follow the models' answers on the "
    "first principal component closely. The text prints no numbers, so none stand beside these.",
)
"""What is published of this design, in words: its curves are pictures."""

LIMITS = (
    "A text's state is a function of the text: whoever knows the model can compute the label. What a report may show "
    "is access beyond observers of the means that are named here.",
    "The labels are of directions at some layers, parted in two. Other directions, layers and ways of reading a text's "
    "state may come out otherwise.",
    "Layers are judged together. The curve by layer is shown, and no layer was chosen by it. Intervals are over texts "
    "and conversations for these very axes: another fit of a probe is another axis.",
    "Each kind of axis is judged by itself, at the level of the claim; nothing is corrected over kinds.",
    "Answers are forced choices between two names of labels; coverage says how much of the probability they hold.",
    "A denial is not a proof of absence, and functional access, where shown, says nothing about experience.",
)
"""What a biofeedback study does not show."""


@dataclass(frozen=True)
class BiofeedbackRun:
    """A finished study and its rows."""

    folder: Path
    document: LabelsDocument
    table: pd.DataFrame


def biofeedback(
    claim: BiofeedbackClaim,
    examples: Examples,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/biofeedback",
    progress: Progress | None = None,
    *,
    source: str = "labelled texts",
    reproduce: Sequence[str] = (),
) -> BiofeedbackRun:
    """Run a biofeedback study, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is run.
        examples: The labelled texts that it names.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.
        source: What the data are called in the report.
        reproduce: Commands that repeat the study, for the report.

    Raises:
        FirsthandError: If the folder holds another claim, the data do not fit, or a conversation cannot be run.
    """
    progress, folder = progress or Silent(), Path(folder)
    loaded = model or load(claim.model)
    frozen = FrozenLabels.of(claim, bindings_of(loaded))
    settle(folder, frozen, loaded)
    notes = examined(loaded, progress)
    progress.say("reading the states of the texts")
    bench = prepare(loaded, examples, claim)
    conversations = partial(conversation_rows, bench)
    table = _kept(bench, Trace(folder / "trace"), "conversations", conversations, COLUMNS, progress)
    outsiders = _outsiders(bench, loaded, folder, progress)
    told = {name: _read(bench, outsider, folder, progress) for name, outsider in outsiders.items()}
    table = _observed(bench, table, outsiders, told, progress)
    moved = _regulated(bench, folder, progress)
    progress.say("judging")
    tables = {str(axis): rows.reset_index(drop=True) for axis, rows in table.groupby("axis", sort=False)}
    findings = [finding_of(bench, rows, axis) for axis, rows in tables.items()]
    judged = {one.name: one.results[0] for one in findings}
    if moved is not None:
        findings.append(regulation_finding(moved, claim.analysis, claim.regulated_after))
    document = finish(
        folder,
        TITLE,
        frozen,
        [card_of(loaded), *(card_of(outsider.loaded) for outsider in outsiders.values())],
        _data(source, examples, bench),
        findings,
        published_sources=PUBLISHED,
        known_answers=known_answers(tables, judged, claim),
        limits=LIMITS,
        reproduce=reproduce,
        notes=notes,
    )
    return BiofeedbackRun(folder, document, table)


def _data(source: str, examples: Examples, bench: Bench) -> DataCard:
    return DataCard(
        name=source,
        sha256=bench.claim.data_sha256,
        used={"to fit the axes": len(bench.fit), "to draw conversations from": len(bench.held_out)},
        dropped=dict(examples.dropped),
        classes=examples.classes,
    )


def _kept(
    bench: Bench, trace: Trace, what: str, make: Callable[[int], pd.DataFrame], columns: Columns, progress: Progress
) -> pd.DataFrame:
    """The rows of every conversation, from the trace where they are finished there."""
    numbers = [number for layer in bench.states.layers for number in bench.experiments(layer)]
    units = [f"conversation.{number:03d}" for number in numbers]
    frames = []
    for number, unit in tracked(list(zip(numbers, units, strict=True)), what, len(units), progress):
        frames += kept(trace, [unit], partial(_made, make, number), columns)
    trace.finish(units, {"study": "biofeedback"})
    return pd.concat(frames, ignore_index=True)


def _made(make: Callable[[int], pd.DataFrame], number: int) -> list[pd.DataFrame]:
    return [make(number)]


def _outsiders(bench: Bench, loaded: LoadedModel, folder: Path, progress: Progress) -> dict[str, Outsider]:
    """The other language models that the claim names, each with its states of all texts."""
    found = {}
    for name in bench.claim.readers:
        progress.say(f"loading {name}, and reading the states of the texts in it")
        other = load(name, device=loaded.device.split()[0], dtype=loaded.dtype)
        settle_further(folder, other)
        found[name] = outsider_of(bench, other)
    return found


def _read(bench: Bench, outsider: Outsider, folder: Path, progress: Progress) -> pd.DataFrame:
    name = outsider.loaded.name
    short = re.sub(r"[^\w.-]+", "-", name).strip("-.")[-40:]  # names may end alike: the weights tell them apart
    trace = Trace(folder / "readers" / f"{short}-{outsider.loaded.weights_sha256[:8]}")
    return _kept(bench, trace, f"read by {name}", partial(outsider_rows, bench, outsider), COLUMNS, progress)


def _regulated(bench: Bench, folder: Path, progress: Progress) -> pd.DataFrame | None:
    if not bench.claim.regulated_after:
        return None
    trace = Trace(folder / "regulation")
    return _kept(bench, trace, "moving the state", partial(regulation_rows, bench), REGULATION_COLUMNS, progress)


def _observed(
    bench: Bench,
    table: pd.DataFrame,
    outsiders: Mapping[str, Outsider],
    told: Mapping[str, pd.DataFrame],
    progress: Progress,
) -> pd.DataFrame:
    """The rows with what observers give on the target's, and those in which other models' labels were told."""
    referents = {one.name: one for one in bench.referents}
    target = table[table["arm"] == TARGET]
    groups: Sequence[tuple[str, pd.DataFrame]] = [
        (str(name), rows.sort_values("place").reset_index(drop=True))
        for (name, _), rows in target.groupby(["referent", "experiment"], sort=False)
    ]
    with threadpool_limits(1):  # thousands of small fits, which several threads would slow down
        seen = [
            observed(bench, referents[name], rows, outsiders, told)
            for name, rows in tracked(groups, "observers", len(groups), progress)
        ]
    others = [rows[~rows["arm"].isin((READS, READS_OWN))] for rows in told.values()]
    return pd.concat([*seen, table[table["arm"] != TARGET], *others], ignore_index=True)
