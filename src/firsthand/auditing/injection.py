"""The injection audit: choose layer and dose on some concepts, judge detection on the others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult, ObserverPrediction, Reading, judge
from firsthand.analysis.affirmation import Affirmation, affirmation
from firsthand.analysis.verdict import shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import ClaimError
from firsthand.progress import Progress, Silent, tracked
from firsthand.states.probe import cross_fitted_reading
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import Cell, InjectionBench
from firsthand.studies.injection.detection import run_detection
from firsthand.trials.files import read_json, write_atomic, write_json
from firsthand.trials.randomness import stream
from firsthand.trials.trace import to_parquet
from firsthand.version import __version__
from firsthand.vocabulary import CONTROLS, Capability, Condition, Verdict

SPEC = AnalysisSpec(clusters=("concept",))
"""The usual rules."""


@dataclass(frozen=True)
class CellScore:
    """What a cell gave on the selection concepts.

    Attributes:
        cell: The cell.
        concordance: Share of prompts on which the logit contrast is higher with the injection than without.
        rise: Rate of "injected" with the injection minus the rate without.
        n_trials: Injected trials behind it.
    """

    cell: Cell
    concordance: float
    rise: float
    n_trials: int


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
        return max(self.cells, key=lambda score: score.rise)


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

    def kept(name: str, concept: str, make: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
        path = folder / "units" / f"{name}.parquet"
        if not path.exists():
            write_atomic(path, to_parquet(make(concept)))
        return pd.read_parquet(path)

    def choose(concept: str) -> pd.DataFrame:
        return run_detection(bench, concept, cells, (Arm.CLEAN, Arm.TARGET))

    tried = [
        kept(f"selection-{n:02d}", concept, choose)
        for n, concept in enumerate(tracked(choosing, "choosing layer and dose", len(choosing), progress))
    ]
    scores = score_cells(pd.concat(tried, ignore_index=True), cells)
    chosen = max(scores, key=lambda s: (abs(s.concordance - 0.5), -s.cell.dose, -s.cell.layer)).cell

    def confirm(concept: str) -> pd.DataFrame:
        return run_detection(bench, concept, [chosen], tolerance=spec.impact_tolerance, probe=True)

    found = [
        kept(f"confirmation-{n:02d}", concept, confirm)
        for n, concept in enumerate(tracked(judging, "confirmation concepts", len(judging), progress))
    ]
    table = pd.concat(found, ignore_index=True)
    rises = affirmation(table, spec)
    return DetectionAudit(tuple(scores), chosen, judge_detection(table, spec, rises), rises, table)


def _settle(folder: Path, bench: InjectionBench, cells: Sequence[Cell], spec: AnalysisSpec) -> None:
    """Bind the folder to everything that its trials depend on; refuse one that holds something else."""
    loaded = bench.loaded
    settings = {
        "weights_sha256": loaded.weights_sha256,
        "tokenizer_sha256": loaded.tokenizer_sha256,
        "arithmetic": [loaded.dtype, loaded.device],
        "package_version": __version__,
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


def score_cells(table: pd.DataFrame, cells: Sequence[Cell]) -> list[CellScore]:
    """What each cell gave on the injection question."""
    asked = table[table["task"] == "detection"]
    keys = ["concept", "wording", "order"]
    clean = asked[asked["arm"] == Arm.CLEAN].set_index(keys)[["contrast", "answer"]]
    scores = []
    for cell in cells:
        target = asked[(asked["layer"] == cell.layer) & (asked["dose"] == cell.dose) & (asked["arm"] == Arm.TARGET)]
        both = target.set_index(keys).join(clean, rsuffix="_clean")
        higher = both["contrast"] - both["contrast_clean"]
        concordance = float(((higher > 0) + 0.5 * (higher == 0)).mean())
        rise = float(both["answer"].fillna(0.0).mean() - both["answer_clean"].fillna(0.0).mean())
        scores.append(CellScore(cell, concordance, rise, len(both)))
    return scores


def judge_detection(
    table: pd.DataFrame, spec: AnalysisSpec, rises: Affirmation, condition: Condition = Condition.Y_WITHHELD
) -> CapabilityResult:
    """Judge detection on one cell's trials, and hold a positive verdict against the unrelated question.

    Args:
        table: Trials of one cell in every arm (see :func:`~firsthand.studies.injection.detection.run_detection`).
        spec: The rules.
        rises: Rises of "yes" under both questions.
        condition: Whether observers see the visible answer; there is none in this study.
    """
    asked = table[(table["task"] == "detection") & (table["kind"] != "")].reset_index(drop=True)
    asked = asked.assign(truth=(asked["arm"] == Arm.TARGET).astype(int), stratum=asked["wording"] + asked["order"])
    result = judge(Capability.DETECTION, condition, asked, observers_of(asked), readers_of(asked), spec, CONTROLS)
    return against_affirmation(result, rises, spec)


def against_affirmation(result: CapabilityResult, rises: Affirmation, spec: AnalysisSpec) -> CapabilityResult:
    """Take back a positive verdict where "yes" rises as much under a question that injections have no part in."""
    if result.verdict is not Verdict.PRIVILEGED or rises.beyond.p_above(0.0) <= spec.alpha:
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
    clean = asked[asked["arm"].isin([Arm.CLEAN])].set_index(keys)["site"]
    base = np.where(asked["arm"] == Arm.PUSH, asked["site"], asked.join(clean.rename("base"), on=keys)["base"])
    truth = asked["truth"].to_numpy(dtype=np.int64)
    residual = np.stack([np.asarray(one, dtype=np.float32) for one in asked["residual"]])
    return {
        "wire": Reading("site", (asked["site"].to_numpy() - base - 0.5).astype(np.float64)),
        "probe": Reading("report", cross_fitted_reading(residual, truth, asked["concept"].tolist())),
    }
