"""Does an injection raise "yes" to anything at all?

The same vector at the same dose is added under a question about the world whose right answer is no. If "yes" rises
there as it does under the injection question, the model has not detected anything: it has become affirmative. The rise
under the injection question must exceed the rise under the unrelated one, by units.

Rates cannot show a shift that stays below the threshold of an answer. Where the log-odds are known, their shifts are
compared too. And a rise that hangs on how invalid answers are counted is not shown: in the worst case every invalid
answer to the unrelated question is "yes" with the injection and "no" without.
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
        asked_odds: Mean shift of the log-odds of "yes" under the injection question, in nats; ``None`` if unknown.
        unrelated_odds: The same under the unrelated question.
        beyond_odds: The first minus the second.
        beyond_worst: ``beyond`` with invalid answers counted against it.
        unrelated_worst: ``unrelated`` with them counted so.
        coverage: Least mean mass on valid answers of the unrelated question, with and without the injection.
        headroom: How far "yes" could rise under the unrelated question at all: the rate of "no" there without one.
    """

    asked: Measured
    unrelated: Measured
    beyond: Measured
    headroom: float
    beyond_worst: Measured
    unrelated_worst: Measured
    asked_odds: Measured | None = None
    unrelated_odds: Measured | None = None
    beyond_odds: Measured | None = None
    coverage: float = 1.0


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
    table = table[table["arm"].isin(["clean", "target"])].reset_index(drop=True)
    answer = table["answer"].to_numpy(dtype=np.float64)
    other = (table["task"] == "unrelated").to_numpy()
    target = (table["arm"] == "target").to_numpy()
    worst = np.where(np.isnan(answer) & other, target.astype(np.float64), answer)
    rates, at_worst = (_rates(table, given, spec, seed) for given in (answer, worst))
    shifts = _shifts(table, spec, seed)
    heard = answer[other & ~target]
    return Affirmation(
        asked=rates["detection"],
        unrelated=rates["unrelated"],
        beyond=rates["beyond"],
        headroom=float(1.0 - np.nanmean(heard)) if np.isfinite(heard).any() else 0.0,
        beyond_worst=at_worst["beyond"],
        unrelated_worst=at_worst["unrelated"],
        asked_odds=shifts.get("detection"),
        unrelated_odds=shifts.get("unrelated"),
        beyond_odds=shifts.get("beyond"),
        coverage=float(table[other].groupby("arm")["coverage"].mean().min()) if "coverage" in table else 1.0,
    )


def _rates(table: pd.DataFrame, answer: FloatArray, spec: AnalysisSpec, seed: int) -> dict[str, Measured]:
    """Rises of the rate of "yes" under both questions, and their difference."""
    columns: dict[str, FloatArray] = {}
    for task, arm in _CELLS:
        here = ((table["task"] == task) & (table["arm"] == arm)).to_numpy() & np.isfinite(answer)
        columns[f"{task}/{arm}/yes"] = np.where(here, answer, 0.0)
        columns[f"{task}/{arm}/count"] = here.astype(np.float64)
    sums = ClusterSums(columns, _clusters(table, spec, seed))
    used = int(sum(column.sum() for name, column in columns.items() if name.endswith("count")))

    def rise(task: str, t: Totals) -> FloatArray:
        target, clean = (t[f"{task}/{arm}/yes"] / t[f"{task}/{arm}/count"] for arm in ("target", "clean"))
        return np.asarray(target - clean, dtype=np.float64)

    return {
        "detection": sums.measure(lambda t: rise("detection", t), span=(-1.0, 1.0), n_trials=used),
        "unrelated": sums.measure(lambda t: rise("unrelated", t), span=(-1.0, 1.0), n_trials=used),
        "beyond": sums.measure(lambda t: rise("detection", t) - rise("unrelated", t), span=(-2.0, 2.0), n_trials=used),
    }


def _shifts(table: pd.DataFrame, spec: AnalysisSpec, seed: int) -> dict[str, Measured]:
    """Shifts of the log-odds on one and the same prompt; nothing where they or the prompts are unknown."""
    if not {"contrast", "text"} <= set(table.columns):
        return {}
    clean = table[table["arm"] == "clean"].drop_duplicates("text").set_index("text")["contrast"]
    here = table[table["arm"] == "target"].reset_index(drop=True)
    moved = here["contrast"].to_numpy(dtype=np.float64) - here["text"].map(clean).to_numpy(dtype=np.float64)
    columns: dict[str, FloatArray] = {}
    for task in ("detection", "unrelated"):
        known = (here["task"] == task).to_numpy() & np.isfinite(moved)
        if not known.any():
            return {}
        columns[f"{task}/sum"], columns[f"{task}/count"] = np.where(known, moved, 0.0), known.astype(np.float64)
    sums = ClusterSums(columns, _clusters(here, spec, seed))
    reach, used = float(np.nanmax(np.abs(moved))), int(np.isfinite(moved).sum())

    def mean(task: str, t: Totals) -> FloatArray:
        return np.asarray(t[f"{task}/sum"] / t[f"{task}/count"], dtype=np.float64)

    return {
        "detection": sums.measure(lambda t: mean("detection", t), span=(-reach, reach), n_trials=used),
        "unrelated": sums.measure(lambda t: mean("unrelated", t), span=(-reach, reach), n_trials=used),
        "beyond": sums.measure(
            lambda t: mean("detection", t) - mean("unrelated", t), span=(-2 * reach, 2 * reach), n_trials=used
        ),
    }


def _clusters(table: pd.DataFrame, spec: AnalysisSpec, seed: int) -> Clusters:
    codes = {name: pd.factorize(table[name])[0].astype(np.int64) for name in spec.clusters}
    return Clusters(codes, spec.bootstrap_draws, seed)


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
