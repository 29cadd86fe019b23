"""Synthetic documents: every shape a report can meet, with numbers that are easy to recognise.

Those of injection and label studies are in ``builders``, which is made importable by name.
"""

import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from firsthand.analysis.results import (
    Calibration,
    CapabilityResult,
    ControlRow,
    Equivalence,
    Estimate,
    KindRow,
    ObserverRow,
    Profile,
    ReaderRow,
    ReliabilityBin,
    SignalDetection,
)
from firsthand.claims.claim import AnalysisSpec, Claim
from firsthand.report import (
    AuditDocument,
    Cell,
    FreezeEntry,
    KnownAnswer,
    ModelCard,
    ObserverNotRun,
    Selection,
    SelectionRow,
    TrialAnswer,
    TrialSample,
)
from firsthand.report.injection_document import InjectionDocument
from firsthand.report.labels_document import LabelsDocument
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Verdict

sys.path.insert(0, str(Path(__file__).parent / "builders"))

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOSTILE = (
    "</details></pre><script>alert(1)</script> {{ 7 * 7 }} [bold red]x[/] "
    "\u202egnp.exe\u2066 \x1b[31mred\x07 \ud800 &amp;"
)


def estimate(value: float, half: float = 0.06, *, p: float | None = None, trials: int = 240) -> Estimate:
    return Estimate(
        value=value, low=value - half, high=value + half, level=0.9, n_trials=trials, units=24, cluster="block", p=p
    )


def capability_result(
    capability: Capability = Capability.IDENTIFICATION,
    condition: Condition = Condition.Y_WITHHELD,
    verdict: Verdict = Verdict.PUBLIC_INFERENCE,
    *,
    observer: str = "input only",
    reason: str = "The gap to 'input only' is +0.9 pts, interval -4.0 to +5.8.",
) -> CapabilityResult:
    shown = condition is Condition.Y_SHOWN
    detection = capability is Capability.DETECTION
    names = [observer, "public-trace classifier", "same model, third person", "sibling model gemma3-270m"]
    observers = [
        ObserverRow(
            name=name,
            sees_output=shown,
            score=estimate((-0.02 if detection else 0.661) - 0.05 * index + 0.01 * shown, 0.05),
            gap=estimate(0.009 + 0.05 * index - 0.01 * shown, 0.05, p=0.38 / (index + 1)),
            gap_target=None if detection else estimate(0.112 + 0.04 * index, 0.09, p=0.02),
            mcnemar_p=0.41 / (index + 1),
        )
        for index, name in enumerate(names)
    ]
    rates = {
        Kind.TARGET: 0.63,
        Kind.BASELINE: 0.31,
        Kind.SHAM: 0.32,
        Kind.INPUT_CONTROL: 0.44,
        Kind.IMPACT_CONTROL: 0.58,
    }
    kinds = [
        KindRow(
            kind=kind,
            rate=estimate(rate, 0.08, trials=48),
            coverage=0.93,
            invalid_rate=0.02,
            mean_kl=0.21,
            mean_entropy=2.4,
        )
        for kind, rate in rates.items()
    ]
    controls = [
        ControlRow(
            kind=kind,
            false_alarms=estimate(rates[kind], 0.08, trials=48),
            margin=estimate(0.63 - rates[kind], 0.09, p=0.01),
        )
        for kind in CONTROLS
    ]
    confidence = capability is Capability.CONFIDENCE
    bins = [
        ReliabilityBin(
            low=i / 5,
            high=(i + 1) / 5,
            mean_confidence=i / 5 + 0.1,
            accuracy=estimate(0.45 + 0.06 * i, 0.08, trials=20 + 25 * i),
        )
        for i in range(5)
    ]
    calibration = Calibration(
        brier=estimate(0.24, 0.02),
        reliability=0.021,
        resolution=0.006,
        uncertainty=0.225,
        ece_debiased=0.08,
        ece_null=0.05,
        auroc2=estimate(0.57, 0.05),
        auroc2_by_kind={Kind.TARGET: 0.55, Kind.SHAM: None},
        aurc=0.31,
        bins=tuple(bins),
    )
    return CapabilityResult(
        capability=capability,
        condition=condition,
        verdict=verdict,
        reasons=(reason, "Coverage 0.93 is above the claim's minimum of 0.50."),
        score=estimate(0.05 if detection else 0.671),
        score_worst_case=0.655,
        score_best_case=0.69,
        target_score=estimate(0.63 if detection else 0.602, 0.08, trials=48),
        following=None if detection or confidence else estimate(0.512, 0.07),
        gap=estimate(0.009 - 0.01 * shown, 0.055, p=0.38),
        chance=0.0 if detection else 0.5,
        coverage=0.932,
        invalid_rate=0.021,
        contrast=estimate(0.42, 0.2),
        kinds=tuple(kinds),
        observers=tuple(observers),
        controls=tuple(controls) if detection else (),
        readers=(
            ReaderRow(name="wire", where="site", accuracy=estimate(0.995, 0.004)),
            ReaderRow(name="probe", where="report", accuracy=estimate(0.91, 0.04)),
        ),
        signal_detection=SignalDetection(d_prime=estimate(0.81, 0.3), criterion=estimate(-0.12, 0.2))
        if detection
        else None,
        equivalence=Equivalence(margin=0.15, shown=True, p=0.003),
        calibration=calibration if confidence else None,
    )


