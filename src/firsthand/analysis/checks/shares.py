"""Shares of groups of rows, with intervals that respect two kinds of unit that were crossed.

Each number is seen in three ways: with both kinds of unit resampled independently (the crossed bootstrap), and through
each kind alone (the cluster bootstrap, or Student's t below 20 units). The interval is the widest of the three: eleven
models remain eleven models, and a rate of 100% does not get an interval of width zero.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import ClusterSums, Statistic, Totals
from firsthand.analysis.crossed import crossed
from firsthand.analysis.findings import ALPHA, Number, Unit
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import DIFFERENCE, SHARE, clusters_of, pct, plural
from firsthand.analysis.results import Estimate

DRAWS = 4_000

NEARLY = 0.01
"""A rate this near to 0 or 1 is a constant answer, of which nothing further is asked."""

Mask = NDArray[np.bool_]


def crossed_units(study: ImportedStudy) -> tuple[str, str] | None:
    """The two crossed columns, where a study has rows of more than one unit of each."""
    if study.crossed is None or any(study.table[name].nunique() < 2 for name in study.crossed):
        return None
    return study.crossed


class Shares:
    """Means of a per-row value over named groups of rows, and differences of such means.

    Args:
        study: Names the crossed columns.
        rows: The rows.
        groups: For each name the values ``[rows]`` and which rows count ``[rows]``.
    """

    def __init__(self, study: ImportedStudy, rows: pd.DataFrame, groups: Mapping[str, tuple[FloatArray, Mask]]) -> None:
        counts = np.any([inside for _, inside in groups.values()], axis=0)
        rows = rows[counts]
        groups = {name: (values[counts], inside[counts]) for name, (values, inside) in groups.items()}
        columns: dict[str, FloatArray] = {}
        self.count = {name: int(inside.sum()) for name, (_, inside) in groups.items()}
        for name, (values, inside) in groups.items():
            columns[f"{name}/sum"] = np.where(inside, np.nan_to_num(values), 0.0)
            columns[f"{name}/n"] = inside.astype(np.float64)
        self.total = {name: float(columns[f"{name}/sum"].sum()) for name in groups}
        names = study.crossed if study.crossed is not None else (study.clusters[0], study.clusters[-1])
        several = tuple(name for name in names if rows[name].nunique() > 1)
        self._names = names
        self._sums = ClusterSums(columns, clusters_of(rows, several or names[:1])) if len(rows) else None
        self._crossed = None
        if len(several) == 2:
            first, second = (pd.factorize(rows[name])[0].astype(np.int64) for name in names)
            self._crossed = crossed(columns, first, second, names, draws=DRAWS)

    def of(self, group: str) -> Estimate | None:
        """The mean of a group; ``None`` where it is empty or rests on one unit."""
        return self._estimate(lambda t: _mean(t, group), self.count[group], SHARE)

    def between(self, group: str, other: str, scale: float = 1.0) -> Estimate | None:
        """The mean of a group minus ``scale`` times that of another, with the p-value of "greater than zero"."""
        rows = max(self.count[group], self.count[other])
        return self._estimate(lambda t: _mean(t, group) - scale * _mean(t, other), rows, DIFFERENCE, 0.0)

    def _estimate(
        self, statistic: Statistic, rows: int, span: tuple[float, float], reference: float | None = None
    ) -> Estimate | None:
        if self._sums is None or rows == 0:
            return None
        alone = self._sums.measure(statistic, span=span, n_trials=rows)
        if alone.unknown:
            return None
        found = alone.estimate(ALPHA, reference)
        if self._crossed is None:
            return found
        both = self._crossed.estimate(statistic, ALPHA, reference)
        tested = [one.p for one in (found, both) if one.p is not None]
        return found.model_copy(
            update={
                "low": min(found.low, both.low),
                "high": max(found.high, both.high),
                "units": both.units,
                "cluster": both.cluster,
                "p": max(tested) if tested else None,
            }
        )

    @property
    def how(self) -> str:
        """How the intervals were made, in words."""
        if self._crossed is None:
            return "cluster interval"
        (first, second), (many, few) = self._crossed.names, self._crossed.sizes
        return f"crossed intervals over {plural(many, first)} and {plural(few, second)}"


def _mean(totals: Totals, group: str) -> FloatArray:
    return np.asarray(totals[f"{group}/sum"] / totals[f"{group}/n"], dtype=np.float64)


def constant(rate: float) -> bool:
    """Whether a rate is (nearly) 0 or 1."""
    return not NEARLY < rate < 1.0 - NEARLY


def share_words(found: Estimate | None, value: float) -> str:
    """``20.8% [11.0%, 30.1%]``, or the share alone where it has no interval."""
    return pct(value) if found is None else f"{pct(found.value)} [{pct(found.low)}, {pct(found.high)}]"


def points_words(found: Estimate | None) -> str:
    """A difference in percentage points with its interval."""
    if found is None:
        return "unknown"
    return f"{100 * found.value:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"


def numbers_of(shares: Shares, names: Mapping[str, str]) -> tuple[Number, ...]:
    """Numbers of a finding from groups, by the name under which each is shown; empty groups are left out."""
    return tuple(
        Number(name=shown, value=shares.total[group] / shares.count[group], estimate=shares.of(group))
        for group, shown in names.items()
        if shares.count[group]
    )


def difference(name: str, found: Estimate | None, unit: Unit = "points") -> tuple[Number, ...]:
    """A difference as a number of a finding, if it could be computed."""
    return () if found is None else (Number(name=name, value=found.value, unit=unit, estimate=found),)


def settings(rows: pd.DataFrame, names: Sequence[str]) -> dict[str, Mask]:
    """Rows by setting, in a fixed order: ``{"instruction baseline, hint_type metadata": ...}``."""
    if not names:
        return {"all rows": np.ones(len(rows), dtype=bool)}
    found: dict[str, Mask] = {}
    for values in sorted(set(rows[list(names)].itertuples(index=False, name=None)), key=str):
        inside = np.ones(len(rows), dtype=bool)
        for name, value in zip(names, values, strict=True):
            inside &= rows[name].eq(value).to_numpy()
        found[", ".join(f"{name.replace('_', ' ')} {value}" for name, value in zip(names, values, strict=True))] = (
            inside
        )
    return found


def cued(study: ImportedStudy) -> pd.DataFrame:
    """Rows in which a cue pointed at an option."""
    return study.table[study.table["hinted"].notna()] if study.has("hinted") else study.table.iloc[:0]
