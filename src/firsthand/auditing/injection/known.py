"""The instrument's own examination: reporters of known answer, on the trials of the run, judged by the same path."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult
from firsthand.analysis.verdict import LEAST_MATCHED
from firsthand.auditing.injection.choosing import CHOICES, judge_choices
from firsthand.auditing.injection.columns import first_site
from firsthand.auditing.injection.detecting import judge_detection
from firsthand.claims.claim import AnalysisSpec
from firsthand.organisms.base import GAIN
from firsthand.organisms.injected import DETECTIONS, REPORTERS, Reporter, Sensed
from firsthand.report.document import KnownAnswer
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.drafts import Task
from firsthand.studies.injection.places import COPIES
from firsthand.vocabulary import Capability, Condition, Verdict

ABOUT = (Task.DETECTION, Task.LOCALISATION, Task.STRENGTH, Task.CHOICE, Task.CODES)
"""Tasks that ask about the inside."""


def unexaminable(tables: Mapping[str, pd.DataFrame]) -> dict[str, float]:
    """Questions on which too few impact controls were matched for any positive verdict, and the share that was.

    A wire gets none there either, so the instrument cannot be examined; it is not out of order.
    """
    shares = {
        name: float(table.loc[table["arm"] == str(Arm.CONTENT_FREE), "matched"].mean())
        for name, table in tables.items()
        if name in DETECTIONS
    }
    return {name: share for name, share in shares.items() if share < LEAST_MATCHED}


def known_answers(tables: Mapping[str, pd.DataFrame], spec: AnalysisSpec) -> tuple[KnownAnswer, ...]:
    """What every reporter of known answer gets, on every question of a run that it is asked and can be examined on.

    Args:
        tables: The confirmation trials of each question, in its chosen cell.
        spec: The rules.
    """
    found, left_out = [], unexaminable(tables)
    for reporter in REPORTERS:
        for question, expected in reporter.expected.items():
            if question in tables and len(tables[question]) and question not in left_out:
                found.append(_judged(reporter, question, expected, tables[question], spec))
    return tuple(found)


def answered(reporter: Reporter, question: str, table: pd.DataFrame) -> pd.DataFrame:
    """The table with a reporter's answers in place of the model's, each nearly certain and all valid."""
    answers, surfaces, logprobs = [], [], []
    for row in table.itertuples():
        meanings = tuple(str(row.order).split("|"))
        said = reporter.says(_sensed(question, row, meanings))
        place = meanings.index(said)
        values = np.full(len(meanings), -GAIN)
        values[place] = 0.0
        logprobs.append((values - np.logaddexp.reduce(values)).tolist())
        answers.append(said)
        surfaces.append(str(place))
    given = table.assign(answer=answers, surface=surfaces, logprobs=logprobs, coverage=1.0)
    return given.assign(probe=first_site(table) - 0.5) if reporter.knows else given


def _sensed(question: str, row: Any, meanings: tuple[str, ...]) -> Sensed:
    along, lengths = tuple(map(float, row.site)), tuple(map(float, row.added))
    if question == "strength" and along:  # sensors stand in the order of the copies, answers in that of mention
        order = [COPIES.index(meaning) for meaning in meanings]
        along, lengths = tuple(along[i] for i in order), tuple(lengths[i] for i in order)
    return Sensed(
        question=question,
        about=row.task in ABOUT,
        meanings=meanings,
        along=along,
        lengths=lengths,
        disturbance=float(row.impact_kl),
        pushed=row.lead == "push",
    )


def _judged(
    reporter: Reporter, question: str, expected: tuple[Verdict, ...], table: pd.DataFrame, spec: AnalysisSpec
) -> KnownAnswer:
    said = answered(reporter, question, table)
    result: CapabilityResult
    if question in DETECTIONS:
        result, capability = judge_detection(said, spec).result, Capability.DETECTION
    else:
        result, capability = judge_choices(said, question, spec), CHOICES[question].capability
    return KnownAnswer(
        reporter=reporter.name,
        description=f"{reporter.description} Asked: {question}.",
        capability=capability,
        condition=Condition.Y_WITHHELD,
        expected=expected[0],
        also_accepted=expected[1:],
        obtained=result.verdict,
        passed=result.verdict in expected,
        reasons=result.reasons,
    )
