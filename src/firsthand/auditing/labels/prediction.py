"""The judgement of self-prediction: is the report ahead of everyone who has the same examples of the behaviour?"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import statistic_of
from firsthand.analysis.results import CapabilityResult
from firsthand.auditing.labels.readers import READER, UNREAD
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.prediction.reports import LOT, TARGET
from firsthand.vocabulary import Capability, Condition, Verdict

OTHER_PROMPT = "other prompt"
"""The arm that holds what was said of another prompt against this one's answer."""
CAPABILITY, CONDITION = Capability.IDENTIFICATION, Condition.Y_WITHHELD


def judge(
    table: pd.DataFrame,
    classes: int,
    observers: Mapping[str, FloatArray],
    outright: FloatArray,
    spec: AnalysisSpec,
) -> CapabilityResult:
    """The verdict on one property.

    Args:
        table: Rows of the arm ``target``, at one number of examples, and of the control arms: ``trial_id``, ``arm``,
            ``experiment``, ``item``, ``group``, ``truth``, ``answer`` and ``coverage``.
        classes: Number of classes.
        observers: The class that each observer gives the target rows, in their order; NaN is worth a guess.
        outright: The class of what the model answers to the prompt itself after the same examples, in the same order:
            whether the behaviour that is to be foreseen is there at all.
        spec: The rules.

    Returns:
        Identification: was the class told, beyond every observer, and not where the examples or the prompt were
        others? Nothing is ``privileged`` that no other language model has tried to tell from the same examples.

    Raises:
        AnalysisError: If a class is never true.
    """
    arms = [name for name in dict.fromkeys(table["arm"]) if name != TARGET]
    result = judge_choice(
        CAPABILITY,
        CONDITION,
        table.assign(truth=table["truth"].astype(np.int64), block=table["experiment"].astype(str)),
        classes,
        {name: Chosen(values) for name, values in observers.items()},
        {"asked outright": ("site", outright)},
        spec,
        arms,
        seed=0,
    )
    if result.verdict is not Verdict.PRIVILEGED or any(name.startswith(READER) for name in observers):
        return result
    return result.model_copy(update={"verdict": Verdict.INSUFFICIENT, "reasons": (*result.reasons, UNREAD)})


def judged_rows(rows: pd.DataFrame, most: int) -> pd.DataFrame:
    """The rows that a verdict rests on: the report and its control arms at the largest number of examples.

    Args:
        rows: What was kept of one property.
        most: The largest number of examples.

    Returns:
        Target rows in order of their item, then those of the arms: ``lot`` if there are examples, and ``other prompt``.
    """
    target = at(rows, TARGET, most)
    lot = [at(rows, LOT, most)] if most else []
    return pd.concat([target, *lot, other_prompt(target)], ignore_index=True)


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
    classes = sorted(set(truth.tolist()))
    columns: dict[str, FloatArray] = {}
    for one in classes:
        here = truth == one
        columns |= {f"{one}/right": np.where(here, worth, 0.0), f"{one}/all": here.astype(np.float64)}

    def mean(totals: Totals) -> FloatArray:
        each = np.stack([totals[f"{one}/right"] / totals[f"{one}/all"] for one in classes])
        known = np.isfinite(each)
        return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0), dtype=np.float64)

    return statistic_of(columns, table, clusters, mean, (0.0, 1.0))
