"""The judgement of naming and reconstruction.

What is named or ranks high when any word is asked for was promoted by the injection, not reported: those arms, the
untold one above all, must be beaten, as must a direction without content and no injection at all. A word that is named
only where a concept is asked for, and ranks as high where none is, was promoted too.
"""

import numpy as np
import pandas as pd

from firsthand.analysis import CapabilityResult
from firsthand.analysis.score import Guessed, judge_score
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.drafts import Task
from firsthand.vocabulary import Capability, Condition, Verdict

HELD = (Arm.CLEAN, Arm.CONTENT_FREE, Arm.SHUFFLED)


def arms_of(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """The trials that count, as ``arm``, ``score`` and ``coverage``; the no-question arms under names of their own."""
    asked = (table["task"] == str(Task.NAMING)) & table["arm"].isin([str(Arm.TARGET), *map(str, HELD)])
    plain = (table["task"] == str(Task.NO_QUESTION)) & (table["arm"] == str(Arm.TARGET))
    here = table[asked | plain].reset_index(drop=True)
    other = here["task"] == str(Task.NO_QUESTION)
    valid = here["named"].notna() if score == "named" else pd.Series(True, index=here.index)
    return here.assign(
        arm=np.where(other, "no question, " + here["detail"].astype(str), here["arm"]),
        score=np.where(valid, here[score].astype(float), np.nan),
        coverage=valid.astype(float),
    )


def judge_naming(table: pd.DataFrame, score: str, wired: pd.Series, spec: AnalysisSpec) -> CapabilityResult:
    """Judge naming (``named``) or reconstruction (``percentile``).

    Args:
        table: All trials of the naming question in one cell.
        score: Which of the two.
        wired: For each concept, how often a wire at the site tells it from others of its list in the same cell.
        spec: The rules.
    """
    here = arms_of(table, score)
    target = here[here["arm"] == str(Arm.TARGET)]
    clean = here[here["arm"] == str(Arm.CLEAN)].drop_duplicates("text").set_index("text")["score"]
    chance = 0.5 if score == "percentile" else 1.0 / table["concept"].nunique()
    capability = Capability.RECONSTRUCTION if score == "percentile" else Capability.IDENTIFICATION
    readers = {"wire": ("site", target["concept"].map(wired).to_numpy(dtype=np.float64))}
    observers = {"unedited": Guessed(target["text"].map(clean).to_numpy(dtype=np.float64))}
    arms = tuple(sorted(set(here["arm"]) - {str(Arm.TARGET)}))
    result = judge_score(capability, Condition.Y_WITHHELD, here, chance, observers, readers, spec, arms)
    if score == "named" and result.verdict is Verdict.PRIVILEGED:
        ranked = judge_naming(table, "percentile", wired, spec)
        if ranked.verdict is not Verdict.PRIVILEGED:
            words = f"its rank among the concepts is {ranked.verdict}: {ranked.reasons[0]}"
            return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (words, *result.reasons)})
    return result
