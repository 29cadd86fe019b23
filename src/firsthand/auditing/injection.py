"""The injection audit: choose layer and dose on some concepts, judge detection on the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult, ObserverPrediction, Reading, judge
from firsthand.analysis.affirmation import Affirmation, affirmation
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import Estimate
from firsthand.analysis.verdict import shown
from firsthand.auditing.audit import bindings_of
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import ClaimError
from firsthand.progress import Progress, Silent, tracked
from firsthand.states.probe import cross_fitted_reading
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import KINDS, Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.detection import run_detection
from firsthand.studies.injection.store import kept
from firsthand.trials.files import read_json, write_json
from firsthand.trials.randomness import stream
from firsthand.trials.trace import Trace
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Verdict

SPEC = AnalysisSpec(clusters=("concept",))
"""The usual rules."""


@dataclass(frozen=True)
class CellScore:
    """What a cell gave on the selection concepts.

    Attributes:
        cell: The cell.
        concordance: Share of prompts on which the logit contrast is higher with the injection than without.
        rise: Rate of "injected" with the injection minus the rate without, invalid answers left out.
        unrelated: The rise of "yes" under the unrelated question.
    """

    cell: Cell
    concordance: Estimate
    rise: Estimate
    unrelated: Estimate


@dataclass(frozen=True, eq=False)
class DetectionAudit:
    """A finished audit of detection.

    Attributes:
        cells: What every cell gave on the selection concepts.
        chosen: The cell that was chosen there.
        result: The judgement on the confirmation concepts.
        affirmation: Rises of "yes" under the injection question and under an unrelated one.
        table: The confirmation trials.
    """

    cells: tuple[CellScore, ...]
    chosen: Cell
    result: CapabilityResult
    affirmation: Affirmation
    table: pd.DataFrame

    @property
    def naive_best(self) -> CellScore:
        """The cell that would have been claimed: the largest rise of the grid, judged where it was found."""
        return max(self.cells, key=lambda score: score.rise.value)


def split_concepts(bench: InjectionBench) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Concepts to choose on, and concepts to judge on, drawn by the seed.

    A quarter chooses. Of 32 concepts 24 are then left to judge on: with 16, no answer could be shown to be equivalent
    to no signal within 0.15, nor any reader to be right more often than 0.866.
    """
    order = stream("injection", bench.seed, "split").permutation(len(bench.concepts))
    drawn = [bench.concepts[int(i)] for i in order]
    choosing = max(2, len(drawn) // 4)
    return tuple(drawn[:choosing]), tuple(drawn[choosing:])


def audit_detection(
    bench: InjectionBench,
    cells: Sequence[Cell],
    folder: Path,
    spec: AnalysisSpec = SPEC,
    progress: Progress | None = None,
) -> DetectionAudit:
    """Choose a cell on a quarter of the concepts and judge detection on the others, or go on with that.

    Args:
        bench: What is fixed.
        cells: The grid.
        folder: Where finished concepts are kept; one folder holds one study.
        spec: The rules of judgement.
        progress: Who is told how far it is.

    Raises:
        ClaimError: If the folder holds another study.
        EngineError: If a trial cannot be run.
    """
    progress = progress or Silent()
    _settle(folder, bench, cells, spec)
    choosing, judging = split_concepts(bench)

    selection, confirmation = Trace(folder / "selection"), Trace(folder / "trace")
    tried = {}
    for n, concept in enumerate(tracked(choosing, "choosing layer and dose", len(choosing), progress)):
        unit = f"concept-{n:02d}"
        tried[unit] = kept(selection, unit, partial(run_detection, bench, concept, cells, (Arm.CLEAN, Arm.TARGET)))
    selection.finish(list(tried), {"subset": "selection"})
    scores = score_cells(pd.concat(tried.values(), ignore_index=True), cells, spec)
    chosen = max(scores, key=lambda s: (abs(s.concordance.value - 0.5), -s.cell.dose, -s.cell.layer)).cell
    found = {}
    for n, concept in enumerate(tracked(judging, "confirmation concepts", len(judging), progress)):
        unit = f"concept-{n:02d}.{chosen.name}"
        run = partial(run_detection, bench, concept, [chosen], tolerance=spec.impact_tolerance, probe=True)
        found[unit] = kept(confirmation, unit, run)
    confirmation.finish(list(found), {"subset": "confirmation", "layer": chosen.layer, "dose": chosen.dose})
    table = pd.concat(found.values(), ignore_index=True)
    rises = affirmation(table, spec)
    return DetectionAudit(tuple(scores), chosen, judge_detection(table, spec, rises), rises, table)


def _settle(folder: Path, bench: InjectionBench, cells: Sequence[Cell], spec: AnalysisSpec) -> None:
    """Bind the folder to everything that its trials depend on; refuse one that holds something else."""
    loaded = bench.loaded
    settings = {
        **bindings_of(loaded).model_dump(mode="json"),
        "arithmetic": [loaded.dtype, loaded.device],
        "concepts": list(bench.concepts),
        "wordings": [wording.model_dump(mode="json") for wording in bench.wordings],
        "cells": [[cell.layer, cell.dose] for cell in cells],
        "analysis": spec.model_dump(mode="json"),
        "seed": bench.seed,
    }
    path = folder / "study.json"
    if not path.exists():
        if folder.exists() and any(not entry.name.startswith(".") for entry in folder.iterdir()):
            raise ClaimError(f"{folder} is not empty and holds no study.", "Choose another folder with --out.")
        write_json(path, settings)
    before = read_json(path)
    changed = [name for name, value in settings.items() if before.get(name) != value]
    if changed:
        raise ClaimError(
            f"{folder} holds a study with other {', '.join(changed)}.", "Choose another folder with --out, or go back."
        )


def score_cells(table: pd.DataFrame, cells: Sequence[Cell], spec: AnalysisSpec = SPEC) -> list[CellScore]:
    """What each cell gave on the concepts of a table, with intervals over concepts."""
    keys = ["concept", "wording", "order"]
    clean = table[table["arm"] == Arm.CLEAN]
    before = clean[clean["task"] == "detection"].set_index(keys)["contrast"]
    scores = []
    for cell in cells:
        here = (table["layer"] == cell.layer) & (table["dose"] == cell.dose) & (table["arm"] == Arm.TARGET)
        asked = table[here & (table["task"] == "detection")].join(before.rename("before"), on=keys)
        higher = np.heaviside((asked["contrast"] - asked["before"]).to_numpy(dtype=np.float64), 0.5)
        rises = affirmation(pd.concat([clean, table[here]], ignore_index=True), spec)
        scores.append(
            CellScore(
                cell,
                mean_of(higher, asked, spec.clusters).estimate(spec.alpha),
                rises.asked.estimate(spec.alpha),
                rises.unrelated.estimate(spec.alpha),
            )
        )
    return scores


def judge_detection(
    table: pd.DataFrame, spec: AnalysisSpec, rises: Affirmation, condition: Condition = Condition.Y_WITHHELD
) -> CapabilityResult:
    """Judge detection on one cell's trials, and hold a positive verdict against what else could give it.

    A report that answers to the length of what is added would reject a content-free direction whose matched dose is
    shorter. So the vector's own numbers in another order, as long as it is, take that direction's place once more.

    Args:
        table: Trials of one cell in every arm (see :func:`~firsthand.studies.injection.detection.run_detection`).
        spec: The rules.
        rises: Rises of "yes" under both questions.
        condition: Whether observers see the visible answer; there is none in this study.
    """
    result = _judged(table, spec, condition, Arm.CONTENT_FREE)
    if result.verdict is Verdict.PRIVILEGED:
        other = _judged(table, spec, condition, Arm.SHUFFLED)
        if other.verdict is not Verdict.PRIVILEGED:
            words = "with the vector's numbers in another order in place of the content-free direction: "
            reasons = (words + other.reasons[0], *other.reasons[1:], *result.reasons)
            result = result.model_copy(update={"verdict": other.verdict, "reasons": reasons})
    return against_affirmation(result, rises, spec)


def _judged(table: pd.DataFrame, spec: AnalysisSpec, condition: Condition, impact: Arm) -> CapabilityResult:
    """The judgement with one of the two content-free arms as the impact control."""
    kinds = {**{str(arm): str(kind) for arm, kind in KINDS.items()}, str(impact): str(Kind.IMPACT_CONTROL)}
    others = {Arm.CONTENT_FREE, Arm.SHUFFLED} - {impact}
    asked = table[(table["task"] == "detection") & ~table["arm"].isin(others)].reset_index(drop=True)
    asked = asked.assign(
        kind=asked["arm"].map(kinds),
        truth=(asked["arm"] == Arm.TARGET).astype(int),
        stratum=asked["wording"] + asked["order"],
    )
    if impact is Arm.SHUFFLED:  # as long as the target by construction, and not matched in anything else
        asked = asked.drop(columns="impact_matched")
    return judge(Capability.DETECTION, condition, asked, observers_of(asked), readers_of(asked), spec, CONTROLS)


def against_affirmation(result: CapabilityResult, rises: Affirmation, spec: AnalysisSpec) -> CapabilityResult:
    """Take back a positive verdict where "yes" rises as much under a question that injections have no part in."""
    if result.verdict is not Verdict.PRIVILEGED:
        return result
    if rises.headroom < rises.asked.value:
        words = (
            f"under the unrelated question 'yes' could rise by {rises.headroom:.3f} at most, less than under the "
            f"injection question ({shown('rise', rises.asked, spec.alpha)}): the control could not have failed"
        )
        return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (words, *result.reasons)})
    if rises.beyond.p_above(0.0) <= spec.alpha:
        return result
    words = (
        f"{shown('the rise of yes beyond an unrelated question is', rises.beyond, spec.alpha, 0.0)}; under that "
        f"question alone {shown('it is', rises.unrelated, spec.alpha, 0.0)}"
    )
    affirmative = rises.unrelated.p_above(0.0) <= spec.alpha
    verdict = Verdict.ANOMALY_ONLY if affirmative else Verdict.INSUFFICIENT
    return result.model_copy(update={"verdict": verdict, "reasons": (words, *result.reasons)})


