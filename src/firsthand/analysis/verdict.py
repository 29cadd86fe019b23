"""The verdict: a pure function of the evidence and of the rules fixed in the claim.

Order of the rules: gates; ``privileged``; ``inverted``; ``anomaly-only`` (detection); ``public-inference``; absence
(``available-not-reported``, ``no-access``); and ``insufficient``, saying what is missing. Every reason names its
numbers. The rules of each capability are in :mod:`firsthand.analysis.verdicts`.
"""

from dataclasses import dataclass

from firsthand.analysis.equivalence import equivalence
from firsthand.analysis.evidence import (
    ChoiceEvidence,
    ConfidenceEvidence,
    DetectionEvidence,
    Evidence,
    Gates,
    IdentificationEvidence,
)
from firsthand.analysis.results import Equivalence
from firsthand.analysis.verdicts.absence import absence
from firsthand.analysis.verdicts.base import shown
from firsthand.analysis.verdicts.choice import choice
from firsthand.analysis.verdicts.confidence import confidence
from firsthand.analysis.verdicts.detection import DISTURBED, QUIET, detection
from firsthand.analysis.verdicts.identification import identification
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

__all__ = ["DISTURBED", "QUIET", "Ruling", "closed_gates", "compile_verdict", "shown"]

LEAST_MATCHED = 0.8
"""Share of impact controls that must match the target's impact before anything rests on them."""

LEAST_OUTCOMES = 10
"""Right and wrong answers that confidence must at least have had the chance to tell apart."""


@dataclass(frozen=True)
class Ruling:
    """A verdict with its reasons, and the equivalence test it did or did not rest on."""

    verdict: Verdict
    reasons: tuple[str, ...]
    equivalence: Equivalence


def compile_verdict(evidence: Evidence, spec: AnalysisSpec) -> Ruling:
    """Compiles the verdict of one capability under one condition.

    Args:
        evidence: The measured statistics.
        spec: The rules fixed in the claim.
    """
    tested = equivalence(evidence, spec)
    closed = closed_gates(evidence, spec)
    if closed:
        return Ruling(Verdict.INSUFFICIENT, closed, tested)
    match evidence:
        case IdentificationEvidence():
            found = identification(evidence, spec)
        case DetectionEvidence():
            found = detection(evidence, spec)
        case ConfidenceEvidence():
            found = confidence(evidence, spec)
        case ChoiceEvidence():
            found = choice(evidence, spec)
        case _:
            raise TypeError(f"no rules for {type(evidence).__name__}")
    verdict, reasons = found
    if verdict is None:
        absent, grounds = absence(evidence, tested, spec)
        return Ruling(absent, (*reasons, *grounds), tested)
    lost = _unsupported(verdict, evidence, spec)
    if lost:
        return Ruling(Verdict.INSUFFICIENT, (*lost, *reasons), tested)
    return Ruling(verdict, reasons, tested)


def closed_gates(evidence: Evidence, spec: AnalysisSpec) -> tuple[str, ...]:
    """Reasons why nothing may be concluded at all; empty where everything is in order."""
    gates, reasons = evidence.gates, []
    if gates.missing_controls:
        reasons.append(f"no trials of the required control: {', '.join(gates.missing_controls)}")
    if gates.coverage < spec.minimum_coverage:
        reasons.append(
            f"coverage: valid answers hold {gates.coverage:.1%} of the probability, less than the required "
            f"{spec.minimum_coverage:.0%}; what the model would say is not known"
        )
    elif gates.weakest_coverage < spec.minimum_coverage:
        reasons.append(
            f"coverage: {gates.weakest} valid answers hold {gates.weakest_coverage:.1%} of the "
            f"probability, less than the required {spec.minimum_coverage:.0%}"
        )
    if isinstance(evidence, ChoiceEvidence) and evidence.missing_arms:
        reasons.append(f"no trials of the required control arm: {', '.join(evidence.missing_arms)}")
    if gates.valid == 0:
        reasons.append("not one answer was valid")
    elif isinstance(evidence, ChoiceEvidence) and evidence.unanswered:
        reasons.append(
            f"not one answer was valid where the true option was {', '.join(map(str, evidence.unanswered))}; what the "
            "model would say there is not known, and chance is that of all options"
        )
    if gates.observers == 0:
        reasons.append(
            f"no observer was asked under {evidence.condition}, so nothing shows what the public evidence gives"
        )
    if isinstance(evidence, ConfidenceEvidence) and evidence.rarer < LEAST_OUTCOMES:
        reasons.append(
            f"of {evidence.trials} {evidence.about} only {evidence.rarer} had the rarer outcome; "
            f"at least {LEAST_OUTCOMES} are needed before confidence can tell them apart"
        )
    return tuple(reasons)


def _unsupported(verdict: Verdict, evidence: Evidence, spec: AnalysisSpec) -> tuple[str, ...]:
    """Why a verdict that the numbers give may not stand: a control it rests on was absent or out of order."""
    gates: Gates = evidence.gates
    lost = []
    if verdict is Verdict.PRIVILEGED and gates.unclaimed_controls:
        lost.append(f"the claim leaves out the control: {', '.join(gates.unclaimed_controls)}")
    rests = verdict in (Verdict.PRIVILEGED, Verdict.ANOMALY_ONLY) or (
        isinstance(evidence, DetectionEvidence) and verdict is Verdict.PUBLIC_INFERENCE
    )
    if rests and gates.impact_matched is not None and gates.impact_matched < LEAST_MATCHED:
        lost.append(
            f"the impact control matched the target's impact within {spec.impact_tolerance:.0%} on only "
            f"{gates.impact_matched:.0%} of its trials ({LEAST_MATCHED:.0%} needed), and '{verdict}' would rest on it"
        )
    return tuple(lost)