def profile(*results: CapabilityResult) -> Profile:
    return Profile(reporter="smollm2", trace_digest="d" * 64, results=results or all_results())


def all_results() -> tuple[CapabilityResult, ...]:
    verdicts = {
        Capability.IDENTIFICATION: Verdict.PUBLIC_INFERENCE,
        Capability.DETECTION: Verdict.ANOMALY_ONLY,
        Capability.CONFIDENCE: Verdict.INSUFFICIENT,
    }
    return tuple(capability_result(c, condition, v) for c, v in verdicts.items() for condition in Condition)


def known_answers() -> tuple[KnownAnswer, ...]:
    rows = [
        ("wire", "Reads the state at the edited site and writes it straight into the answer.", Verdict.PRIVILEGED),
        ("mimic", "Repeats the public cue, whatever the state is.", Verdict.PUBLIC_INFERENCE),
        ("smoke alarm", "Says yes to any disturbance, without knowing which.", Verdict.ANOMALY_ONLY),
        ("denier", "Has the state at hand, and always says no.", Verdict.AVAILABLE_NOT_REPORTED),
        ("constant", "Gives the same answer every time.", Verdict.INSUFFICIENT),
        ("LoRA reporter", "The model itself, after training to report such states.", Verdict.PRIVILEGED),
    ]
    capabilities = (Capability.IDENTIFICATION, Capability.DETECTION)
    return tuple(
        KnownAnswer(
            reporter=name,
            description=text,
            capability=capability,
            condition=condition,
            expected=verdict,
            obtained=verdict,
            passed=True,
            reasons=("It came out so for a reason.",),
        )
        for name, text, verdict in rows
        for capability in capabilities
        for condition in Condition
    )


def trials(text: str = "Read the register twice.\nThe sign on the door says K.") -> tuple[TrialSample, ...]:
    return tuple(
        TrialSample(
            trial_id=f"b{block:03d}-{kind.value[:4]}-0",
            block=block,
            kind=kind,
            prompt=text,
            visible_answer="Yes, K.",
            truth={"pre-state": "one", "post-state": "zero" if kind is Kind.TARGET else "one"},
            codes={"K": "zero", "M": "one", "R": "overwritten", "T": "untouched"},
            answers=(
                TrialAnswer(
                    capability=Capability.IDENTIFICATION,
                    code="M",
                    meaning="one",
                    probability=0.61,
                    coverage=0.95,
                    truth="one",
                    correct=kind is not Kind.TARGET,
                ),
                TrialAnswer(
                    capability=Capability.DETECTION,
                    code=None,
                    probability=0.31,
                    coverage=0.42,
                    truth="untouched",
                    correct=False,
                ),
                TrialAnswer(capability=Capability.CONFIDENCE, code="87", meaning=None, probability=0.87, coverage=0.9),
            ),
        )
        for block in range(3)
        for kind in Kind
    )


