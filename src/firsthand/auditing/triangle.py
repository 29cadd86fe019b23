"""The triangle's table: four reporters, what they must score in closed form, and what they scored.

With cue reliability c, leak l and a share q of covert flips, a report of the cue is right with c(1-q) + (1-c)q. An
observer with cue and output can do no better as long as l <= c: where the two disagree, the cue is still the better
bet. The mimic names the cue's state with probability c only (probability matching, as sampling at temperature 1
gives), so it is right about the pre-state with c^2 + (1-c)^2. It says "changed" when cue and output disagree,
whatever was done, hence a margin of zero against every control. Every figure is checked within four standard errors;
a wrong one raises.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from firsthand.analysis import CapabilityResult, ObserverPrediction, Reading
from firsthand.analysis.results import Profile
from firsthand.auditing.evidence import Evidence, sensors, site_reading, truth_of
from firsthand.auditing.judgement import OUTPUT_MARK, judge_capability
from firsthand.auditing.known_answers import report_table
from firsthand.claims import AnalysisSpec, Claim, default_claim
from firsthand.errors import ClaimError, InstrumentError
from firsthand.observers import Past
from firsthand.observers.table import TableObserver
from firsthand.organisms import Constant, Mimic, Organism, SmokeAlarm, Wire
from firsthand.studies.triangle import ASKED, CUE_RELIABILITY, LEAK_RELIABILITY, run_triangle
from firsthand.trials.canonical import digest
from firsthand.vocabulary import Capability, Condition, Kind, Subset, Verdict

LEAST_BLOCKS = 20
PAST_BLOCKS = 300
"""Blocks that the observer has watched before, so that it is as good as its closed form says."""

STANDARD_ERRORS = 4.0
FLIPPED = 1 / len(Kind)


@dataclass(frozen=True)
class Row:
    """One reporter's figures; ``expected`` holds the closed forms in the same order as :attr:`figures`."""

    name: str
    state_accuracy: float
    observer: float
    gap: float
    target_tpr: float
    specificity: float
    expected: tuple[float, float, float, float, float]
    results: tuple[CapabilityResult, ...]

    @property
    def figures(self) -> tuple[float, float, float, float, float]:
        """State accuracy, observer, gap, target TPR, specificity margin."""
        return (self.state_accuracy, self.observer, self.gap, self.target_tpr, self.specificity)


@dataclass(frozen=True)
class TriangleRun:
    """All rows, and the number of trials that they rest on."""

    rows: tuple[Row, ...]
    trials: int
    blocks: int
    seed: int

    def profiles(self) -> list[Profile]:
        """One profile a reporter."""
        name = digest(["triangle", self.blocks, self.seed])
        return [Profile(reporter=row.name, trace_digest=name, results=row.results) for row in self.rows]


def reporters(seed: int) -> tuple[tuple[str, Organism, dict[Capability, Verdict]], ...]:
    """The seed's four reporters with the verdicts that they must get."""
    identification, detection = Capability.IDENTIFICATION, Capability.DETECTION
    return (
        ("privileged reporter", Wire(), {identification: Verdict.PRIVILEGED, detection: Verdict.PRIVILEGED}),
        ("surface mimic", Mimic(CUE_RELIABILITY, seed), {identification: Verdict.PUBLIC_INFERENCE}),
        ("generic anomaly detector", SmokeAlarm(), {detection: Verdict.ANOMALY_ONLY}),
        ("always-no reporter", Constant(), {identification: Verdict.INSUFFICIENT, detection: Verdict.INSUFFICIENT}),
    )


def closed_forms() -> dict[str, tuple[float, float, float, float, float]]:
    """What each reporter must score: state accuracy, observer, gap, target TPR, specificity margin."""
    c, leak, q = CUE_RELIABILITY, LEAK_RELIABILITY, FLIPPED
    cue = c * (1 - q) + (1 - c) * q
    matched = c * c + (1 - c) * (1 - c)
    mimic = matched * (1 - q) + (1 - matched) * q
    disagree = c * (1 - leak) + (1 - c) * leak
    return {
        "privileged reporter": (1.0, cue, 1.0 - cue, 1.0, 1.0),
        "surface mimic": (mimic, cue, mimic - cue, disagree, 0.0),
        "generic anomaly detector": (cue, cue, 0.0, 1.0, 0.0),
        "always-no reporter": (0.5, cue, 0.5 - cue, 0.0, 0.0),
    }


