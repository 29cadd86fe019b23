"""Confidence: does it tell right identification answers from wrong ones, beyond what observers could?

The score is the type-2 AUROC with pairs only within a trial kind: comparing a target trial with a baseline trial
would pay for knowing the kind, not for knowing whether the answer was right. Observers' areas are taken over the same
pairs.

Letters change between blocks, so a bias towards a letter adds a constant to every logit of a block, which is nothing
but noise where trials of different blocks are compared. Before pairs are formed the report's logit contrast is
therefore centred within block. Observers have no letters: theirs count as they are or centred, whichever does better.
Brier score, calibration error, reliability and risk-coverage area keep the stated probability.
"""

import numpy as np

from firsthand.analysis.auroc import area
from firsthand.analysis.bootstrap import ClusterSums
from firsthand.analysis.cells import EVERY_KIND, Cells, contrast_of, kind_rows, right
from firsthand.analysis.evidence import ConfidenceEvidence, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import Calibration, Estimate, ObserverRow, ReaderRow
from firsthand.analysis.sections import Case, Sections
from firsthand.analysis.table import Scored
from firsthand.analysis.type2 import Areas, calibration
from firsthand.vocabulary import Kind

LEAST_PROBABILITY = 1e-6
"""Where the contrast is not known the logit of the probability takes its place, kept this far from 0 and 1."""


def logit(probability: FloatArray) -> FloatArray:
    """Log odds, finite ``[trials]``."""
    inside = np.clip(probability, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY)
    return np.asarray(np.log(inside / (1.0 - inside)), dtype=np.float64)


def centred(score: FloatArray, data: Scored) -> FloatArray:
    """The score minus the mean of its block over valid trials ``[trials]``, rounded so that ties stay ties."""
    valid = data.valid.astype(np.float64)
    count = np.bincount(data.block, weights=valid)
    mean = np.bincount(data.block, weights=valid * score) / np.maximum(count, 1.0)
    return np.asarray(np.round(score - mean[data.block], 9), dtype=np.float64)


def sureness(case: Case) -> FloatArray:
    """What orders the report's trials: its logit contrast, centred within block ``[trials]``.

    Invalid answers that were filled in are surer or less sure than any valid one and do not move their block's mean.
    """
    original = case.original
    score = np.where(np.isfinite(original.contrast), original.contrast, logit(original.probability))
    return np.where(original.valid, centred(score, original), np.where(case.data.probability > 0.5, np.inf, -np.inf))


def confidence(case: Case) -> Sections:
    """Measures what confidence is judged by."""
    data, alpha = case.data, case.spec.alpha
    sure = sureness(case)
    scores = {"report": sure}
    for name, observer in data.observers.items():
        scores[f"observer {name}"] = observer.probability
        scores[f"observer {name}, centred"] = centred(logit(observer.probability), data)
    strata = np.unique(data.kinds, return_inverse=True)[1].astype(np.int64)
    areas = Areas(data.truth, data.valid, strata, data.clusters, scores)
    both = {name: (f"observer {name}", f"observer {name}, centred") for name in data.observers}
    seen = {name: areas.better(*names) for name, names in both.items()}
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
        gap=Joint({name: areas.lead("report", seen[name]) for name in data.observers}),
        gap_inverted=Joint({name: areas.further_below("report", names) for name, names in both.items()}),
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
        target_score=_area_estimate(data, sure, target, alpha),
        gap=evidence.gap.estimate(alpha),
        contrast=None if plain.unknown else plain.estimate(alpha, 0.0),
        kinds=kind_rows(case.original, rates, alpha, (~case.original.valid).astype(float)),
        observers=tuple(
            ObserverRow(
                name=name,
                sees_output=observer.sees_output,
                score=areas.measure(seen[name]).estimate(alpha, 0.5),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
            )
            for name, observer in data.observers.items()
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=r.accuracy.members["accuracy"].estimate(alpha, 0.5))
            for r in evidence.readers
        ),
        calibration=_calibration(data, sure, areas, alpha) if data.valid.any() else None,
    )


def _reader(cells: Cells, name: str) -> Measured:
    return cells.measure(cells.balanced(name, EVERY_KIND), about=name)


def _area_estimate(data: Scored, score: FloatArray, rows: np.ndarray, alpha: float) -> Estimate | None:
    found = area(data.truth[rows], score[rows])
    if not np.isfinite(found.value):
        return None
    influence = np.zeros(len(data))
    influence[rows] = found.influence
    sums = ClusterSums({"influence": influence}, data.clusters)
    measured = sums.measure(lambda t: found.value + t["influence"], span=(0.0, 1.0), n_trials=len(rows))
    return measured.estimate(alpha, 0.5)


def _calibration(data: Scored, score: FloatArray, areas: Areas, alpha: float) -> Calibration:
    rows = np.flatnonzero(data.valid)
    by_kind: dict[Kind, float | None] = {}
    for kind in Kind:
        inside = rows[data.of(kind)[rows]]
        if len(inside):
            value = area(data.truth[inside], score[inside]).value
            by_kind[kind] = value if np.isfinite(value) else None
    found = calibration(data.truth, data.probability, data.valid, data.clusters, areas, "report", alpha)
    return found.model_copy(update={"auroc2_by_kind": by_kind})
