"""Numbers that the judgements of the injection study take from its rows."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray
from firsthand.studies.injection.drafts import Task
from firsthand.studies.injection.wordings import Meaning

POSITIVE = {str(Task.DETECTION): str(Meaning.INJECTED), str(Task.UNRELATED): str(Meaning.YES)}
"""The answer that says that something is there, by task."""


def places(table: pd.DataFrame, meanings: pd.Series) -> NDArray[np.int64]:
    """The place of a meaning among the answers of each row; -1 where it is none of them ``[rows]``."""
    found = [
        order.split("|").index(meaning) if isinstance(meaning, str) and meaning in order.split("|") else -1
        for order, meaning in zip(table["order"], meanings, strict=True)
    ]
    return np.asarray(found, dtype=np.int64)


def contrast(table: pd.DataFrame, meanings: pd.Series) -> FloatArray:
    """Log-odds of an answer against all others ``[rows]``; NaN where it is none of the answers."""
    found = np.full(len(table), np.nan)
    for i, (place, logprobs) in enumerate(zip(places(table, meanings), table["logprobs"], strict=True)):
        if place >= 0 and len(logprobs):
            values = np.asarray(logprobs, dtype=np.float64)
            found[i] = values[place] - np.logaddexp.reduce(np.delete(values, place))
    return found


def yes_no(table: pd.DataFrame) -> pd.DataFrame:
    """Rows of the injection question and the unrelated one with ``answer`` as 1, 0 or NaN, and ``contrast``.

    With three answers everything but "injected" counts as 0.
    """
    asked = table[table["task"].isin(POSITIVE)].reset_index(drop=True)
    positive = asked["task"].map(POSITIVE)
    difference = contrast(asked, positive)
    said = asked["answer"]
    answer = np.where(said.isna(), np.nan, (said == positive).astype(float))
    return asked.assign(
        answer=answer,
        contrast=difference,
        # Sampled text has no probability: it is what was said, and one half where that is invalid.
        probability=np.where(np.isnan(difference), np.nan_to_num(answer, nan=0.5), 1.0 / (1.0 + np.exp(-difference))),
        impact_matched=asked["matched"],
        stratum=asked["wording"] + asked["order"],
    )


def first_site(table: pd.DataFrame) -> FloatArray:
    """What the one wire of each row reads, in target doses ``[rows]``."""
    return np.array([values[0] if len(values) else np.nan for values in table["site"]], dtype=np.float64)


def strongest(table: pd.DataFrame, column: str = "site") -> FloatArray:
    """The place of the largest of several readings of each row ``[rows]``."""
    return np.array([float(np.argmax(values)) if len(values) else np.nan for values in table[column]])


def residuals(table: pd.DataFrame) -> NDArray[np.float32]:
    """The stream where the report is made ``[rows, hidden]``."""
    return np.stack([np.asarray(one, dtype=np.float32) for one in table["residual"]])
