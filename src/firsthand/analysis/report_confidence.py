"""The confidence that a model states in a report of any capability: is it surer where the report was right?

The score is the type-2 AUROC with pairs only within a stratum, e.g. one arm at one strength: comparing a trial of one
stratum with one of another would pay for knowing which is the easier, not for knowing whether this answer was right.
Observers, which say from public evidence how likely the report is right, are held against it over the same pairs.

Trials in strata where every report was right, or every one wrong, enter no pair. They do not count as the right and
wrong answers of which there have to be enough.

A confidence that is invalid, in a report that is not, is scored as certain of a right report and sure that a wrong one
is wrong, and the other way round: the verdict must not hang on it. A report that is itself invalid was neither right
nor wrong, and there is nothing in it to be sure of.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.arms import check_clusters
from firsthand.analysis.bootstrap import Clusters, ClusterSums, Totals
from firsthand.analysis.constancy import CONSTANT_SHARE
from firsthand.analysis.evidence import ConfidenceEvidence, Gates, ReaderEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.results import ArmRow, CapabilityResult, ObserverRow, ReaderRow
from firsthand.analysis.robustness import robust
from firsthand.analysis.type2 import Areas, calibration
from firsthand.analysis.verdict import Ruling, compile_verdict
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition

COLUMNS = ("trial_id", "right", "confidence", "coverage", "stratum")

Reading: TypeAlias = tuple[Literal["site", "report"], FloatArray]
"""Where a probe reads, and what: above 0 for a right report, NaN where it could not read ``[trials]``."""


@dataclass(frozen=True, eq=False)
class Foreseen:
    """How likely an observer takes the report to be right.

    Attributes:
        confidence: One value for each row of the table, a higher one for a likelier right report ``[trials]``. Finite
            where the report and its confidence are valid: an observer that cannot tell says the same everywhere.
        sees_output: Whether it saw the visible answer Y.
    """

    confidence: FloatArray
    sees_output: bool = False


@dataclass(frozen=True, eq=False)
class Control:
    """The same report about something else.

    Attributes:
        confidence: What it gives, whether valid or not; NaN where it was not asked ``[trials]``.
        valid: Whether it is a valid reply ``[trials]``.
        coverage: Probability mass on its replies; NaN where it was not asked ``[trials]``.
    """

    confidence: FloatArray
    valid: NDArray[np.bool_]
    coverage: FloatArray


@dataclass(frozen=True, eq=False)
class _Data:
    """The checked table as arrays ``[trials]``, and the names of the strata."""

    right: FloatArray
    confidence: FloatArray
    valid: NDArray[np.bool_]
    strata: NDArray[np.int64]
    names: tuple[str, ...]
    coverage: FloatArray
    clusters: Clusters
    controls: Mapping[str, Control]
    doubtful: tuple[str, ...]
    readers: tuple[ReaderEvidence, ...] = field(default=())


def judge_report_confidence(
    table: pd.DataFrame,
    observers: Mapping[str, Foreseen],
    spec: AnalysisSpec,
    condition: Condition,
    seed: int = 0,
    *,
    controls: Mapping[str, Control] | None = None,
    readers: Mapping[str, Reading] | None = None,
) -> CapabilityResult:
    """Judges a stated confidence.

    Args:
        table: One row a report: ``trial_id``, ``right`` (1, 0, or NaN where the report was invalid), ``confidence``
            (0 to 1, or NaN where it was invalid), ``coverage`` of the confidence, ``stratum``, and the cluster columns.
        observers: What observers foresee, aligned to all rows.
        spec: The rules fixed in the claim.
        condition: Whether observers may have seen Y.
        seed: Seed of the bootstrap.
        controls: What the same report gave about something else, such as another answer to the same question, aligned
            to all rows. A privileged confidence has to tell right from wrong answers better than each, an inverted one
            to be below each, and neither may hang on replies of a control that are invalid: they are scored both ways.
        readers: What probes read, and where, aligned to all rows.

    Returns:
        The result with its verdict and reasons; without a reader no absence is concluded.

    Raises:
        AnalysisError: The table cannot be analysed as asked.
    """
    data = _checked(table, spec, seed, controls or {})
    data = replace(data, readers=tuple(_reader(name, *read, data) for name, read in (readers or {}).items()))
    counting = {n: o for n, o in observers.items() if condition is Condition.Y_SHOWN or not o.sees_output}
    seen = {name: _aligned(name, observer, data) for name, observer in counting.items()}
    constant = _constant(data.confidence[data.valid])
    areas = _areas(data, seen)
    evidence = _evidence(condition, data, areas, tuple(seen), constant)
    holes = np.isfinite(data.right) & ~data.valid
    others = {}
    for fill in ("right", "wrong") if holes.any() else ():
        again = _filled(data, holes, fill)
        others[fill] = _evidence(condition, again, _areas(again, seen), tuple(seen), constant)
    ruling = robust(
        compile_verdict(evidence, spec),
        {fill: compile_verdict(found, spec) for fill, found in others.items()},
        float(holes.sum() / max(1, np.isfinite(data.right).sum())),
    )
    unheard = {name: data.valid & ~control.valid for name, control in data.controls.items()}
    hidden = sum(int(gone.sum()) for gone in unheard.values()) / max(1, len(unheard) * int(data.valid.sum()))
    if hidden > 0:
        fills = {
            words: compile_verdict(_evidence(condition, again, _areas(again, seen), tuple(seen), constant), spec)
            for words, again in _controls_filled(data, unheard)
        }
        ruling = robust(ruling, fills, hidden, "replies of the control")
    worst, best = (others.get(fill, evidence).auroc.estimate(spec.alpha).value for fill in ("wrong", "right"))
    sees_output = {name: observer.sees_output for name, observer in counting.items()}
    return _result(data, areas, evidence, ruling, (worst, best), sees_output, spec.alpha)


def _result(
    data: _Data,
    areas: Areas,
    evidence: ConfidenceEvidence,
    ruling: Ruling,
    bounds: tuple[float, float],
    sees_output: Mapping[str, bool],
    alpha: float,
) -> CapabilityResult:
    return CapabilityResult(
        capability=Capability.CONFIDENCE,
        condition=evidence.condition,
        verdict=ruling.verdict,
        reasons=ruling.reasons,
        score=evidence.auroc.estimate(alpha, 0.5),
        score_worst_case=bounds[0],
        score_best_case=bounds[1],
        chance=0.5,
        coverage=evidence.gates.coverage,
        invalid_rate=float(np.mean(~data.valid)),
        gap=evidence.gap.estimate(alpha),
        observers=tuple(
            ObserverRow(
                name=name,
                sees_output=saw,
                score=areas.measure(f"observer {name}").estimate(alpha, 0.5),
                gap=evidence.gap.members[name].estimate(alpha, 0.0),
            )
            for name, saw in sees_output.items()
        ),
        arms=tuple(
            ArmRow(
                name=name,
                score=areas.measure(f"control {name}").estimate(alpha, 0.5),
                lead=evidence.controls.members[name].estimate(alpha, 0.0),
            )
            for name in data.controls
        ),
        readers=tuple(
            ReaderRow(name=r.name, where=r.where, accuracy=r.accuracy.members["accuracy"].estimate(alpha, 0.5))
            for r in evidence.readers
        ),
        equivalence=ruling.equivalence,
        calibration=(
            calibration(data.right, data.confidence, data.valid, data.clusters, areas, "report", alpha)
            if data.valid.any()
            else None
        ),
    )


def _filled(data: _Data, holes: NDArray[np.bool_], fill: str) -> _Data:
    """The table with invalid confidences surest of right reports and least sure of wrong ones, or the reverse."""
    sure = np.where((data.right == 1.0) == (fill == "right"), np.inf, -np.inf)
    return replace(data, confidence=np.where(holes, sure, data.confidence), valid=data.valid | holes)


def _controls_filled(data: _Data, unheard: Mapping[str, NDArray[np.bool_]]) -> list[tuple[str, _Data]]:
    """The table with invalid replies of controls telling right from wrong reports, or taking one for the other."""
    found = []
    for words, told in (("telling right from wrong", 1.0), ("taking right for wrong", 0.0)):
        sure = np.where(data.right == told, np.inf, -np.inf)
        filled = {
            name: replace(control, confidence=np.where(unheard[name], sure, control.confidence))
            for name, control in data.controls.items()
        }
        found.append((words, replace(data, controls=filled)))
    return found


def _areas(data: _Data, observers: Mapping[str, FloatArray]) -> Areas:
    scores = {f"observer {name}": foreseen for name, foreseen in observers.items()}
    scores |= {f"control {name}": control.confidence for name, control in data.controls.items()}
    return Areas(data.right, data.valid, data.strata, data.clusters, {"report": data.confidence, **scores})


def _evidence(
    condition: Condition, data: _Data, areas: Areas, observers: Sequence[str], constant: str | None
) -> ConfidenceEvidence:
    by_stratum = np.bincount(data.strata, weights=data.coverage) / np.bincount(data.strata)
    weakest = int(by_stratum.argmin())
    return ConfidenceEvidence(
        condition=condition,
        gates=Gates(
            coverage=float(data.coverage.mean()),
            weakest_coverage=float(by_stratum[weakest]),
            weakest=f"in the stratum {data.names[weakest]}",
            valid=int(data.valid.sum()),
            observers=len(observers),
        ),
        constant=constant,
        readers=data.readers,
        controls=Joint({name: areas.lead("report", f"control {name}") for name in data.controls}),
        doubtful=data.doubtful,
        auroc=areas.measure("report"),
        gap=Joint({name: areas.lead("report", f"observer {name}") for name in observers}),
        gap_inverted=Joint({name: areas.further_below("report", (f"observer {name}",)) for name in observers}),
        rarer=_rarer(data),
        trials=int(data.valid.sum()),
        about="reports",
        within="strata",
    )


def _rarer(data: _Data) -> int:
    """Valid trials of the rarer outcome, in strata where both outcomes occur."""
    counts = [np.bincount(data.strata[data.valid & (data.right == k)], minlength=data.strata.max() + 1) for k in (0, 1)]
    both = (counts[0] > 0) & (counts[1] > 0)
    return int(min(counts[0][both].sum(), counts[1][both].sum()))


def _constant(given: FloatArray) -> str | None:
    if not len(given):
        return None
    share = float(np.unique(np.round(given, 3), return_counts=True)[1].max() / len(given))
    return f"{share:.1%} of the valid reports give one and the same confidence" if share >= CONSTANT_SHARE else None


def _aligned(name: str, observer: Foreseen, data: _Data) -> FloatArray:
    """What an observer foresees; where it says nothing, what it says on average ``[trials]``."""
    values = np.asarray(observer.confidence, dtype=np.float64)
    if values.shape != data.right.shape or not np.isfinite(values[data.valid]).all():
        raise AnalysisError(
            f"Observer {name!r} must give one finite confidence for each of the {len(data.right)} rows; its shape is "
            f"{values.shape}.",
            "Align it with the table; an observer that cannot tell says the same everywhere.",
        )
    usual = float(values[data.valid].mean()) if data.valid.any() else 0.0
    return np.where(np.isfinite(values), values, usual)


def _reader(name: str, where: Literal["site", "report"], read: FloatArray, data: _Data) -> ReaderEvidence:
    """Balanced accuracy of a reading over the valid trials; where nothing could be read it is wrong."""
    if np.shape(read) != data.right.shape:
        raise AnalysisError(f"Reader {name!r} must read every row once.", "Align it with the table.")
    hit = np.where(np.isfinite(read), (read > 0) == (data.right == 1.0), False)
    columns: dict[str, FloatArray] = {}
    for k in (0, 1):
        inside = data.valid & (data.right == k)
        columns[f"n{k}"], columns[f"hit{k}"] = inside.astype(np.float64), (inside & hit).astype(np.float64)

    def balanced(t: Totals) -> FloatArray:
        return np.asarray((t["hit0"] / t["n0"] + t["hit1"] / t["n1"]) / 2.0, dtype=np.float64)

    measured: Measured = ClusterSums(columns, data.clusters).measure(
        balanced, span=(0.0, 1.0), n_trials=int(data.valid.sum())
    )
    return ReaderEvidence(name, where, Joint({"accuracy": measured}))


def _control(name: str, given: Control, right: FloatArray) -> Control:
    """A control with its mean where it was not asked, which is not valid."""
    values = np.asarray(given.confidence, dtype=np.float64)
    if any(np.shape(part) != right.shape for part in (values, given.valid, given.coverage)):
        raise AnalysisError(f"Control {name!r} must have a value for every row.", "Align it with the table.")
    known = np.isfinite(values)
    usual = values[known].mean() if known.any() else 0.0
    return replace(given, confidence=np.where(known, values, usual), valid=np.asarray(given.valid, dtype=bool) & known)


def _covered(control: Control) -> float:
    """Mean mass on the replies of a control, where it was asked."""
    known = control.coverage[np.isfinite(control.coverage)]
    return float(known.mean()) if len(known) else 0.0


def _doubt(name: str, control: Control, spec: AnalysisSpec) -> str:
    return (
        f"coverage: in the control '{name}' valid replies hold {_covered(control):.1%} of the probability, less than "
        f"the required {spec.minimum_coverage:.0%}; what the model would say there is not known"
    )


def _checked(table: pd.DataFrame, spec: AnalysisSpec, seed: int, controls: Mapping[str, Control]) -> _Data:
    check_clusters(table, COLUMNS, spec.clusters)
    if table.empty:
        raise AnalysisError("The table has no rows.", "Ask for the confidence of at least one report.")
    if table["stratum"].isna().any():
        raise AnalysisError("A trial belongs to no stratum.", "Give every trial its stratum.")
    right = table["right"].to_numpy(dtype=np.float64)
    confidence = table["confidence"].to_numpy(dtype=np.float64)
    if not (np.isnan(right) | np.isin(right, (0.0, 1.0))).all():
        raise AnalysisError("The column 'right' must be 1, 0 or NaN.", "Use NaN where the report was invalid.")
    if not (np.isnan(confidence) | ((confidence >= 0.0) & (confidence <= 1.0))).all():
        raise AnalysisError("A confidence is outside of 0 to 1.", "Use NaN where it was invalid.")
    strata, names = pd.factorize(table["stratum"])
    least = spec.minimum_coverage
    codes = {name: pd.factorize(table[name])[0].astype(np.int64) for name in spec.clusters}
    return _Data(
        right=right,
        confidence=confidence,
        valid=np.isfinite(right) & np.isfinite(confidence),
        strata=strata.astype(np.int64),
        names=tuple(map(str, names)),
        coverage=table["coverage"].to_numpy(dtype=np.float64),
        clusters=Clusters(codes, spec.bootstrap_draws, seed),
        controls={name: _control(name, given, right) for name, given in controls.items()},
        doubtful=tuple(_doubt(name, given, spec) for name, given in controls.items() if _covered(given) < least),
    )
