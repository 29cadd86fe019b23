"""What a responder that ignores the state would score: chance is a property of answers and truths, not of a menu.

With ``k`` options on the menu ``1 / k`` is chance only where every option is the truth equally often. A responder that
ignores the state is right with probability ``sum_a P(answer a) P(truth a)``; the best constant one with
``max_a P(truth a)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DIFFERENCE, statistic_of


@dataclass(frozen=True)
class Chance:
    """Chance rates of a table.

    Attributes:
        truths: Share of each true answer, most frequent first.
        answers: Share of each given answer over all rows (an invalid one is none of them); empty if unknown.
        best_constant: What always giving the most frequent truth scores.
        ignoring: What the answers as they are distributed score, dealt without regard to the state.
    """

    truths: dict[str, float]
    answers: dict[str, float]
    best_constant: float
    ignoring: float | None


def chance_of(truth: Sequence[str], answer: Sequence[str | None] | None) -> Chance:
    """Chance from the marginals of truth and answer.

    Args:
        truth: The right answer of each row.
        answer: The given answer, ``None`` where invalid; ``None`` altogether if not recorded.
    """
    truths = pd.Series(list(truth), dtype=object).value_counts(normalize=True)
    given: dict[str, float] = {}
    ignoring = None
    if answer is not None:
        shares = pd.Series(list(answer), dtype=object).value_counts(dropna=True) / max(len(truth), 1)
        given = {str(name): float(share) for name, share in shares.items()}
        ignoring = float(sum(share * float(truths.get(name, 0.0)) for name, share in given.items()))
    return Chance({str(name): float(share) for name, share in truths.items()}, given, float(truths.iloc[0]), ignoring)


def excess_over_ignoring(table: pd.DataFrame, clusters: Sequence[str]) -> Measured:
    """Accuracy minus what the same answers score without regard to the state, with its uncertainty.

    Args:
        table: Rows with ``truth``, ``answer`` and ``correct``.
        clusters: Cluster columns.
    """
    labels = sorted(set(table["truth"].astype(str)))
    truth, answer = table["truth"].astype(str).to_numpy(), table["answer"].astype(object).to_numpy()
    sums: dict[str, FloatArray] = {
        "n": np.ones(len(table)),
        "right": table["correct"].fillna(0.0).to_numpy(dtype=np.float64),
    }
    for index, label in enumerate(labels):
        sums[f"t{index}"] = (truth == label).astype(np.float64)
        sums[f"a{index}"] = (answer == label).astype(np.float64)

    def excess(t: Totals) -> FloatArray:
        by_chance = np.sum([t[f"t{i}"] * t[f"a{i}"] for i in range(len(labels))], axis=0) / t["n"] ** 2
        return np.asarray(t["right"] / t["n"] - by_chance, dtype=np.float64)

    return statistic_of(sums, table, clusters, excess, DIFFERENCE)


def balanced_excess(table: pd.DataFrame, clusters: Sequence[str]) -> Measured:
    """Mean accuracy over the true answers, each counted alike, minus ``1 / k``: a constant answer is worth 0."""
    labels = sorted(set(table["truth"].astype(str)))
    truth, right = table["truth"].astype(str).to_numpy(), table["correct"].to_numpy(dtype=np.float64)
    sums: dict[str, FloatArray] = {}
    for index, label in enumerate(labels):
        sums[f"n{index}"] = (truth == label).astype(np.float64)
        sums[f"r{index}"] = np.where(truth == label, right, 0.0)

    def excess(t: Totals) -> FloatArray:
        each = [t[f"r{i}"] / t[f"n{i}"] for i in range(len(labels))]
        return np.asarray(np.mean(each, axis=0) - 1.0 / len(labels), dtype=np.float64)

    return statistic_of(sums, table, clusters, excess, DIFFERENCE)


def one_truth_cells(table: pd.DataFrame, cells: Sequence[str]) -> tuple[int, int]:
    """How many cells hold one true answer only, of how many."""
    counts = table.groupby(list(cells), sort=False)["truth"].nunique()
    return int((counts == 1).sum()), len(counts)
