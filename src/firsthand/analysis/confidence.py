"""Confidence: does it tell right identification answers from wrong ones, beyond what observers could?

The score is the type-2 AUROC with pairs only within a trial kind: comparing a target trial with a baseline trial
would pay for knowing the kind, not for knowing whether the answer was right. Observers' areas are taken over the same
pairs.
"""

import numpy as np

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import Clusters, ClusterSums, Totals
from firsthand.analysis.calibration import aurc, bins_of, debiased_ece, murphy, null_ece
from firsthand.analysis.cells import EVERY_KIND, Cells, contrast_of, kind_rows, right
from firsthand.analysis.evidence import ConfidenceEvidence, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import Calibration, Estimate, ObserverRow, ReaderRow, ReliabilityBin
from firsthand.analysis.sections import Case, Sections
from firsthand.analysis.table import Scored
from firsthand.vocabulary import Kind


class _Areas:
    """Type-2 areas of several scores over the same valid trials, resampled together."""

    def __init__(self, data: Scored, scores: dict[str, FloatArray]) -> None:
        rows = np.flatnonzero(data.valid)
        strata = np.unique(data.kinds, return_inverse=True)[1].astype(np.int64)[rows]
        self._n = len(rows)
        self._value: dict[str, float] = {}
        columns: dict[str, FloatArray] = {}
        for name, score in scores.items():
            for label, groups in ((name, strata), (f"{name} pooled", None)):
                found = area(data.truth[rows], score[rows], groups)
                columns[label] = np.zeros(len(data))
                columns[label][rows] = found.influence
                self._value[label] = found.value
        self._sums = ClusterSums(columns, data.clusters)

    def measure(self, name: str) -> Measured:
        value = self._value[name]
        return self._sums.measure(lambda t: value + t[name], span=(0.0, 1.0), n_trials=self._n)

    def lead(self, name: str, other: str) -> Measured:
        value = self._value[name] - self._value[other]
        return self._sums.measure(lambda t: value + t[name] - t[other], span=(-1.0, 1.0), n_trials=self._n)


def confidence(case: Case) -> Sections:
    """Measures what confidence is judged by."""
    data, alpha = case.data, case.spec.alpha
    scores = {"report": data.probability}
    scores |= {f"observer {name}": observer.probability for name, observer in data.observers.items()}
    areas = _Areas(data, scores)
    contrast, reach = contrast_of(case.original)
    values = {"contrast": contrast, "sure": np.where(data.valid, data.probability, np.nan)}
    for name, reading in data.readers.items():
        values[f"reader {name}"] = np.nan_to_num(right(data.truth, np.heaviside(reading.value, 0.5)), nan=0.0)
    cells = Cells(data, values)
    evidence = ConfidenceEvidence(
        condition=case.condition,
        gates=case.gates,
        constant=case.constant,
        readers=tuple(
            ReaderEvidence(n, r.where, Joint({"accuracy": _reader(cells, f"reader {n}")}))
            for n, r in data.readers.items()
        ),
        auroc=areas.measure("report"),
        gap=Joint({name: areas.lead("report", f"observer {name}") for name in data.observers}),
        rarer=int(min((data.truth == 1.0)[data.valid].sum(), (data.truth == 0.0)[data.valid].sum())),
        trials=int(data.valid.sum()),
    )
    plain = cells.measure(cells.between_truths("contrast", EVERY_KIND), about="contrast", span=(-reach, reach))
    rates = {k: cells.measure(cells.mean("sure", (k,)), about="sure", kinds=(k,)) for k in cells.present}
    target = np.flatnonzero(data.of(Kind.TARGET) & data.valid)
    return Sections(
        evidence=evidence,
        score=evidence.auroc.estimate(alpha, 0.5),
        chance=0.5,
        target_score=_area_estimate(data, target, alpha),
        gap=evidence.gap.estimate(alpha),
        contrast=None if plain.unknown else plain.estimate(alpha, 0.0),
        kinds=kind_rows(case.original, rates, alpha, (~case.original.valid).astype(float)),
        observers=tuple(
            ObserverRow(
                name=name,
                sees_output=observer.sees_output,
                score=areas.measure(f"observer {name}").estimate(alpha, 0.5),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
            )
            for name, observer in data.observers.items()
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=r.accuracy.members["accuracy"].estimate(alpha, 0.5))
            for r in evidence.readers
        ),
        calibration=_calibration(data, areas, alpha) if data.valid.any() else None,
    )


def _reader(cells: Cells, name: str) -> Measured:
    return cells.measure(cells.balanced(name, EVERY_KIND), about=name)


def _area_estimate(data: Scored, rows: FloatArray | np.ndarray, alpha: float) -> Estimate | None:
    found = area(data.truth[rows], data.probability[rows])
    if not np.isfinite(found.value):
        return None
    influence = np.zeros(len(data))
    influence[rows] = found.influence
    sums = ClusterSums({"influence": influence}, data.clusters)
    measured = sums.measure(lambda t: found.value + t["influence"], span=(0.0, 1.0), n_trials=len(rows))
    return measured.estimate(alpha, 0.5)


def _calibration(data: Scored, areas: _Areas, alpha: float) -> Calibration:
    rows = np.flatnonzero(data.valid)
    truth, sure = data.truth[rows], data.probability[rows]
    bins, edges = bins_of(sure)
    parts = murphy(truth, sure, bins)
    by_kind: dict[Kind, float | None] = {}
    for kind in Kind:
        inside = data.of(kind)[rows]
        if inside.any():
            value = area(truth[inside], sure[inside]).value
            by_kind[kind] = value if np.isfinite(value) else None
    brier, accuracies = _binned(data, rows, bins, data.clusters)
    return Calibration(
        brier=brier.estimate(alpha),
        reliability=parts.reliability,
        resolution=parts.resolution,
        uncertainty=parts.uncertainty,
        ece_debiased=debiased_ece(truth, sure, bins),
        ece_null=null_ece(sure, bins, alpha, data.clusters.seed),
        auroc2=areas.measure("report pooled").estimate(alpha, 0.5),
        auroc2_stratified=areas.measure("report").estimate(alpha, 0.5),
        auroc2_by_kind=by_kind,
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
    data: Scored, rows: FloatArray | np.ndarray, bins: np.ndarray, clusters: Clusters
) -> tuple[Measured, list[Measured]]:
    """The Brier score and the accuracy within every bin, with cluster intervals."""
    columns = {"n": np.zeros(len(data)), "loss": np.zeros(len(data))}
    columns["n"][rows] = 1.0
    columns["loss"][rows] = (data.probability[rows] - data.truth[rows]) ** 2
    count = int(bins.max()) + 1
    for b in range(count):
        inside = np.zeros(len(data))
        inside[rows[bins == b]] = 1.0
        columns[f"n{b}"], columns[f"right{b}"] = inside, inside * data.truth
    sums = ClusterSums(columns, clusters)

    def accuracy(b: int) -> Measured:
        def share(t: Totals) -> FloatArray:
            return np.asarray(t[f"right{b}"] / t[f"n{b}"], dtype=np.float64)

        return sums.measure(share, span=(0.0, 1.0), n_trials=int((bins == b).sum()))

    brier = sums.measure(lambda t: np.asarray(t["loss"] / t["n"]), span=(0.0, 1.0), n_trials=len(rows))
    return brier, [accuracy(b) for b in range(count)]
