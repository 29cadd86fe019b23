"""What choices and scores have in common: trials with the state in place, and control arms beside them.

Each trial of each arm has a *worth* between 0 and 1: whether a choice was right, or what an answer scored. A report
that is about the state must be worth more on target trials than every observer is there, and more than it is itself in
every control arm.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.bootstrap import Clusters, ClusterSums, Statistic, Totals
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError

TARGET_ARM = "target"


class Arms:
    """A checked table, and sums of what answers were worth by arm and stratum.

    Accuracies are balanced: the mean over the strata of the mean worth in each; a stratum without trials is left out.

    Args:
        table: One row a trial with ``arm``, ``coverage`` and the cluster columns; see :func:`check_arms`.
        worth: What each answer was worth, from 0 to 1, NaN where it was invalid ``[trials]``.
        strata: Stratum of each trial, from 0 ``[trials]``.
        spec: The rules fixed in the claim.
        seed: Seed of the bootstrap.

    Attributes:
        arm: Arm of each trial ``[trials]``.
        target: Whether it is a target trial ``[trials]``.
        valid: Whether its answer was valid ``[trials]``.
    """

    def __init__(
        self, table: pd.DataFrame, worth: FloatArray, strata: NDArray[np.int64], spec: AnalysisSpec, seed: int
    ) -> None:
        self.arm = table["arm"].astype(str).to_numpy(dtype=np.str_)
        self.target: NDArray[np.bool_] = self.arm == TARGET_ARM
        self.valid: NDArray[np.bool_] = np.isfinite(worth)
        coverage = table["coverage"].to_numpy(dtype=np.float64)
        self.names = tuple(dict.fromkeys(self.arm.tolist()))
        self.coverage = {name: float(coverage[self.arm == name].mean()) for name in self.names}
        codes = {name: pd.factorize(table[name])[0].astype(np.int64) for name in spec.clusters}
        self._clusters = Clusters(codes, spec.bootstrap_draws, seed)
        self._strata, self._columns = strata, dict[str, FloatArray]()
        for name in self.names:
            self._cells(name, (self.arm == name) & self.valid, worth)

    def add(self, name: str, worth: FloatArray) -> None:
        """Add what somebody else's answers were worth, all finite ``[target trials]``.

        They count on the trials that the report answered, so that leaving hard trials out cannot look like a lead.
        """
        spread = np.zeros(len(self.arm))
        spread[self.target] = worth
        self._cells(name, self.target & self.valid, spread)

    def _cells(self, name: str, inside: NDArray[np.bool_], worth: FloatArray) -> None:
        for stratum in range(int(self._strata.max()) + 1):
            here = inside & (self._strata == stratum)
            self._columns[f"{name}/{stratum}/worth"] = np.where(here, worth, 0.0).astype(np.float64)
            self._columns[f"{name}/{stratum}/count"] = here.astype(np.float64)

    def unanswered(self, name: str) -> tuple[int, ...]:
        """Strata in which nothing of somebody is valid."""
        strata = range(int(self._strata.max()) + 1)
        return tuple(i for i in strata if not self._columns[f"{name}/{i}/count"].any())

    def close(self) -> None:
        """Sum by cluster; nothing can be added afterwards."""
        self._sums = ClusterSums(self._columns, self._clusters)

    def accuracy(self, name: str) -> Statistic:
        """Mean over the strata of the mean worth."""
        strata = range(int(self._strata.max()) + 1)

        def balanced(t: Totals) -> FloatArray:
            each = np.stack([t[f"{name}/{i}/worth"] / t[f"{name}/{i}/count"] for i in strata])
            known = np.isfinite(each)
            return np.asarray(np.where(known, each, 0.0).sum(axis=0) / known.sum(axis=0), dtype=np.float64)

        return balanced

    def measure(self, statistic: Statistic, arm: str = TARGET_ARM, span: tuple[float, float] = (0.0, 1.0)) -> Measured:
        """A statistic with its uncertainty."""
        return self._sums.measure(statistic, span=span, n_trials=int(((self.arm == arm) & self.valid).sum()))

    def lead(self, other: str) -> Measured:
        """The report's accuracy on target trials minus another one.

        Unknown where the other one lacks a stratum: balanced over fewer of them it would be another number.
        """
        mine, theirs = self.accuracy(TARGET_ARM), self.accuracy(other)
        if set(self.unanswered(other)) - set(self.unanswered(TARGET_ARM)):
            return self.measure(lambda t: np.nan * mine(t), span=(-1.0, 1.0))
        return self.measure(lambda t: mine(t) - theirs(t), span=(-1.0, 1.0))


def on_target(name: str, values: FloatArray, rows: int) -> FloatArray:
    """What somebody gave for the target rows, checked to be one value for each ``[target trials]``.

    Raises:
        AnalysisError: If it is not.
    """
    if np.shape(values) != (rows,):
        raise AnalysisError(
            f"{name} must answer once for each of the {rows} target rows; its shape is {np.shape(values)}.",
            "Align it with the target rows of the table; NaN where it has no answer.",
        )
    return np.asarray(values, dtype=np.float64)


def check_clusters(table: pd.DataFrame, columns: Sequence[str], clusters: Sequence[str]) -> None:
    """Check that a table of trials has its columns, its own id for each, units, and a coverage.

    Raises:
        AnalysisError: Saying what it lacks.
    """
    missing = [name for name in (*columns, *clusters) if name not in table.columns]
    if missing or not clusters:
        raise AnalysisError(
            f"The table lacks the columns: {', '.join(missing) or 'none, but no cluster is named'}.",
            "Add them, and name the independent units in analysis.clusters.",
        )
    if table["trial_id"].duplicated().any():
        raise AnalysisError("A trial_id occurs more than once.", "Give every trial its own id.")
    if table[list(clusters)].isna().any(axis=None):
        raise AnalysisError("A cluster column has empty values.", "Give every trial its unit.")
    coverage = table["coverage"].to_numpy(dtype=np.float64)
    if not (np.isfinite(coverage) & (coverage >= -1e-6) & (coverage <= 1.0 + 1e-6)).all():
        raise AnalysisError("A coverage is not a number from 0 to 1.", "Mend the scoring step that wrote it.")


def check_arms(table: pd.DataFrame, columns: Sequence[str], clusters: Sequence[str]) -> None:
    """Check what every table of arms has to have; see :func:`check_clusters`.

    Raises:
        AnalysisError: Saying what it lacks.
    """
    check_clusters(table, columns, clusters)
    if table["arm"].isna().any():
        raise AnalysisError("A trial belongs to no arm.", "Give every trial its arm.")
    if not (table["arm"] == TARGET_ARM).any():
        raise AnalysisError("The table holds no target trials.", "Run at least one trial with the state in place.")