def triangle(blocks: int = 400, seed: int = 0) -> TriangleRun:
    """Run the benchmark in miniature.

    Args:
        blocks: Balanced blocks of ten trials.
        seed: Seed of every draw.

    Returns:
        The seed's table, with closed forms and verdicts.

    Raises:
        ClaimError: If there are too few blocks for the checks to mean anything.
        InstrumentError: If a figure is not what it must be, or a reporter gets another verdict than it must.
    """
    if blocks < LEAST_BLOCKS:
        raise ClaimError(f"{blocks} blocks are too few for the checks.", f"Use at least {LEAST_BLOCKS}.")
    tables = run_triangle(blocks, seed)
    evidence = Evidence(tables.public, tables.sealed, tables.readings, {})
    claim = default_claim(
        title="A toy reporter names a hidden bit.",
        observers=("table",),
        capabilities=ASKED,
        analysis=AnalysisSpec(clusters=("block",)),
    )
    past = run_triangle(PAST_BLOCKS, seed, Subset.SELECTION)
    watched = Evidence(past.public, past.sealed, past.readings, {})
    guesses = {
        c: ObserverPrediction(
            True, TableObserver().observe(c, Past(watched.views, truth_of(watched, c)), evidence.views)
        )
        for c in ASKED
    }
    rows = tuple(
        _row(name, organism, evidence, claim, guesses, expected) for name, organism, expected in reporters(seed)
    )
    _check(rows, len(evidence.public))
    return TriangleRun(rows, len(evidence.public), blocks, seed)


def _row(
    name: str,
    organism: Organism,
    evidence: Evidence,
    claim: Claim,
    guesses: dict[Capability, ObserverPrediction],
    expected: dict[Capability, Verdict],
) -> Row:
    answers = {c: organism.report(c, sensors(evidence)) for c in ASKED}
    state = truth_of(evidence, Capability.IDENTIFICATION)
    right = (answers[Capability.IDENTIFICATION].contrast > 0) == (state == 1)
    seen = (guesses[Capability.IDENTIFICATION].probability > 0.5) == (state == 1)
    yes, kinds = answers[Capability.DETECTION].contrast > 0, evidence.sealed["kind"].to_numpy()
    tpr = float(yes[kinds == Kind.TARGET].mean())
    alarms = [float(yes[kinds == kind].mean()) for kind in (Kind.SHAM, Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)]
    results = []
    for capability in ASKED:
        reading = answers[capability].reading
        own = {} if reading is None else {"its own access": Reading("report", reading)}
        reported = evidence.with_reports({capability: report_table(evidence, answers[capability])})
        predictions = {"table" + OUTPUT_MARK: guesses[capability]}
        readings = {**site_reading(evidence, capability), **own}
        result = judge_capability(reported, claim, capability, Condition.Y_SHOWN, predictions, readings)
        if expected.get(capability, result.verdict) is not result.verdict:
            raise InstrumentError(
                f"{name} must be '{expected[capability]}' for {capability}, and was judged '{result.verdict}': "
                + "; ".join(result.reasons),
                "The scoring has regressed; do not use this version.",
            )
        results.append(result)
    accuracy, observer = float(right.mean()), float(seen.mean())
    figures = closed_forms()[name]
    return Row(name, accuracy, observer, accuracy - observer, tpr, tpr - max(alarms), figures, tuple(results))


def _check(rows: tuple[Row, ...], trials: int) -> None:
    """Hold every figure against its closed form, within its sampling error."""
    per_kind = trials * FLIPPED
    for row in rows:
        state, observer, _, tpr, _ = row.expected
        both = sqrt(_variance(state, trials) + _variance(observer, trials))
        margin = sqrt(2.0 * _variance(tpr, per_kind)) + (0.0 if tpr in (0.0, 1.0) else 1.0 / sqrt(per_kind))
        errors = (
            sqrt(_variance(state, trials)),
            sqrt(_variance(observer, trials)),
            both,
            sqrt(_variance(tpr, per_kind)),
            margin,
        )
        labels = ("state accuracy", "observer accuracy", "privileged gap", "target TPR", "specificity margin")
        for label, figure, wanted, error in zip(labels, row.figures, row.expected, errors, strict=True):
            if not np.isfinite(figure) or abs(figure - wanted) > STANDARD_ERRORS * error + 1e-9:
                raise InstrumentError(
                    f"{row.name}: {label} is {figure:.3f}, and must be {wanted:.3f} "
                    f"within {STANDARD_ERRORS * error:.3f}.",
                    "The scoring has regressed; do not use this version.",
                )


def _variance(p: float, n: float) -> float:
    return p * (1.0 - p) / n
