"""The judgement of confidence: does a report tell right from wrong answers, ahead of everyone who reads the same?"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Clusters
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.report_confidence import Foreseen, judge_report_confidence
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.type2 import Areas
from firsthand.auditing.labels.readers import READER
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Condition, Verdict

SHUFFLED = "shuffled answer"
"""The control: the same report about another option, drawn by lot."""
UNREAD = (
    "no other language model read the same questions and answers, and one that merely answers them better may do as "
    "well: ahead of these observers, a report is not yet privileged"
)
ANSWER_SEEN = (
    "these observers do not see the answer, which the report is about: whoever judges the answer is ahead of them, and "
    "ahead of those who see it the report is not"
)
NO_CONTROL = "about a hidden answer there is no shuffled answer to be asked about, so this control is missing"


@dataclass(frozen=True, eq=False)
class Told:
    """A report of confidence, one value a question.

    Attributes:
        confidence: P(right) as reported, NaN where invalid.
        coverage: Probability mass on its replies.
        shuffled: The same report about another answer, NaN where invalid; ``None`` where the answer was hidden.
    """

    confidence: FloatArray
    coverage: FloatArray
    shuffled: FloatArray | None = None


def judge(
    answers: pd.DataFrame,
    told: Told,
    observers: Mapping[str, Foreseen],
    readers: Mapping[str, FloatArray],
    spec: AnalysisSpec,
) -> tuple[CapabilityResult, CapabilityResult]:
    """Judge a report under both conditions.

    Args:
        answers: One row a question: ``question``, ``subject``, ``right``.
        told: The report.
        observers: What observers foresee.
        readers: What probes read at the place of the answer.
        spec: The rules.

    Returns:
        The results with Y withheld from observers and with Y shown to them.

    Raises:
        AnalysisError: If the parts do not belong together.
    """
    table = answers[["question", "subject", "right"]].assign(
        trial_id=answers["question"], confidence=told.confidence, coverage=told.coverage, stratum="all answers"
    )
    controls = {} if told.shuffled is None else {SHUFFLED: told.shuffled}
    withheld, shown = (
        judge_report_confidence(table, observers, spec, condition, controls=controls, readers=readers)
        for condition in (Condition.Y_WITHHELD, Condition.Y_SHOWN)
    )
    shown = _ruled(shown, told, observers)
    withheld = _ruled(withheld, told, observers)
    if told.shuffled is not None and withheld.verdict is Verdict.PRIVILEGED and shown.verdict is not Verdict.PRIVILEGED:
        withheld = _insufficient(withheld, ANSWER_SEEN)
    return withheld, shown


def _ruled(result: CapabilityResult, told: Told, observers: Mapping[str, Foreseen]) -> CapabilityResult:
    if result.verdict is not Verdict.PRIVILEGED:
        return result
    if not any(row.name.startswith(READER) for row in result.observers):
        result = _insufficient(result, UNREAD)
    if told.shuffled is None:
        result = _insufficient(result, NO_CONTROL)
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
