"""Rows of a study of self-prediction as they are judged, and right answers with classes weighed alike."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import statistic_of
from firsthand.studies.labels.prediction.reports import LOT, TARGET

OTHER_PROMPT: Final = "other prompt"
"""The arm that holds what was said of another prompt against this one's answer; the one that a verdict rests on."""


def judged_rows(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    """The report at the largest number of examples, what it is held against, and what is shown beside it.

    Args:
        rows: What was kept of one property.
        most: The largest number of examples.

    Returns:
        Target rows in order of their item, then those of ``other prompt`` and, if there are examples, of ``lot``.
    """
    target = at(rows, TARGET, most)
    lot = [at(rows, LOT, most)] if most else []
    return pd.concat([target, other_prompt(target), *lot], ignore_index=True)


def at(rows: pd.DataFrame, arm: str, count: int) -> pd.DataFrame:
    """Rows of one arm at one number of examples, in order of their item."""
    found = rows[(rows["arm"] == arm) & (rows["examples"] == count)]
    return found.assign(item=found["number"].astype(str)).sort_values("number").reset_index(drop=True)


def other_prompt(target: pd.DataFrame) -> pd.DataFrame:
    """Each answer held against the truth of another prompt of the same experiment, of another group where there is one.

    A report that says the same whatever the prompt is as right here as it is on target trials.
    """
    moved = []
    for _, some in target.groupby("experiment", sort=True):
        ordered = some.sort_values(["group", "number"]).reset_index(drop=True)
        away = np.roll(np.arange(len(ordered)), len(ordered) // 2)
        moved.append(
            ordered.assign(
                trial_id=ordered["trial_id"] + "/" + OTHER_PROMPT,
                arm=OTHER_PROMPT,
                **{name: ordered[name].to_numpy()[away] for name in ("answer", "choice", "coverage")},
            )
        )
    return pd.concat(moved, ignore_index=True)


def balanced(
    given: FloatArray, truth: NDArray[np.int64], table: pd.DataFrame, clusters: Sequence[str], missing: float = 0.0
) -> Measured:
    """Mean over the true classes of the share of right answers, with its uncertainty.

    Args:
        given: Classes that were given, NaN where none was ``[rows]``.
        truth: The true ones ``[rows]``.
        table: The rows, with the cluster columns.
        clusters: Names of the cluster columns.
        missing: What NaN is worth: nothing for a report, whose invalid answers are not right, and a guess for an
            observer.
    """
    worth = np.where(np.isfinite(given), given == truth, missing)
    return balanced_mean(worth, truth, table, clusters, (0.0, 1.0))


def balanced_mean(
    worth: FloatArray,
    truth: NDArray[np.int64],
    table: pd.DataFrame,
    clusters: Sequence[str],
    span: tuple[float, float],
) -> Measured:
    """Mean over the true classes of the mean worth, with its uncertainty.

    Args:
        worth: What each row is worth ``[rows]``.
        truth: The true classes ``[rows]``.
        table: The rows, with the cluster columns.
        clusters: Names of the cluster columns.
        span: Smallest and largest worth.
    """
    classes = sorted(set(truth.tolist()))
    columns: dict[str, FloatArray] = {}
    for one in classes:
        here = truth == one
        columns |= {f"{one}/worth": np.where(here, worth, 0.0), f"{one}/all": here.astype(np.float64)}

    def mean(totals: Totals) -> FloatArray:
        each = np.stack([totals[f"{one}/worth"] / totals[f"{one}/all"] for one in classes])
        known = np.isfinite(each)
        return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0), dtype=np.float64)

    return statistic_of(columns, table, clusters, mean, span)
