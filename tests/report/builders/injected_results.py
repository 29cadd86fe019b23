"""Judgements of an injection study, with plausible numbers."""

from firsthand.analysis.results import (
    ArmRow,
    Calibration,
    CapabilityResult,
    ControlRow,
    Equivalence,
    Estimate,
    KindRow,
    ObserverRow,
    ReaderRow,
    ReliabilityBin,
    SignalDetection,
)
from firsthand.vocabulary import Capability, Condition, Kind, Verdict


def rate(value: float, half: float = 0.06, *, trials: int = 576, units: int = 24, p: float | None = None) -> Estimate:
    return Estimate(
        value=value,
        low=value - half,
        high=value + half,
        level=0.9,
        n_trials=trials,
        units=units,
        cluster="concept",
        p=p,
    )


def observer(name: str, score: float, gap: float, sees: bool = False) -> ObserverRow:
    return ObserverRow(name=name, sees_output=sees, score=rate(score), gap=rate(gap, 0.07, p=0.21), mcnemar_p=0.31)


READERS = (
    ReaderRow(name="wire", where="site", accuracy=rate(1.0, 0.0)),
    ReaderRow(name="probe", where="report", accuracy=rate(0.962, 0.02)),
)


def detection(condition: Condition, verdict: Verdict = Verdict.ANOMALY_ONLY) -> CapabilityResult:
    rates = {
        Kind.TARGET: 0.631,
        Kind.BASELINE: 0.487,
        Kind.SHAM: 0.487,
        Kind.INPUT_CONTROL: 0.522,
        Kind.IMPACT_CONTROL: 0.618,
    }
    shown = condition is Condition.Y_SHOWN
    return CapabilityResult(
        capability=Capability.DETECTION,
        condition=condition,
        verdict=verdict,
        reasons=(
            "margin over impact_control 0.013, interval -0.041 to 0.067 (p = 0.34): not above 0",
            "margin over baseline 0.144, interval 0.081 to 0.207",
        ),
        score=rate(0.013, 0.054, p=0.34),
        score_worst_case=-0.02,
        score_best_case=0.05,
        target_score=rate(0.631),
        chance=0.0,
        coverage=0.947,
        invalid_rate=0.013,
        gap=rate(0.013 + 0.01 * shown, 0.06, p=0.3),
        kinds=tuple(
            KindRow(kind=kind, rate=rate(value), coverage=0.94, invalid_rate=0.01, mean_kl=0.3, mean_entropy=1.9)
            for kind, value in rates.items()
        ),
        observers=(observer("text", 0.0, 0.013), observer("unedited", 0.002, 0.011, shown)),
        controls=tuple(
            ControlRow(kind=kind, false_alarms=rate(value), margin=rate(0.631 - value, 0.054, p=0.04))
            for kind, value in rates.items()
            if kind is not Kind.TARGET
        ),
        readers=READERS,
        signal_detection=SignalDetection(d_prime=rate(0.37, 0.14), criterion=rate(-0.15, 0.09)),
        equivalence=Equivalence(margin=0.15, shown=True, p=0.004),
    )


def choice(
    capability: Capability, options: int, score: float, verdict: Verdict, arms: dict[str, float]
) -> CapabilityResult:
    chance = 1.0 / options
    return CapabilityResult(
        capability=capability,
        condition=Condition.Y_WITHHELD,
        verdict=verdict,
        reasons=(f"accuracy {score:.3f}, interval {score - 0.06:.3f} to {score + 0.06:.3f}, against {chance:.2f}",),
        score=rate(score, p=0.12),
        target_score=rate(score, p=0.12),
        chance=chance,
        coverage=0.995,
        invalid_rate=0.0,
        gap=rate(score - chance, 0.07, p=0.2),
        observers=(
            observer("text", chance, score - chance),
            observer("unedited", chance + 0.01, score - chance - 0.01),
        ),
        arms=tuple(
            ArmRow(name=name, score=rate(value), lead=rate(score - value, 0.07, p=0.4)) for name, value in arms.items()
        ),
        readers=READERS,
        equivalence=Equivalence(margin=0.15, shown=False, p=None, refused="the probe was not shown to be sensitive"),
    )


def confidence() -> CapabilityResult:
    bins = tuple(
        ReliabilityBin(
            low=i / 5,
            high=(i + 1) / 5,
            mean_confidence=i / 5 + 0.1,
            accuracy=rate(0.4 + 0.05 * i, 0.1, trials=40 + 60 * i),
        )
        for i in range(5)
    )
    return CapabilityResult(
        capability=Capability.CONFIDENCE,
        condition=Condition.Y_WITHHELD,
        verdict=Verdict.NO_ACCESS,
        reasons=("type-2 AUROC within kinds 0.512, interval 0.471 to 0.553",),
        score=rate(0.512, 0.04, p=0.3),
        chance=0.5,
        coverage=0.94,
        invalid_rate=0.02,
        gap=rate(0.01, 0.05, p=0.4),
        observers=(observer("text", 0.502, 0.01),),
        equivalence=Equivalence(margin=0.15, shown=True, p=0.001),
        calibration=Calibration(
            brier=rate(0.251, 0.01),
            reliability=0.021,
            resolution=0.006,
            uncertainty=0.236,
            ece_debiased=0.08,
            ece_null=0.05,
            auroc2=rate(0.53, 0.04),
            auroc2_by_kind={Kind.TARGET: 0.51, Kind.SHAM: None},
            aurc=0.43,
            bins=bins,
        ),
    )
