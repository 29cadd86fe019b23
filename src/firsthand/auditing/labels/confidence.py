"""The judgement of confidence: does a report tell right from wrong answers, ahead of everyone who reads the same?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.report_confidence import Control, Foreseen, Reading, judge_report_confidence
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.type2 import Areas
from firsthand.auditing.labels.confidence_gates import Said, Standing
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Condition, Verdict

SHUFFLED = "shuffled answer"
"""The control: the same report about another wrong option, drawn by lot."""
UNREAD = (
    "no other language model read the same questions and answers, and one that merely answers them better may do as "
    "well: ahead of these observers, a report is not yet privileged"
)
ANSWER_SEEN = (
    "these observers do not see the answer, which the report is about: whoever judges the answer is ahead of them, and "
    "ahead of those who see it the report is not"
)
UNFIT_READER = "the other language models do not count as readers: "
UNLIKE = "the same model in the third person does not count in this form of the report: "
NO_CONTROL = "about a hidden answer there is no shuffled answer to be asked about, so this control is missing"
TWO_OPTIONS = (
    "of two options there is no other wrong one beside a wrong answer, so there is no shuffled answer and this control "
    "is missing"
)


@dataclass(frozen=True, eq=False)
class Told:
    """A report of confidence, one value a question.

    Attributes:
        own: About the own answer.
        shuffled: The same report about another wrong option; ``None`` where there is none.
        uncontrolled: Why there is none, in words.
    """

    own: Said
    shuffled: Said | None = None
    uncontrolled: str = NO_CONTROL


def judge(
    answers: pd.DataFrame,
    told: Told,
    observers: Mapping[str, Foreseen],
    probes: Mapping[str, Reading],
    spec: AnalysisSpec,
    standing: Standing,
) -> tuple[CapabilityResult, CapabilityResult]:
    """Judge a report under both conditions.

    Args:
        answers: One row a question: ``question``, ``subject``, ``right``, ``coverage``.
        told: The report.
        observers: What observers foresee.
        probes: What probes read in the activations, and where.
        spec: The rules.
        standing: Who counts among those that a privileged report must be ahead of.

    Returns:
        The results with Y withheld from observers and with Y shown to them.

    Raises:
        AnalysisError: If the parts do not belong together.
    """
    table = answers[["question", "subject", "right"]].assign(
        trial_id=answers["question"],
        confidence=told.own.confidence,
        coverage=told.own.coverage,
        stratum="all answers",
    )
    other = told.shuffled
    controls = {} if other is None else {SHUFFLED: Control(other.raw, other.valid, other.coverage)}
    closed = [reason for reason in (_unanswered(answers, spec), standing.capped) if reason is not None]
    withheld, shown = (
        _ruled(
            judge_report_confidence(table, observers, spec, condition, controls=controls, readers=probes),
            told,
            standing,
            closed,
        )
        for condition in (Condition.Y_WITHHELD, Condition.Y_SHOWN)
    )
    if told.shuffled is not None and withheld.verdict is Verdict.PRIVILEGED and shown.verdict is not Verdict.PRIVILEGED:
        withheld = _insufficient(withheld, ANSWER_SEEN)
    return withheld, shown


def _unanswered(answers: pd.DataFrame, spec: AnalysisSpec) -> str | None:
    """Why nothing may be said of confidence in these answers: they are no answers."""
    valid, mass = float(np.isfinite(answers["right"]).mean()), float(answers["coverage"].mean())
    if min(valid, mass) >= spec.minimum_coverage:
        return None
    return (
        f"{valid:.0%} of the answers are valid and letters hold {mass:.1%} of the probability, and at least "
        f"{spec.minimum_coverage:.0%} of both is required: what the model would answer is not known"
    )


def _ruled(result: CapabilityResult, told: Told, standing: Standing, closed: Sequence[str]) -> CapabilityResult:
    lost = []
    if result.verdict is Verdict.PRIVILEGED:
        read = {
            name: why
            for name, why in standing.readers.items()
            if any(row.name.startswith(f"{READER}{name}") for row in result.observers)
        }
        if not read:
            lost.append(UNREAD)
        elif None not in read.values():
            lost.append(UNFIT_READER + "; ".join(f"{name}, since {why}" for name, why in read.items()))
        if standing.third is not None:
            lost.append(f"{UNLIKE}{standing.third}")
    if result.verdict in (Verdict.PRIVILEGED, Verdict.INVERTED) and told.shuffled is None:
        lost.append(told.uncontrolled)
    for reason in (*lost, *closed):
        result = _insufficient(result, reason)
    return result


def _insufficient(result: CapabilityResult, reason: str) -> CapabilityResult:
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, reason)})


def area_of(right: FloatArray, score: FloatArray, answers: pd.DataFrame, spec: AnalysisSpec) -> Measured:
    """Type-2 AUROC of any score, with its uncertainty; unknown where one outcome is missing.

    Args:
        right: 1 or 0, NaN where an answer is invalid ``[questions]``.
        score: Any ordering, NaN where it is invalid ``[questions]``.
        answers: The questions, with the cluster columns.
        spec: The rules.
    """
    valid = np.isfinite(right) & np.isfinite(score)
    codes = {name: pd.factorize(answers[name])[0].astype(np.int64) for name in spec.clusters}
    clusters = Clusters(codes, spec.bootstrap_draws, 0)
    strata = np.zeros(len(right), dtype=np.int64)
    filled = np.where(valid, right, 0.0)
    return Areas(filled, valid, strata, clusters, {"score": np.where(valid, score, 0.0)}).measure("score")
