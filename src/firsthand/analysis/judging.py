"""From a scored table to a result: gates, evidence, verdict, and whether invalid answers could change it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from firsthand.analysis.confidence import confidence
from firsthand.analysis.constancy import CONSTANT_SHARE, constant_within_blocks, most_common
from firsthand.analysis.evidence import Gates
from firsthand.analysis.identification import identification
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.robustness import robust
from firsthand.analysis.sections import Case, Sections
from firsthand.analysis.specificity import detection
from firsthand.analysis.table import ObserverPrediction, Reading, Scored, scored
from firsthand.analysis.verdict import Ruling, compile_verdict
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind

MEASURES = {
    Capability.IDENTIFICATION: identification,
    Capability.DETECTION: detection,
    Capability.CONFIDENCE: confidence,
}

FILLS: Mapping[Capability, tuple[str, ...]] = {
    Capability.IDENTIFICATION: ("right", "wrong"),
    Capability.DETECTION: ("right", "wrong", "yes", "no"),
    Capability.CONFIDENCE: ("right", "wrong"),
}
"""How invalid answers are scored to see whether the verdict hangs on them."""


def judge(
    capability: Capability,
    condition: Condition,
    table: pd.DataFrame,
    observers: Mapping[str, ObserverPrediction],
    readers: Mapping[str, Reading],
    spec: AnalysisSpec,
    controls: Sequence[Kind],
    seed: int = 0,
) -> CapabilityResult:
    """Judges one capability under one condition.

    Args:
        capability: Identification, detection or confidence.
        condition: Under ``y_withheld`` only observers that did not see Y count.
        table: The scored table (see :mod:`firsthand.analysis.table`).
        observers: Predictions from public evidence, aligned to the rows.
        readers: Wires and probes, aligned to the rows.
        spec: The rules fixed in the claim.
        controls: Control kinds that the claim names.
        seed: Seed of the bootstrap.

    Returns:
        The result with its verdict and reasons; equal inputs give equal results.

    Raises:
        AnalysisError: The table cannot be analysed as asked.
    """
    if capability not in MEASURES:
        raise AnalysisError(
            f"There are no rules of judgement for {capability!r}.", f"Ask for one of: {', '.join(MEASURES)}."
        )
    if not controls or Kind.TARGET in controls:
        raise AnalysisError(
            "The controls must name at least one kind in which the state stays.", "Name them in the claim's controls."
        )
    counting = {n: o for n, o in observers.items() if condition is Condition.Y_SHOWN or not o.sees_output}
    data = scored(capability, table, counting, readers, clusters=spec.clusters, draws=spec.bootstrap_draws, seed=seed)
    gates = _gates(data, tuple(controls))
    case = Case(data, data, tuple(controls), condition, spec, gates, constant_answer(capability, data))
    sections = MEASURES[capability](case)
    ruling = compile_verdict(sections.evidence, spec)
    cases = {
        fill: MEASURES[capability](replace(case, data=filled(capability, data, fill)))
        for fill in _fills(case, capability)
    }
    others = {fill: compile_verdict(found.evidence, spec) for fill, found in cases.items()}
    final = robust(ruling, others, float(np.mean(~data.valid)))
    worst, best = cases.get("wrong", sections).score.value, cases.get("right", sections).score.value
    return _result(capability, case, sections, final, (worst, best))


def _fills(case: Case, capability: Capability) -> tuple[str, ...]:
    return () if case.data.valid.all() or not case.data.valid.any() else FILLS[capability]


def filled(capability: Capability, data: Scored, fill: str) -> Scored:
    """The table with every invalid answer scored as ``right``, ``wrong``, ``yes`` or ``no``.

    An invalid confidence scored as right is certain of a right identification and sure that a wrong one is wrong.
    """
    as_answer = {"right": data.truth, "wrong": 1.0 - data.truth}
    value = as_answer.get(fill, np.full(len(data), float(fill == "yes")))
    answer = np.where(data.valid, data.answer, value)
    if capability is Capability.CONFIDENCE:
        return replace(data, answer=answer, probability=np.where(data.valid, data.probability, value))
    return replace(data, answer=answer)


def constant_answer(capability: Capability, data: Scored) -> str | None:
    """In words, the one answer or code that the report nearly always gives, overall or within blocks.

    Codes and their meaning change between blocks, so "always the first-mentioned code" or "always the letter K" is one
    decoded answer within a block though it varies over all trials, and one half of it is right by arithmetic.

    Returns:
        ``None`` if the report varies. A confidence is constant within a block only where right and wrong answers both
        occur there: one that knows it is right throughout has no reason to vary.
    """
    valid = data.valid
    block = data.block[valid]
    if not valid.any():
        return None
    if capability is Capability.CONFIDENCE:
        confidence = np.round(data.probability, 3)
        share = most_common(confidence[valid])[1]
        if share >= CONSTANT_SHARE:
            return f"{share:.1%} of the valid reports give one and the same confidence"
        return constant_within_blocks(block, {"confidence": confidence[valid]}, data.truth[valid])
    answer, share = most_common(data.answer[valid])
    if share >= CONSTANT_SHARE:
        return f"{share:.1%} of the valid answers are {int(float(answer))}"
    if data.surface is not None:
        code, share = most_common(data.surface[valid])
        if share >= CONSTANT_SHARE:
            return f"{share:.1%} of the valid answers are the code {code!r}"
    codes = {} if data.surface is None else {"code": data.surface[valid]}
    return constant_within_blocks(block, {"answer": data.answer[valid], **codes})


def _gates(data: Scored, controls: tuple[Kind, ...]) -> Gates:
    by_kind = {kind: float(data.coverage[data.of(kind)].mean()) for kind in Kind if data.of(kind).any()}
    weakest = min(by_kind, key=lambda kind: by_kind[kind])
    impact = data.of(Kind.IMPACT_CONTROL)
    matched = data.extras.get("impact_matched")
    return Gates(
        missing_controls=tuple(kind for kind in controls if kind not in by_kind),
        unclaimed_controls=tuple(kind for kind in CONTROLS if kind not in controls),
        coverage=float(data.coverage.mean()),
        weakest_coverage=by_kind[weakest],
        weakest=f"on {weakest} trials",
        valid=int(data.valid.sum()),
        observers=len(data.observers),
        impact_matched=float(np.nanmean(matched[impact])) if matched is not None and impact.any() else None,
    )


def _result(
    capability: Capability, case: Case, found: Sections, ruling: Ruling, bounds: tuple[float, float]
) -> CapabilityResult:
    data = case.data
    return CapabilityResult(
        capability=capability,
        condition=case.condition,
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        score=found.score,
        score_worst_case=bounds[0],
        score_best_case=bounds[1],
        target_score=found.target_score,
        chance=found.chance,
        coverage=case.gates.coverage,
        invalid_rate=float(np.mean(~data.valid)),
        contrast=found.contrast,
        contrast_following=found.contrast_following,
        following=found.following,
        gap=found.gap,
        repeats_collapsed=data.collapsed,
        kinds=found.kinds,
        observers=found.observers,
        controls=found.controls,
        readers=found.readers,
        signal_detection=found.signal_detection,
        equivalence=ruling.equivalence,
        calibration=found.calibration,
    )
