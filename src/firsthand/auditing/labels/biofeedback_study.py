"""The biofeedback study: from a claim, a model and labelled texts to a run folder with a trace and verdicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pandas as pd
from pydantic import BaseModel, ConfigDict

from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.auditing.labels.biofeedback import curve, judge, observed
from firsthand.auditing.running import bindings_of, examined, settle
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.engine import LoadedModel, load
from firsthand.progress import Progress, Silent, tracked
from firsthand.studies.labels.biofeedback import COLUMNS, TARGET, Bench, conversation_rows, prepare
from firsthand.studies.labels.examples import Examples
from firsthand.trials.files import write_json
from firsthand.trials.keeping import kept
from firsthand.trials.trace import Trace

BINS = 4
"""Parts of the curve of right answers by number of shots."""


class AxisResult(BaseModel):
    """What was found for the labels of one kind of axis, over all layers.

    Attributes:
        axis: Name of the axis: ``probe``, ``permuted``, ``pc1``, ...
        result: The verdict, with its reasons and observers.
        edges: Ends of the bins of the curve, in shots.
        curve: Share of right answers in each bin, of the report and of each observer; an observer has the last ones.
        by_layer: Share of right answers among those that are judged, by layer.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    axis: str
    result: CapabilityResult
    edges: tuple[int, ...]
    curve: dict[str, tuple[Estimate, ...]]
    by_layer: dict[int, Estimate]


class BiofeedbackResult(BaseModel):
    """A finished study: its claim, the hash of the claim, and one result for each kind of axis."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    claim: BiofeedbackClaim
    claim_hash: str
    classes: tuple[str, str]
    dropped: dict[str, int]
    notes: tuple[str, ...]
    axes: tuple[AxisResult, ...]


@dataclass(frozen=True)
class BiofeedbackRun:
    """A finished study and its rows."""

    folder: Path
    result: BiofeedbackResult
    table: pd.DataFrame


def biofeedback(
    claim: BiofeedbackClaim,
    examples: Examples,
    model: LoadedModel | None = None,
    folder: str | Path = "runs/biofeedback",
    progress: Progress | None = None,
) -> BiofeedbackRun:
    """Run a biofeedback study, or go on with one.

    Args:
        claim: The claim; it is frozen before anything is run.
        examples: The labelled texts that it names.
        model: The model that the claim names, if it is loaded already.
        folder: The run's folder; one folder holds one claim.
        progress: Who is told how far it is.

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
    table = _run(bench, Trace(folder / "trace"), progress)
    table = _observed(bench, table, progress)
    result = BiofeedbackResult(
        claim=claim,
        claim_hash=frozen.sha256,
        classes=examples.classes,
        dropped=dict(examples.dropped),
        notes=notes,
        axes=tuple(_judged(table[table["axis"] == axis], str(axis), claim) for axis in dict.fromkeys(table["axis"])),
    )
    write_json(folder / "result.json", result.model_dump(mode="json"))
    return BiofeedbackRun(folder, result, table)


def _run(bench: Bench, trace: Trace, progress: Progress) -> pd.DataFrame:
    numbers = [number for layer in bench.states.layers for number in bench.experiments(layer)]
    units = [f"conversation.{number:03d}" for number in numbers]
    frames = []
    for number, unit in tracked(list(zip(numbers, units, strict=True)), "conversations", len(units), progress):
        frames += kept(trace, [unit], partial(_made, bench, number), COLUMNS)
    trace.finish(units, {"study": "biofeedback"})
    return pd.concat(frames, ignore_index=True)


def _made(bench: Bench, number: int) -> list[pd.DataFrame]:
    return [conversation_rows(bench, number)]


def _observed(bench: Bench, table: pd.DataFrame, progress: Progress) -> pd.DataFrame:
    """The rows with what observers give on the target's."""
    referents = {one.name: one for one in bench.referents}
    target = table[table["arm"] == TARGET]
    groups: Sequence[tuple[str, pd.DataFrame]] = [
        (str(name), rows.sort_values("place").reset_index(drop=True))
        for (name, _), rows in target.groupby(["referent", "experiment"], sort=False)
    ]
    seen = [
        observed(bench, referents[name], rows) for name, rows in tracked(groups, "observers", len(groups), progress)
    ]
    return pd.concat([*seen, table[table["arm"] != TARGET]], ignore_index=True)


def _judged(table: pd.DataFrame, axis: str, claim: BiofeedbackClaim) -> AxisResult:
    spec, table = claim.analysis, table.reset_index(drop=True)
    step = max(1, claim.judged_from // (BINS - 1))
    edges = (*range(0, claim.judged_from, step), claim.judged_from, claim.shots)
    edges = tuple(dict.fromkeys(edges))
    late = table[(table["arm"] == TARGET) & (table["place"] >= claim.judged_from)]
    return AxisResult(
        axis=axis,
        result=judge(table, spec, claim.judged_from),
        edges=edges,
        curve={name: tuple(values) for name, values in curve(table, spec, edges).items()},
        by_layer={
            int(layer): curve(late[late["layer"] == layer], spec, (claim.judged_from, claim.shots))["report"][0]
            for layer in sorted(set(late["layer"]))
        },
    )
