"""Type-2 areas and calibration of a confidence, whatever the report was about that it belongs to.

Every area compares right with wrong answers of the same stratum only, and all areas are resampled together, so that one
can be held against another.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import Clusters, ClusterSums, Totals
from firsthand.analysis.calibration import aurc, bins_of, debiased_ece, murphy, null_ece
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import Calibration, ReliabilityBin


class Areas:
    """Type-2 areas of several scores over the same valid trials.

    Args:
        right: 1.0 where the answer was right, 0.0 where not ``[trials]``.
        valid: Trials that count ``[trials]``.
        strata: Stratum of each trial ``[trials]``; the area called ``"NAME pooled"`` compares all pairs instead.
        clusters: The cluster columns, number of draws and seed.
        scores: Orderings by name ``[trials]``; read on valid trials only.
    """

    def __init__(
        self,
        right: FloatArray,
        valid: NDArray[np.bool_],
        strata: NDArray[np.int64],
        clusters: Clusters,
        scores: Mapping[str, FloatArray],
    ) -> None:
        rows = np.flatnonzero(valid)
        self._n = len(rows)
        self._value: dict[str, float] = {}
        columns: dict[str, FloatArray] = {}
        for name, score in scores.items():
            for label, groups in ((name, strata[rows]), (f"{name} pooled", None)):
                found = area(right[rows], score[rows], groups)
                columns[label] = np.zeros(len(right))
                columns[label][rows] = found.influence
                self._value[label] = found.value
        self._sums = ClusterSums(columns, clusters)

    def better(self, *names: str) -> str:
        """The name of the score with the largest area."""
        return max(names, key=lambda name: np.nan_to_num(self._value[name]))

    def measure(self, name: str) -> Measured:
        """An area with its uncertainty."""
        value = self._value[name]
        return self._sums.measure(lambda t: value + t[name], span=(0.0, 1.0), n_trials=self._n)

    def further_below(self, name: str, others: tuple[str, ...]) -> Joint[Measured]:
        """How much further below one half an area is than each of others is below it, and than each is above it."""

        def by(other: str, sign: float) -> Measured:
            value = sign * (self._value[other] - 0.5) + 0.5 - self._value[name]
            return self._sums.measure(lambda t: value + sign * t[other] - t[name], span=(-1.0, 1.0), n_trials=self._n)

        return Joint(
            {f"{other}, {way}": by(other, s) for other in others for way, s in (("inverted", 1), ("upright", -1))}
        )

    def lead(self, name: str, other: str) -> Measured:
        """One area minus another."""
        value = self._value[name] - self._value[other]
        return self._sums.measure(lambda t: value + t[name] - t[other], span=(-1.0, 1.0), n_trials=self._n)


def calibration(
    right: FloatArray,
    confidence: FloatArray,
    valid: NDArray[np.bool_],
    clusters: Clusters,
    areas: Areas,
    name: str,
    alpha: float,
) -> Calibration:
    """Brier score, calibration error, reliability, areas and risk-coverage area of a stated confidence.

    Args:
        right: 1.0 where the answer was right, 0.0 where not ``[trials]``.
        confidence: P(right) as stated, from 0 to 1 ``[trials]``.
        valid: Trials that count, at least one ``[trials]``.
        clusters: The cluster columns, number of draws and seed.
        areas: Areas in which the confidence is called ``name``.
        name: Its name there.
        alpha: One-sided level of intervals and of the null of the calibration error.
    """
    rows = np.flatnonzero(valid)
    truth, sure = right[rows], confidence[rows]
    bins, edges = bins_of(sure)
    parts = murphy(truth, sure, bins)
    brier, accuracies = _binned(right, confidence, rows, bins, clusters)
    return Calibration(
        brier=brier.estimate(alpha),
        reliability=parts.reliability,
        resolution=parts.resolution,
        uncertainty=parts.uncertainty,
        ece_debiased=debiased_ece(truth, sure, bins),
        ece_null=null_ece(sure, bins, alpha, clusters.seed),
        auroc2=areas.measure(f"{name} pooled").estimate(alpha, 0.5),
        auroc2_stratified=areas.measure(name).estimate(alpha, 0.5),
        aurc=aurc(truth, sure),
        bins=tuple(
            ReliabilityBin(
                low=float(edges[b]),
                high=float(edges[b + 1]),
                mean_confidence=float(sure[bins == b].mean()),
                accuracy=accuracy.estimate(alpha),
            )
            for b, accuracy in enumerate(accuracies)
        ),
    )


def _binned(
    right: FloatArray, confidence: FloatArray, rows: NDArray[np.int64], bins: NDArray[np.int64], clusters: Clusters
) -> tuple[Measured, list[Measured]]:
    """The Brier score and the accuracy within every bin, with cluster intervals."""
    columns = {"n": np.zeros(len(right)), "loss": np.zeros(len(right))}
    columns["n"][rows] = 1.0
    columns["loss"][rows] = (confidence[rows] - right[rows]) ** 2
    count = int(bins.max()) + 1
    for b in range(count):
        inside, inside_right = np.zeros(len(right)), np.zeros(len(right))
        inside[rows[bins == b]] = 1.0
        inside_right[rows[bins == b]] = right[rows[bins == b]]
        columns[f"n{b}"], columns[f"right{b}"] = inside, inside_right
    sums = ClusterSums(columns, clusters)

    def accuracy(b: int) -> Measured:
        def share(t: Totals) -> FloatArray:
            return np.asarray(t[f"right{b}"] / t[f"n{b}"], dtype=np.float64)

        return sums.measure(share, span=(0.0, 1.0), n_trials=int((bins == b).sum()))

    brier = sums.measure(lambda t: np.asarray(t["loss"] / t["n"]), span=(0.0, 1.0), n_trials=len(rows))
    return brier, [accuracy(b) for b in range(count)]