def make_document(**changes: object) -> AuditDocument:
    grid = [(7, 0.5, 0.551), (7, 1.0, 0.602), (15, 0.5, 0.587), (15, 1.0, 0.694)]
    fields: dict[str, object] = {
        "claim": Claim(
            controls=CONTROLS, observers=("input_only", "classifier"), analysis=AnalysisSpec(clusters=("block",))
        ),
        "claim_hash": "3f7a" * 16,
        "model": ModelCard(
            name="smollm2",
            architecture="LlamaForCausalLM",
            layers=30,
            parameters=134_515_008,
            weights_sha256="a1" * 32,
            tokenizer_sha256="b2" * 32,
            template_sha256="c3" * 32,
            dtype="float32",
            device="cpu",
        ),
        "package_version": "0.1.0",
        "started": NOON,
        "finished": NOON + timedelta(seconds=282),
        "profile": profile(),
        "selection": Selection(
            chosen=Cell(layer=15, dose=1.0),
            rows=tuple(SelectionRow(layer=layer, dose=dose, score=score, n_trials=60) for layer, dose, score in grid),
            criterion="share of states named correctly",
            naive_best=estimate(0.694, trials=60),
            confirmed=estimate(0.671),
        ),
        "known_answers": known_answers(),
        "instrument_ok": True,
        "trials": trials(),
        "freeze_log": tuple(
            FreezeEntry(
                block=i,
                public_sha256=f"{i:02x}" * 32,
                frozen_at=NOON + timedelta(seconds=i),
                assigned_at=NOON + timedelta(seconds=i, milliseconds=3),
            )
            for i in range(3)
        ),
        "observers_not_run": (ObserverNotRun(name="sibling model", reason="gemma3-270m is not installed."),),
        "limits": (
            "The state is a direction that we wrote into the activations; untouched states may be reported or not.",
            "One layer, one dose and one way of asking were confirmed.",
        ),
        "reproduce": (
            "pip install firsthand==0.1.0",
            "firsthand audit --model smollm2 --claim claim.yaml --run runs/coin",
        ),
    }
    return AuditDocument(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.fixture
def document() -> AuditDocument:
    return make_document()


@pytest.fixture
def make() -> SimpleNamespace:
    """The builders of synthetic parts, for tests that need their own."""
    return SimpleNamespace(
        document=make_document,
        profile=profile,
        result=capability_result,
        known=known_answers,
        trials=trials,
        estimate=estimate,
        hostile=HOSTILE,
        all_results=all_results,
    )


@pytest.fixture
def injection(injected: SimpleNamespace) -> InjectionDocument:
    document: InjectionDocument = injected.document()
    return document


@pytest.fixture
def labels(labelled: SimpleNamespace) -> LabelsDocument:
    document: LabelsDocument = labelled.document()
    return document


@pytest.fixture
def labelled() -> SimpleNamespace:
    """The builders of label studies."""
    from labels_study import by_shots, correlations, hostile_document, labels_document

    return SimpleNamespace(
        document=labels_document,
        hostile=hostile_document(HOSTILE),
        long=hostile_document("package.module_" * 12 + ":Observer"),
        curve=by_shots,
        grid=correlations,
    )


@pytest.fixture
def injected() -> SimpleNamespace:
    """The builders of injection studies."""
    from injected_document import hostile_document, injection_document
    from injected_results import detection, rate

    return SimpleNamespace(
        document=injection_document,
        hostile=hostile_document(HOSTILE),
        long=hostile_document("package.module_" * 12 + ":Observer"),
        hostile_text=HOSTILE,
        detection=detection,
        rate=rate,
    )
