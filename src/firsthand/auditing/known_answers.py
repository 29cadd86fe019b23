"""Known answers first: the path that will judge the model judges reporters whose answer is known.

If one of them gets another verdict than it must, the instrument is out of order and no verdict on the model is given.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from firsthand.analysis import Reading
from firsthand.auditing.evidence import Evidence, sensors, site_reading
from firsthand.auditing.judgement import Predictions, judge_capability
from firsthand.claims.claim import Claim
from firsthand.organisms import SCRIPTED, Answers, Organism
from firsthand.report.document import KnownAnswer
from firsthand.vocabulary import Capability, Condition


def report_table(evidence: Evidence, answers: Answers) -> pd.DataFrame:
    """An organism's answers in the form of a model's report; its codes hold all of the probability."""
    contrast = answers.contrast
    return pd.DataFrame(
        {
            "trial_id": evidence.public["trial_id"],
            "answer": (contrast > 0).astype(float),
            "probability": 1.0 / (1.0 + np.exp(-contrast)),
            "coverage": 1.0,
            "contrast": contrast,
            "entropy": 0.0,
        }
    )


def judge_organism(
    organism: Organism, capability: Capability, evidence: Evidence, claim: Claim, predictions: Predictions
) -> KnownAnswer:
    """Judge one organism on the model's own trials, under the stricter condition (observers see Y)."""
    answers = organism.report(capability, sensors(evidence))
    readings = {} if answers.reading is None else {"its own access": Reading("report", answers.reading)}
    readings |= site_reading(evidence, capability)
    reported = evidence.with_reports({capability: report_table(evidence, answers)})
    result = judge_capability(reported, claim, capability, Condition.Y_SHOWN, predictions, readings)
    expected = organism.expected[capability]
    return KnownAnswer(
        reporter=organism.name,
        description=organism.description,
        capability=capability,
        condition=Condition.Y_SHOWN,
        expected=expected,
        obtained=result.verdict,
        passed=result.verdict is expected,
        reasons=result.reasons,
        result=result,
    )


def judge_panel(
    evidence: Evidence,
    claim: Claim,
    predictions: Mapping[Capability, Predictions],
    organisms: Sequence[Organism] = SCRIPTED,
) -> list[KnownAnswer]:
    """Judge all organisms on every capability whose answer is known and that the claim asks for."""
    return [
        judge_organism(organism, capability, evidence, claim, predictions[capability])
        for organism in organisms
        for capability in organism.expected
        if capability in claim.capabilities
    ]
