"""From evidence to a profile: observers are asked once and their guesses stored, then every capability is judged
apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis import ObserverPrediction, Profile, Reading, judge
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.evidence import (
    Evidence,
    public_views,
    report_probe,
    rows_of,
    scored_table,
    site_reading,
    truth_of,
)
from firsthand.claims.claim import Claim
from firsthand.observers import BUILT_IN, TextModel, make_observer, observe_all
from firsthand.observers.third_person import conversation
from firsthand.progress import Progress, tracked
from firsthand.trials.files import write_atomic
from firsthand.trials.trace import to_parquet
from firsthand.vocabulary import Capability, Condition, Kind, Verdict

OUTPUT_MARK = " + Y"
"""What is added to an observer's name where it also saw the visible answer."""

LEAST_BLOCKS = 6
"""Blocks with valid state reports that confidence needs before anything can be fitted or judged."""

OBSERVERS_FILE = "observers.json"
"""Which observers took part in a run, and what identifies their models."""

Predictions = Mapping[str, ObserverPrediction]


@dataclass(frozen=True)
class Panel:
    """The observers of a run.

    Attributes:
        names: Observers to be asked, as in the claim.
        models: Text-only models for those that need one.
        absent: Observers that cannot be asked here, with the reason.
    """

    names: tuple[str, ...]
    models: Mapping[str, TextModel] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def present(self) -> tuple[str, ...]:
        """Observers that are asked."""
        return tuple(name for name in self.names if name not in self.absent)


def ask_models(
    evidence: Evidence, panel: Panel, capabilities: Sequence[Capability], progress: Progress, stage: str
) -> None:
    """Put every question of the trace to the observers' models, block by block, so that their answers are remembered.

    All questions of a block are asked together: they share their transcripts, which are then computed once.
    """
    if not panel.models:
        return
    asked_for = [c for c in capabilities if c is not Capability.CONFIDENCE]
    views = {(c, shown): public_views(evidence, c, shown) for c in asked_for for shown in (False, True)}
    blocks = list(dict.fromkeys(evidence.blocks))
    jobs = [(name, block) for name in panel.models if name in panel.present for block in blocks]
    for name, block in tracked(jobs, stage, len(jobs), progress):
        rows = [i for i, of in enumerate(evidence.blocks) if of == block]
        asked = [(c, of[i]) for (c, _), of in views.items() for i in rows]
        panel.models[name].contrasts(
            [conversation(c, view) for c, view in asked], [view.questions[c].codes for c, view in asked]
        )


def ask_observers(
    evidence: Evidence, panel: Panel, capabilities: Sequence[Capability], folder: Path, progress: Progress, stage: str
) -> dict[Capability, Predictions]:
    """Ask every observer about every capability, with Y withheld and with Y shown.

    Guesses of built-in observers are stored under ``folder`` as they are made, so that an interrupted run asks only for
    what is missing; a user's own observer is asked every time, since its code may have changed.

    Args:
        evidence: The trials.
        panel: The observers.
        capabilities: What is asked.
        folder: Where guesses are kept.
        progress: Who is told.
        stage: What the stage is called.

    Returns:
        Predictions by capability and observer.
    """
    ask_models(evidence, panel, capabilities, progress, f"{stage}: asking models")
    made = {name: make_observer(name, panel.models) for name in panel.present}
    jobs = [(c, name, shown) for c in capabilities for name in panel.present for shown in (False, True)]
    found: dict[Capability, dict[str, ObserverPrediction]] = {c: {} for c in capabilities}
    for capability, name, shown in tracked(jobs, stage, len(jobs), progress):
        if too_few_reports(evidence, capability):
            continue
        label = name + (OUTPUT_MARK if shown else "")
        path = folder / f"{capability}--{_file_name(name)}--{'shown' if shown else 'withheld'}.parquet"
        rows = rows_of(evidence, capability)
        guessed = _stored(path, evidence, rows) if name in BUILT_IN else None
        if guessed is None:
            views = public_views(evidence, capability, with_output=shown)
            guessed = observe_all(
                made[name],
                capability,
                [views[i] for i in rows],
                truth_of(evidence, capability)[rows],
                [evidence.blocks[i] for i in rows],
            )
            ids = evidence.public["trial_id"].iloc[rows].to_numpy()
            write_atomic(path, to_parquet(pd.DataFrame({"trial_id": ids, "probability": guessed})))
        found[capability][label] = ObserverPrediction(sees_output=shown, probability=guessed)
    return dict(found)


def memory_path(folder: Path, observer: str) -> Path:
    """Where a run keeps the answers of an observer's model."""
    return folder / "observations" / f"{_file_name(observer)}.answers.jsonl"


def _stored(path: Path, evidence: Evidence, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
    if not path.exists():
        return None
    table = pd.read_parquet(path)
    same = list(table["trial_id"]) == list(evidence.public["trial_id"].iloc[rows])
    return table["probability"].to_numpy(dtype=float) if same else None


def _file_name(name: str) -> str:
    return "".join(ch if ch.isalnum() or ch in "._-" else "_" for ch in name)


def judge_capability(
    evidence: Evidence,
    claim: Claim,
    capability: Capability,
    condition: Condition,
    predictions: Predictions,
    readings: Mapping[str, Reading],
) -> CapabilityResult:
    """Judge one capability under one condition by the claim's rules."""
    too_few = too_few_reports(evidence, capability)
    if too_few:
        return _not_judged(evidence, capability, condition, too_few)
    table = scored_table(evidence, capability)
    rows = rows_of(evidence, capability)
    readers = {name: Reading(r.where, r.value[rows]) for name, r in readings.items()}
    return judge(
        capability, condition, table, predictions, readers, claim.analysis, claim.controls, seed=claim.design.seed
    )


def too_few_reports(evidence: Evidence, capability: Capability) -> str | None:
    """In words, why a capability cannot be judged at all; ``None`` if it can.

    Only confidence can lack its subject: it is judged where a state was validly reported.
    """
    rows = rows_of(evidence, capability)
    kinds = set(evidence.sealed["kind"].iloc[rows])
    blocks = {evidence.blocks[i] for i in rows}
    if len(blocks) >= LEAST_BLOCKS and kinds == {str(kind) for kind in Kind}:
        return None
    return (
        f"only {len(rows)} of {len(evidence.public)} identification answers, in {len(blocks)} blocks, were valid: "
        "there is too little to be confident about"
    )


def _not_judged(evidence: Evidence, capability: Capability, condition: Condition, reason: str) -> CapabilityResult:
    """A result that says what is missing; nothing was estimated."""
    return CapabilityResult(
        capability=capability,
        condition=condition,
        verdict=Verdict.INSUFFICIENT,
        reasons=(reason,),
        chance=0.5,
        coverage=float(evidence.reports[capability]["coverage"].mean()),
        invalid_rate=float(evidence.reports[capability]["answer"].isna().mean()),
    )


def judge_all(
    evidence: Evidence, claim: Claim, predictions: Mapping[Capability, Predictions], reporter: str, digest: str
) -> Profile:
    """The reporter's profile: every capability under every condition of the claim."""
    results = []
    for capability in claim.capabilities:
        readings = {**site_reading(evidence, capability), **report_probe(evidence, capability)}
        results += [
            judge_capability(evidence, claim, capability, condition, predictions[capability], readings)
            for condition in claim.conditions
        ]
    return Profile(reporter=reporter, trace_digest=digest, results=tuple(results))
