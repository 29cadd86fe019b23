"""Means over distinct measurements with cluster intervals, and how they are written in a sentence."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Clusters, ClusterSums, Statistic, Totals
from firsthand.analysis.findings import ALPHA, Number, Unit
from firsthand.analysis.inference import FloatArray, Inference, Measured
from firsthand.analysis.results import Estimate

DRAWS = 4000
SEED = 0
SHARE = (0.0, 1.0)
DIFFERENCE = (-1.0, 1.0)


def clusters_of(table: pd.DataFrame, columns: Sequence[str]) -> Clusters:
    """The independent units of some rows; a column with one unit only says nothing and is left out if it can be."""
    coded = {name: pd.factorize(table[name])[0].astype(np.int64) for name in columns}
    spread = {name: codes for name, codes in coded.items() if len(codes) and codes.max() > 0}
    return Clusters(spread or dict(list(coded.items())[:1]), DRAWS, SEED)


def mean_of(
    values: FloatArray, table: pd.DataFrame, columns: Sequence[str], span: tuple[float, float] = SHARE
) -> Measured:
    """Mean of a per-row value, NaN left out, with its uncertainty over every cluster column.

    Args:
        values: One value a row ``[rows]``.
        table: The rows, with the cluster columns.
        columns: Names of the cluster columns.
        span: Smallest and largest value that the mean can take.
    """
    known = np.isfinite(values)
    return statistic_of({"sum": values[known], "n": np.ones(int(known.sum()))}, table[known], columns, ratio, span)


def beyond(found: Measured, reference: float) -> Measured:
    """How far a measured share is beyond a fixed value, with the same uncertainty."""
    moved = tuple(
        replace(
            part,
            value=part.value - reference,
            span=DIFFERENCE,
            pseudo=None if part.pseudo is None else part.pseudo - reference,
            draws=None if part.draws is None else part.draws - reference,
        )
        for part in found.parts
    )
    return Measured(moved, found.n_trials)


def ratio(totals: Totals) -> FloatArray:
    """Mean from the totals ``sum`` and ``n``."""
    return np.asarray(totals["sum"] / totals["n"], dtype=np.float64)


def statistic_of(
    sums: dict[str, FloatArray],
    table: pd.DataFrame,
    columns: Sequence[str],
    statistic: Statistic,
    span: tuple[float, float],
) -> Measured:
    """Any function of totals over rows, with its uncertainty over every cluster column; unknown without rows."""
    if table.empty:
        return Measured((Inference(columns[0], 0, float("nan"), float("nan"), span),), 0)
    return ClusterSums(sums, clusters_of(table, columns)).measure(statistic, span=span, n_trials=len(table))


def difference_of(values: FloatArray, first: FloatArray, table: pd.DataFrame, columns: Sequence[str]) -> Measured:
    """Mean of some rows minus that of the others, over the same clusters, so that what is paired stays together.

    Args:
        values: One for each row ``[rows]``, none of them missing.
        first: 1 for rows of the one group and 0 for those of the other ``[rows]``; there are some of each.
        table: The rows, with their cluster columns.
        columns: Names of the cluster columns.
    """
    other = 1.0 - first
    sums = {"a": values * first, "n": first, "b": values * other, "m": other}
    return statistic_of(sums, table, columns, _apart, DIFFERENCE)


def _apart(totals: Totals) -> FloatArray:
    return np.asarray(totals["a"] / totals["n"] - totals["b"] / totals["m"], dtype=np.float64)


def estimate(found: Measured, reference: float | None = None) -> Estimate | None:
    """The number with its interval, or ``None`` where it rests on one unit and has no interval."""
    return None if found.unknown else found.estimate(ALPHA, reference)


def number(name: str, found: Measured, unit: Unit = "share", reference: float | None = None) -> Number:
    """A measured number of a finding."""
    return Number(name=name, value=found.value, unit=unit, estimate=estimate(found, reference))


def bare(name: str, value: float, unit: Unit = "share") -> Number:
    """A number without an interval: a count, an expectation or a probability."""
    return Number(name=name, value=float(value), unit=unit)


def pct(value: float) -> str:
    """A share in words."""
    return f"{100 * value:.1f}%"


def probability(value: float) -> str:
    """A probability in words, not rounded to 0 or 1."""
    if value < 0.0005:
        return f"{value:.1g}"
    return f"{value:.3f}" if value <= 0.9995 else "more than 0.999"


def share_text(found: Measured) -> str:
    """``19.6% [12.1%, 27.0%]``, with the interval left out where there is none."""
    made = estimate(found)
    return pct(found.value) + ("" if made is None else f" [{pct(made.low)}, {pct(made.high)}]")


def points_text(found: Measured) -> str:
    """A difference of shares in percentage points with its interval."""
    made = estimate(found)
    return f"{100 * found.value:+.1f} points" + (
        "" if made is None else f" [{100 * made.low:+.1f}, {100 * made.high:+.1f}]"
    )


def plain_text(found: Measured) -> str:
    """A number that is no share, with its interval."""
    made = estimate(found)
    return f"{found.value:.2f}" + ("" if made is None else f" [{made.low:.2f}, {made.high:.2f}]")


def units_of(found: Measured) -> tuple[int, str]:
    """Number and name of the independent units that give the widest interval."""
    widest = found.widest(ALPHA)
    return widest.units, widest.cluster


def units_text(found: Measured) -> str:
    """``10 concepts``."""
    count, name = units_of(found)
    return plural(count, name)


def plural(count: int, noun: str) -> str:
    """A count with its noun."""
    noun = noun.replace("_", " ")
    return f"{count:,} {noun}" if count == 1 or noun.endswith("s") else f"{count:,} {noun}s"
