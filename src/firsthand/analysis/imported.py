"""Verdicts on other people's tables: the rules of ``docs/verdicts.md``, as far as published columns reach.

The order is that of :mod:`firsthand.analysis.verdict`: gates first, then ``privileged``, ``inverted``,
``anomaly-only``, ``public-inference``, and ``insufficient`` with what is missing. An absence (``no-access``,
``available-not-reported``) needs a reader of the activations, which no published table of answers has; so it is never
given here. Nothing in this module is typed in by hand for a study: it sees numbers, and which columns there were.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.analysis.checks.base import Signal
from firsthand.analysis.findings import ALPHA
from firsthand.analysis.inference import Measured
from firsthand.analysis.means import pct, points_text, units_text
from firsthand.vocabulary import CONTROLS, Capability, Kind, Verdict

MINIMUM_COVERAGE = 0.5
MINIMUM_EFFECT = 0.05
MARGIN = 0.15

OWN_CONTROL: dict[Capability, str] = {
    Capability.DETECTION: "an unrelated yes/no question under the same injections",
    Capability.LOCALISATION: "a question with the same answers that is not about the model itself",
    Capability.CHARACTERISATION: "another question about the same texts, with the same answers",
    Capability.IDENTIFICATION: "labels that are exchanged between states",
}
"""The control without which a capability's answers have a simpler explanation."""


@dataclass(frozen=True, eq=False)
class ImportedEvidence:
    """What a study offers to the rules.

    Attributes:
        capability: What a report was asked for.
        signal: How far the report is from ignoring the state; ``None`` where it cannot be known.
        kinds: Trial kinds with rows.
        own_control: Whether the capability's own control was run on these settings.
        observers: For each observer that was asked, the report's score minus the observer's.
        alarms: For each control kind, the report's rate on it minus that on quiet rows.
        margins: For each control kind, the rate on the target minus that on it.
        coverage: Mean probability mass on the valid answers, where recorded.
        shift: In words, that the injections move any yes/no answer; ``None`` where not shown or not asked.
        missing: What checks found to be missing.
        other_arms: Published arms that are no trial kind of the vocabulary.
        own_words: The capability's own control in the words of the study; ``None`` for the general ones.
    """

    capability: Capability
    signal: Signal | None
    kinds: frozenset[Kind]
    own_control: bool
    observers: dict[str, Measured]
    alarms: dict[Kind, Measured]
    margins: dict[Kind, Measured]
    coverage: float | None = None
    shift: str | None = None
    missing: tuple[str, ...] = ()
    other_arms: tuple[str, ...] = ()
    own_words: str | None = None


@dataclass(frozen=True)
class ImportedRuling:
    """A verdict, its reasons, and what can be concluded nevertheless."""

    verdict: Verdict
    reasons: tuple[str, ...]
    concluded: tuple[str, ...]


def compile_imported(evidence: ImportedEvidence) -> ImportedRuling:
    """Compile the verdict on one published table."""
    concluded = _concluded(evidence)
    closed = _gates(evidence)
    if closed:
        return ImportedRuling(Verdict.INSUFFICIENT, closed, concluded)
    signal = evidence.signal
    assert signal is not None
    text = f"{signal.name}: {points_text(signal.found)} ({units_text(signal.found)})"
    margins, observers = evidence.margins, evidence.observers
    follows = signal.found.p_above(0.0) <= ALPHA and signal.found.value >= MINIMUM_EFFECT
    if follows and _all_above(margins) and _all_above(observers):
        return ImportedRuling(Verdict.PRIVILEGED, (text, *_each("beyond the control", margins)), concluded)
    if signal.found.p_below(0.0) <= ALPHA:
        return ImportedRuling(Verdict.INVERTED, (f"{text}: below what ignoring the state gives",), concluded)
    taken = [
        kind
        for kind, alarm in evidence.alarms.items()
        if kind in margins and alarm.p_above(0.0) <= ALPHA and margins[kind].high(ALPHA) <= MARGIN
    ]
    if evidence.capability is Capability.DETECTION and taken:
        words = ", ".join(kind.value for kind in taken)
        return ImportedRuling(Verdict.ANOMALY_ONLY, (text, f"it fires on {words} as it does on the target"), concluded)
    matched = [name for name, gap in observers.items() if follows and gap.value < MINIMUM_EFFECT]
    if matched:
        return ImportedRuling(
            Verdict.PUBLIC_INFERENCE, (text, f"as good from public evidence: {', '.join(sorted(matched))}"), concluded
        )
    absent = "an absence cannot be concluded: no reader of the activations shows that the state was there to be read"
    return ImportedRuling(Verdict.INSUFFICIENT, (text, absent), concluded)


def _all_above(measured: dict[str, Measured] | dict[Kind, Measured]) -> bool:
    return bool(measured) and all(found.p_above(0.0) <= ALPHA for found in measured.values())


def _each(words: str, measured: dict[Kind, Measured]) -> Sequence[str]:
    return [f"{words} {kind.value}: {points_text(found)}" for kind, found in measured.items()]


def _gates(evidence: ImportedEvidence) -> tuple[str, ...]:
    """Reasons why no verdict but ``insufficient`` is open."""
    reasons = list(evidence.missing)
    absent = [kind.value for kind in CONTROLS if kind not in evidence.kinds]
    if absent:
        others = (
            f" (the published arms {', '.join(evidence.other_arms)} are none of these)" if evidence.other_arms else ""
        )
        reasons.append(f"no rows of the control kinds: {', '.join(absent)}{others}")
    if not evidence.observers:
        reasons.append("no observer of the public evidence was asked, so nothing shows what it gives")
    if evidence.shift is not None:
        reasons.append(evidence.shift)
    if not evidence.own_control and evidence.capability in OWN_CONTROL:
        reasons.append(f"its own control is missing: {evidence.own_words or OWN_CONTROL[evidence.capability]}")
    if evidence.coverage is not None and evidence.coverage < MINIMUM_COVERAGE:
        reasons.append(f"valid answers hold {pct(evidence.coverage)} of the probability")
    if evidence.signal is None:
        reasons.append("what ignoring the state would score cannot be computed from the file")
    return tuple(dict.fromkeys(reasons))


def _concluded(evidence: ImportedEvidence) -> tuple[str, ...]:
    signal = evidence.signal
    if signal is None or signal.found.unknown:
        return ("nothing about the state: there is no rate to hold the answers against",)
    text = f"{signal.name}: {points_text(signal.found)} ({units_text(signal.found)})"
    if signal.found.p_above(0.0) <= ALPHA:
        return (f"the answers follow what was done, by whatever route: {text}",)
    if signal.found.p_below(0.0) <= ALPHA:
        return (f"the answers are right less often than if they ignored what was done: {text}",)
    low, high = signal.found.low(ALPHA), signal.found.high(ALPHA)
    if low > 0.0:
        weakest = max(signal.found.parts, key=lambda part: part.p_above(0.0))
        return (
            f"the interval lies above zero, but {weakest.units} units of {weakest.cluster} are too few for a test that "
            f"rests on them (p = {weakest.p_above(0.0):.3f}): {text}",
        )
    if low > -MARGIN and high < MARGIN:
        return (f"if the answers follow what was done, then by less than {100 * MARGIN:.0f} points: {text}",)
    return (f"neither that the answers follow what was done nor that they do not: {text}",)
