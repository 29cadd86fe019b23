"""The shape of every result that a user sees: numbers with intervals, units and reasons.

These models are the documented, versioned schema of ``--json`` and the only thing that reports read. A number shown
to a user is an :class:`Estimate`: it has an interval and says on how many independent units it rests.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from firsthand.vocabulary import Capability, Condition, Kind, Verdict

SCHEMA_VERSION: Literal[1] = 1


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Estimate(_Result):
    """A number, its interval, and what it rests on.

    Attributes:
        value: Point estimate.
        low: Lower end of the two-sided interval at ``level``.
        high: Upper end.
        level: Coverage of the interval, ``1 - 2 * alpha`` (so that each end is a one-sided bound at ``alpha``).
        n_trials: Trials used.
        units: Number of independent clusters of the column that gave the widest interval.
        cluster: Name of that column.
        p: One-sided p-value of "greater than the reference", the largest over cluster columns; ``None`` if not tested.
    """

    value: float
    low: float
    high: float
    level: float
    n_trials: int
    units: int
    cluster: str
    p: float | None = None


class KindRow(_Result):
    """One trial kind and what its answers were worth.

    ``rate`` is how often the report was right (identification) or said yes (detection), or its mean confidence.
    """

    kind: Kind
    rate: Estimate
    coverage: float
    invalid_rate: float
    mean_kl: float | None = None
    mean_entropy: float | None = None


class ObserverRow(_Result):
    """One observer: its score, and what the report has beyond it.

    ``gap`` is over all trials, ``gap_target`` on target trials alone (identification); for detection ``gap`` is the
    smallest difference of specificity margins over the controls. ``mcnemar_p`` is the exact one-sided McNemar test of
    "the report is right more often", which takes trials for independent and is shown beside, never instead.
    """

    name: str
    sees_output: bool
    score: Estimate
    gap: Estimate
    gap_target: Estimate | None = None
    mcnemar_p: float | None = None


class ControlRow(_Result):
    """One control of the specificity margin: rate of false alarms and TPR minus it."""

    kind: Kind
    false_alarms: Estimate
    margin: Estimate


class ArmRow(_Result):
    """A control arm of a choice: its accuracy, and how far the report is ahead of it."""

    name: str
    score: Estimate
    lead: Estimate


class ReaderRow(_Result):
    """A wire or probe that reads the state in the activations on the same trials.

    ``where`` says what its success shows: at the ``site`` that the state landed and the test can see it
    (sensitivity), at the ``report`` position that the state reached the place from which the report is made
    (availability).
    """

    name: str
    where: Literal["site", "report"]
    accuracy: Estimate


class SignalDetection(_Result):
    """d' and criterion c with log-linear correction, always together, with cluster intervals."""

    d_prime: Estimate
    criterion: Estimate


class Equivalence(_Result):
    """Two one-sided tests within the claim's margin; ``refused`` says why they may mean nothing."""

    margin: float
    shown: bool
    p: float | None
    refused: str | None = None


class ReliabilityBin(_Result):
    """One bin of a reliability diagram."""

    low: float
    high: float
    mean_confidence: float
    accuracy: Estimate


class Calibration(_Result):
    """Confidence: Brier score with its decomposition, calibration error, type-2 AUROC and risk-coverage area.

    ``ece_debiased`` is the root mean square calibration error over bins, without the bias of small bins.
    ``ece_null`` is what the debiased error of a perfectly calibrated report stays below with probability ``1 - alpha``;
    ``auroc2`` compares all pairs of trials, ``auroc2_stratified`` only pairs of the same kind.
    """

    brier: Estimate
    reliability: float
    resolution: float
    uncertainty: float
    ece_debiased: float
    ece_null: float
    auroc2: Estimate
    auroc2_stratified: Estimate | None = None
    auroc2_by_kind: dict[Kind, float | None] = Field(default_factory=dict)
    aurc: float
    bins: tuple[ReliabilityBin, ...] = ()


class CapabilityResult(_Result):
    """Everything about one capability under one condition, and the verdict compiled from it.

    ``score`` is the balanced accuracy (identification), the smallest specificity margin (detection) or the type-2
    AUROC within kinds (confidence); ``target_score`` the same on target trials, for detection the true-positive rate.
    ``gap`` is the smallest advantage over the observers, its upper bound corrected over them. ``following`` is the
    accuracy that counts flipped and unflipped trials alike, so that any public cue is worth one half;
    ``contrast_following`` is the same for the logit contrast (for detection the smallest difference to a control).
    ``repeats_collapsed`` rows counted no longer.
    """

    capability: Capability
    condition: Condition
    verdict: Verdict
    reasons: tuple[str, ...]
    score: Estimate | None = None
    score_worst_case: float | None = None
    score_best_case: float | None = None
    target_score: Estimate | None = None
    chance: float
    coverage: float
    invalid_rate: float
    contrast: Estimate | None = None
    contrast_following: Estimate | None = None
    following: Estimate | None = None
    gap: Estimate | None = None
    repeats_collapsed: int = 0
    kinds: tuple[KindRow, ...] = ()
    observers: tuple[ObserverRow, ...] = ()
    controls: tuple[ControlRow, ...] = ()
    arms: tuple[ArmRow, ...] = ()
    readers: tuple[ReaderRow, ...] = ()
    signal_detection: SignalDetection | None = None
    equivalence: Equivalence | None = None
    calibration: Calibration | None = None


class Profile(_Result):
    """One reporter's verdicts, never pooled into one score."""

    schema_version: Literal[1] = SCHEMA_VERSION
    reporter: str
    trace_digest: str
    results: tuple[CapabilityResult, ...]
