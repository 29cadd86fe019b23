"""Does an injection raise "yes" to anything at all?

The same vector at the same dose is added under a question about the world whose right answer is no. If "yes" rises
there as it does under the injection question, the model has not detected anything: it has become affirmative. The rise
under the injection question must exceed the rise under the unrelated one, by units.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Clusters, ClusterSums, Totals
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError

_CELLS = [(task, arm) for task in ("detection", "unrelated") for arm in ("clean", "target")]


@dataclass(frozen=True, eq=False)
class Affirmation:
    """Rises of "yes" from the clean to the target arm.

    Attributes:
        asked: Under the injection question.
        unrelated: Under the unrelated question.
        beyond: The first minus the second.
        headroom: How far "yes" could rise under the unrelated question at all: the rate of "no" there without one.
    """

    asked: Measured
    unrelated: Measured
    beyond: Measured
    headroom: float


def affirmation(table: pd.DataFrame, spec: AnalysisSpec, seed: int = 0) -> Affirmation:
    """Measure the rises.

    Args:
        table: Rows with ``task`` (``detection`` or ``unrelated``), ``arm`` (``clean``, ``target``, others are left
            out), ``answer`` (1 for "injected" or "yes", 0, NaN if invalid) and the cluster columns.
        spec: The rules fixed in the claim.
        seed: Seed of the bootstrap.

    Raises:
        AnalysisError: If there are no trials of one of the four kinds, or a cluster column is missing.
    """
    _check(table, spec.clusters)
    answer = table["answer"].to_numpy(dtype=np.float64)
    columns: dict[str, FloatArray] = {}
    for task, arm in _CELLS:
        here = ((table["task"] == task) & (table["arm"] == arm)).to_numpy() & np.isfinite(answer)
        columns[f"{task}/{arm}/yes"] = np.where(here, answer, 0.0)
        columns[f"{task}/{arm}/count"] = here.astype(np.float64)
    codes = {name: pd.factorize(table[name])[0].astype(np.int64) for name in spec.clusters}
    sums = ClusterSums(columns, Clusters(codes, spec.bootstrap_draws, seed))
    used = int(sum(column.sum() for name, column in columns.items() if name.endswith("count")))

    def rise(task: str, t: Totals) -> FloatArray:
        target, clean = (t[f"{task}/{arm}/yes"] / t[f"{task}/{arm}/count"] for arm in ("target", "clean"))
        return np.asarray(target - clean, dtype=np.float64)

    clean = ((table["task"] == "unrelated") & (table["arm"] == "clean")).to_numpy()
    return Affirmation(
        headroom=float(1.0 - np.nanmean(answer[clean])) if np.isfinite(answer[clean]).any() else 0.0,
        asked=sums.measure(lambda t: rise("detection", t), span=(-1.0, 1.0), n_trials=used),
        unrelated=sums.measure(lambda t: rise("unrelated", t), span=(-1.0, 1.0), n_trials=used),
        beyond=sums.measure(lambda t: rise("detection", t) - rise("unrelated", t), span=(-2.0, 2.0), n_trials=used),
    )


def _check(table: pd.DataFrame, clusters: Sequence[str]) -> None:
    missing = [name for name in ("task", "arm", "answer", *clusters) if name not in table.columns]
    if missing or not clusters:
        raise AnalysisError(f"The table lacks {', '.join(missing) or 'named clusters'}.", "Add them.")
    for task, arm in _CELLS:
        if not ((table["task"] == task) & (table["arm"] == arm)).any():
            raise AnalysisError(
                f"There are no trials of the {task} question in the {arm} arm.",
                "Run both questions, with and without the injection.",
            )
