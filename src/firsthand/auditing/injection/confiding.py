"""The judgement of stated confidence: does it know which reports are right, beyond what the conversation tells?"""

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult
from firsthand.analysis.report_confidence import Foreseen, judge_report_confidence
from firsthand.auditing.injection.columns import places
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.drafts import Task
from firsthand.studies.injection.wordings import Meaning
from firsthand.vocabulary import Condition


def judge_confidence(stated: pd.DataFrame, reports: pd.DataFrame, spec: AnalysisSpec) -> CapabilityResult:
    """Judge the confidence in the reports of one question.

    Three observers: the model without the injection, asked about the same answer in the same conversation; how often
    answers in the same place are right on other concepts; and another rating of the same answer under the same
    injection. Reports of detection are compared among those with one and the same answer: within one arm the answer
    alone says which of them are right.

    Args:
        stated: What was stated, with ``report`` and ``given``.
        reports: The trials of the question.
        spec: The rules.
    """
    source = reports.drop_duplicates("trial_id").set_index("trial_id").loc[stated["report"]].reset_index(drop=True)
    given = stated["given"].reset_index(drop=True)
    truth = source["truth"]
    told = bool((source["task"] == str(Task.DETECTION)).all())
    if told:
        truth = pd.Series(np.where(source["arm"] == str(Arm.TARGET), str(Meaning.INJECTED), str(Meaning.NOTHING)))
    right = (given == truth).astype(float)
    table = stated.reset_index(drop=True).assign(right=right, stratum=given if told else source["arm"])
    place = pd.Series(places(source, given))
    observers = {
        "unedited": Foreseen(np.nan_to_num(table["unedited"].to_numpy(dtype=np.float64), nan=0.5)),
        "another rating": Foreseen(np.nan_to_num(table["rating"].to_numpy(dtype=np.float64), nan=0.5)),
        "place": Foreseen(_elsewhere(right, place, table["concept"])),
    }
    return judge_report_confidence(table, observers, spec, Condition.Y_WITHHELD)


def _elsewhere(right: pd.Series, place: pd.Series, concept: pd.Series) -> np.ndarray:
    """How often answers in the same place are right on other concepts; the mean over all where there are none."""
    table = pd.DataFrame({"right": right, "place": place, "concept": concept})
    total = table.groupby("place")["right"].agg(["sum", "count"])
    own = table.groupby(["place", "concept"])["right"].agg(["sum", "count"])
    keys = pd.MultiIndex.from_frame(table[["place", "concept"]])
    hits = total["sum"].loc[place].to_numpy() - own["sum"].loc[keys].to_numpy()
    count = total["count"].loc[place].to_numpy() - own["count"].loc[keys].to_numpy()
    return np.where(count > 0, hits / np.maximum(count, 1), float(right.mean()))
