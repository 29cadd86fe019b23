"""The observer that puts together what everybody else says: ahead of each alone is not yet ahead of all.

What other models reply about the judged model is there for judged prompts alone, so this observer is fitted on them:
each prompt's class is foretold by a fit that saw no prompt of its group. It learns from the classes of judged answers,
which the report never saw, and may well know more than it could.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold

from firsthand.analysis.inference import FloatArray
from firsthand.auditing.labels.prediction_observers import Choice, classifier, scaled

COMBINED: Final = "everything public, cross-fitted"
_FOLDS: Final = 5
_LEAST: Final = -20.0  # a log-probability below this says no more than this


def combined(target: pd.DataFrame, said: Mapping[str, FloatArray], classes: int) -> Choice:
    """What all observers together give the target rows.

    Args:
        target: The rows: ``truth``, ``group`` and ``experiment``.
        said: What each observer says of them: log-probabilities of the classes, or other numbers ``[rows, numbers]``.
        classes: Number of classes.

    Returns:
        A class a row ``[rows]``; NaN where a fit would have seen one class only, or groups are too few.
    """
    truth = target["truth"].to_numpy(dtype=np.float64)
    groups = target["group"].astype(str).to_numpy()
    draws = target["experiment"].to_numpy()
    features = scaled(np.concatenate([_centred(values, draws) for values in said.values()], axis=1))
    found = np.full(len(truth), np.nan)
    for seen, held in _splits(truth, groups, classes):
        if len(set(truth[seen].tolist())) > 1:
            learned, _ = classifier(features[seen], truth[seen], groups[seen].tolist())
            found[held] = learned.predict(features[held])
    return found


def logprobs(rows: pd.DataFrame) -> FloatArray:
    """The log-probabilities that rows of replies hold, ``[rows, classes]``."""
    return np.asarray(np.stack(rows["logprobs"].tolist()), dtype=np.float64)


def _centred(values: FloatArray, draws: NDArray[Any]) -> FloatArray:
    """Numbers about their mean in each draw of wording, letters and examples: a liking for a letter says nothing."""
    bounded = np.maximum(np.asarray(values, dtype=np.float64), _LEAST)
    means = {draw: bounded[draws == draw].mean(axis=0) for draw in set(draws.tolist())}
    return np.asarray(bounded - np.stack([means[draw] for draw in draws.tolist()]), dtype=np.float64)


def _splits(
    truth: FloatArray, groups: NDArray[Any], classes: int
) -> Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    rarest = int(np.bincount(truth.astype(np.int64), minlength=classes).min())
    folds = min(_FOLDS, len(set(groups.tolist())), rarest)
    return list(StratifiedGroupKFold(folds).split(truth, truth, groups)) if folds > 1 else []
