"""A probe on the stream where the report is made, fitted on other concepts than it reads: is the state available there?

It is fitted once for a question, on the trials that the question is judged on, and its readings are kept in the column
``probe``: above 0 for an injection, or the place of the answer that it reads; NaN on trials that it was not laid to.
"""

import numpy as np
import pandas as pd

from firsthand.auditing.injection.choosing import CHOICES
from firsthand.auditing.injection.columns import places, residuals
from firsthand.auditing.injection.plan import LATER
from firsthand.states.probe import cross_fitted_choice, cross_fitted_reading
from firsthand.studies.injection.arms import JUDGED, Arm
from firsthand.studies.injection.drafts import Task


def probed(table: pd.DataFrame, question: str) -> pd.DataFrame:
    """The table with the probe's readings.

    Args:
        table: The confirmation trials of a question, in its chosen cell.
        question: Its name; others than detection and the questions with several answers have no probe.
    """
    readings = np.full(len(table), np.nan)
    if question in CHOICES:
        here = ((table["task"] == str(CHOICES[question].task)) & (table["arm"] == str(Arm.TARGET))).to_numpy()
        chosen = table[here]
        readings[here] = cross_fitted_choice(
            residuals(chosen), places(chosen, chosen["truth"]), chosen["concept"].tolist()
        )
    elif question.startswith("detection-") or question in LATER:
        arms = [str(arm) for arm in JUDGED]
        here = ((table["task"] == str(Task.DETECTION)) & table["arm"].isin(arms)).to_numpy()
        asked = table[here]
        truth = (asked["arm"] == str(Arm.TARGET)).to_numpy().astype(np.int64)
        readings[here] = cross_fitted_reading(residuals(asked), truth, asked["concept"].tolist())
    return table.assign(probe=readings)