def observers_of(asked: pd.DataFrame) -> dict[str, ObserverPrediction]:
    """Two observers of the text: what arms of its kind mostly are, and the same model asked without the edit."""
    keys = ["concept", "wording", "order"]
    clean = asked[asked["arm"] == Arm.CLEAN].set_index(keys)["probability"]
    unedited = asked.join(clean.rename("unedited"), on=keys)["unedited"]
    pushed = asked["arm"] == Arm.PUSH
    share = float((asked["arm"] == Arm.TARGET).sum() / (~pushed).sum())
    return {
        "text": ObserverPrediction(False, np.where(pushed, 0.0, share)),
        "unedited": ObserverPrediction(False, np.where(pushed, asked["probability"], unedited).astype(np.float64)),
    }


def readers_of(asked: pd.DataFrame) -> dict[str, Reading]:
    """A wire at the site, which knows the concept, and a probe at the report, fitted on other concepts."""
    keys = ["concept", "wording", "order"]
    clean = asked[asked["arm"] == Arm.CLEAN].set_index(keys)["site"]
    base = np.where(asked["arm"] == Arm.PUSH, asked["site"], asked.join(clean.rename("base"), on=keys)["base"])
    truth = asked["truth"].to_numpy(dtype=np.int64)
    residual = np.stack([np.asarray(one, dtype=np.float32) for one in asked["residual"]])
    return {
        "wire": Reading("site", (asked["site"].to_numpy() - base - 0.5).astype(np.float64)),
        "probe": Reading("report", cross_fitted_reading(residual, truth, asked["concept"].tolist())),
    }
