"""The verdict: a pure function of the evidence and of the rules fixed in the claim.

Order of the rules: gates; ``privileged``; ``inverted``; ``anomaly-only`` (detection); ``public-inference``; absence
(``available-not-reported``, ``no-access``); and ``insufficient``, saying what is missing. Every reason names its
numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from firsthand.analysis.equivalence import (
    available_at_report,
    compared,
    contrast_follows,
    equivalence,
    most_sensitive,
)
from firsthand.analysis.evidence import (
    ChoiceEvidence,
    ConfidenceEvidence,
    DetectionEvidence,
    Evidence,
    Gates,
    IdentificationEvidence,
)
from firsthand.analysis.gap import Joint, Statistic
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.power import units_needed
from firsthand.analysis.results import Equivalence
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Kind, Verdict

QUIET = (Kind.BASELINE, Kind.SHAM)
"""Kinds in which nothing was disturbed."""

DISTURBED = (Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)
"""Kinds in which something other than the state was disturbed."""

LEAST_MATCHED = 0.8
"""Share of impact controls that must match the target's impact before anything rests on them."""

MOST_FORESEEN = 1000
"""A number of units beyond which a forecast from this few is not worth its digits."""

LEAST_OUTCOMES = 10
"""Right and wrong answers that confidence must at least have had the chance to tell apart."""


@dataclass(frozen=True)
class Ruling:
    """A verdict with its reasons, and the equivalence test it did or did not rest on."""

    verdict: Verdict
    reasons: tuple[str, ...]
    equivalence: Equivalence


def shown(name: str, found: Statistic, alpha: float, reference: float | None = None) -> str:
    """A statistic in words: ``name 0.62 [0.55, 0.69]``, and p where a reference is tested."""
    text = f"{name} {found.value:.3f} [{found.low(alpha):.3f}, {found.high(alpha):.3f}]"
    return text if reference is None else f"{text} (above {reference:g}: p = {found.p_above(reference):.3g})"


def _each(members: Mapping[str, Statistic], names: tuple[str, ...]) -> str:
    return ", ".join(f"{name} ({members[name].value:.3f})" for name in names)


def compile_verdict(evidence: Evidence, spec: AnalysisSpec) -> Ruling:
    """Compiles the verdict of one capability under one condition.

    Args:
        evidence: The measured statistics.
        spec: The rules fixed in the claim.
    """
    tested = equivalence(evidence, spec)
    closed = closed_gates(evidence, spec)
    if closed:
        return Ruling(Verdict.INSUFFICIENT, closed, tested)
    match evidence:
        case IdentificationEvidence():
            found = _identification(evidence, spec)
        case DetectionEvidence():
            found = _detection(evidence, spec)
        case ConfidenceEvidence():
            found = _confidence(evidence, spec)
        case ChoiceEvidence():
            found = _choice(evidence, spec)
        case _:
            raise TypeError(f"no rules for {type(evidence).__name__}")
    verdict, reasons = found
    if verdict is None:
        absent, grounds = _absence(evidence, tested, spec)
        return Ruling(absent, (*reasons, *grounds), tested)
    lost = _unsupported(verdict, evidence, spec)
    if lost:
        return Ruling(Verdict.INSUFFICIENT, (*lost, *reasons), tested)
    return Ruling(verdict, reasons, tested)


def closed_gates(evidence: Evidence, spec: AnalysisSpec) -> tuple[str, ...]:
    """Reasons why nothing may be concluded at all; empty where everything is in order."""
    gates, reasons = evidence.gates, []
    if gates.missing_controls:
        reasons.append(f"no trials of the required control: {', '.join(gates.missing_controls)}")
    if gates.coverage < spec.minimum_coverage:
        reasons.append(
            f"coverage: valid answers hold {gates.coverage:.1%} of the probability, less than the required "
            f"{spec.minimum_coverage:.0%}; what the model would say is not known"
        )
    elif gates.weakest_coverage < spec.minimum_coverage:
        reasons.append(
            f"coverage: on {gates.weakest_kind} trials valid answers hold {gates.weakest_coverage:.1%} of the "
            f"probability, less than the required {spec.minimum_coverage:.0%}"
        )
    if isinstance(evidence, ChoiceEvidence) and evidence.missing_arms:
        reasons.append(f"no trials of the required control arm: {', '.join(evidence.missing_arms)}")
    if gates.valid == 0:
        reasons.append("not one answer was valid")
    if gates.observers == 0:
        reasons.append(
            f"no observer was asked under {evidence.condition}, so nothing shows what the public evidence gives"
        )
    if isinstance(evidence, ConfidenceEvidence) and evidence.rarer < LEAST_OUTCOMES:
        reasons.append(
            f"of {evidence.trials} identification answers only {evidence.rarer} had the rarer outcome; "
            f"at least {LEAST_OUTCOMES} are needed before confidence can tell them apart"
        )
    return tuple(reasons)


def _unsupported(verdict: Verdict, evidence: Evidence, spec: AnalysisSpec) -> tuple[str, ...]:
    """Why a verdict that the numbers give may not stand: a control it rests on was absent or out of order."""
    gates: Gates = evidence.gates
    lost = []
    if verdict is Verdict.PRIVILEGED and gates.unclaimed_controls:
        lost.append(f"the claim leaves out the control: {', '.join(gates.unclaimed_controls)}")
    rests = verdict in (Verdict.PRIVILEGED, Verdict.ANOMALY_ONLY) or (
        isinstance(evidence, DetectionEvidence) and verdict is Verdict.PUBLIC_INFERENCE
    )
    if rests and gates.impact_matched is not None and gates.impact_matched < LEAST_MATCHED:
        lost.append(
            f"the impact control matched the target's impact within {spec.impact_tolerance:.0%} on only "
            f"{gates.impact_matched:.0%} of its trials ({LEAST_MATCHED:.0%} needed), and '{verdict}' would rest on it"
        )
    return tuple(lost)


Found = tuple[Verdict | None, tuple[str, ...]]


def _identification(ev: IdentificationEvidence, spec: AnalysisSpec) -> Found:
    alpha = spec.alpha
    accurate = ev.accuracy.p_above(0.5) <= alpha
    overall, on_target = ev.gap.failing(alpha, spec.minimum_effect), ev.gap_target.failing(alpha)
    by_kind = {Kind.TARGET.value: ev.target, **{kind.value: found for kind, found in ev.controls.items()}}
    off_state = tuple(kind for kind, found in by_kind.items() if found.p_above(0.5) > alpha)
    base = shown("accuracy", ev.accuracy, alpha, 0.5)
    if accurate and not overall and not on_target and not off_state:
        return Verdict.PRIVILEGED, (
            f"{base}; it beats every observer, the strongest ({ev.gap.weakest}) by "
            f"{shown('a gap of', ev.gap, alpha, 0.0)}",
            f"on target trials alone {shown('accuracy', ev.target, alpha, 0.5)}"
            f" and {shown('gap', ev.gap_target, alpha, 0.0)}",
            "above chance under every control: " + ", ".join(f"{k} {m.value:.3f}" for k, m in ev.controls.items()),
        )
    below = max(m.p_below(0.5) for m in (ev.accuracy, ev.target, ev.unchanged))
    if below <= alpha:
        return Verdict.INVERTED, (
            f"{shown('accuracy', ev.accuracy, alpha)}, on target trials {ev.target.value:.3f}, on trials with the "
            f"state unchanged {ev.unchanged.value:.3f}: each below chance (largest p = {below:.3g}), a consistent "
            "signal of the wrong sign",
        )
    if accurate and (found := _matched_by_observer(ev.gap, base, spec)) is not None:
        follows = ev.following.p_above(0.5)
        carries = follows <= alpha and ev.following.value - 0.5 >= spec.minimum_effect
        if not carries or (found := _following_in_public(ev, base, spec)) is not None:
            return found[0], (*found[1], shown("on target trials alone accuracy", ev.target, alpha, 0.5))
        return Verdict.INSUFFICIENT, (
            f"it carries the state beyond public evidence (following {ev.following.value:.3f}, p = {follows:.3g}), "
            f"and is not shown to beat every observer: {_each(ev.gap.members, overall) or ev.gap.weakest}",
            base,
        )
    missing = [base]
    missing += [f"no gap shown over all kinds against: {_each(ev.gap.members, overall)}"] if overall else []
    missing += (
        [f"no gap shown on target trials against: {_each(ev.gap_target.members, on_target)}"] if on_target else []
    )
    missing += [f"not above chance on: {_each(by_kind, off_state)}"] if off_state else []
    return None, tuple(missing)


def _following_in_public(ev: IdentificationEvidence, base: str, spec: AnalysisSpec) -> Found | None:
    """``public-inference`` by an observer that follows the state itself, and by as much: Y has told it."""
    gap = ev.gap_following
    able = {
        name: ev.gap.members[name]
        for name in gap.members
        if ev.following_by_observer[name].p_above(0.5) <= spec.alpha and _as_good(gap.members[name], spec)
    }
    return _matched_by_observer(Joint(able), base, spec)


def _as_good(lead: Statistic, spec: AnalysisSpec) -> bool:
    """Whether a lead over an observer is too small to count, or cannot exceed the margin."""
    return lead.value < spec.minimum_effect or lead.high(spec.alpha) <= spec.equivalence_margin


def _matched_by_observer(gap: Joint[Statistic], base: str, spec: AnalysisSpec) -> Found | None:
    """``public-inference`` where an observer does as well.

    Not to have beaten it is not enough: the observed gap must be smaller than the least effect that counts, or its
    upper bound within the equivalence margin. Otherwise the sample is too small to say so.
    """
    for name in sorted(gap.failing(spec.alpha, spec.minimum_effect), key=lambda name: gap.members[name].value):
        member = gap.members[name]
        if _as_good(member, spec):
            words = shown("the report is ahead of it by", member, spec.alpha, 0.0)
            return Verdict.PUBLIC_INFERENCE, (f"{base}, and the observer {name} does as well: {words}",)
    return None


def _detection(ev: DetectionEvidence, spec: AnalysisSpec) -> Found:
    alpha, margins = spec.alpha, ev.margins
    rates = ", ".join(f"{kind} {rate.value:.3f}" for kind, rate in ev.rates.items())
    smallest = f"smallest margin (against {margins.weakest}{', balanced over strata' if ev.within else ''})"
    base = f"says 'changed' on {rates}; {shown(smallest, margins, alpha, 0.0)}"
    holds = margins.p_above(0.0) <= alpha
    if holds and margins.value >= spec.minimum_effect and ev.beyond.p_above(0.0) <= alpha:
        beyond = shown(f"smallest lead over an observer's margin ({ev.beyond.weakest})", ev.beyond, alpha, 0.0)
        return Verdict.PRIVILEGED, (base, beyond)
    if margins.members and margins.p_below(0.0) <= alpha:
        return Verdict.INVERTED, (f"{base}; below zero against every control (p = {margins.p_below(0.0):.3g})",)
    anomaly = _anomaly(ev, spec)
    if anomaly is not None:
        return anomaly[0], (base, *anomaly[1])
    if holds:
        found = _matched_by_observer(ev.beyond, base, spec)
        if found is not None:
            return found
        lead = shown(f"lead over an observer's margin ({ev.beyond.weakest})", ev.beyond, alpha, 0.0)
        return None, (base, f"not shown to be ahead of every observer: {lead}")
    return None, (base, f"no margin shown against: {_each(margins.members, margins.failing(alpha))}")


def _anomaly(ev: DetectionEvidence, spec: AnalysisSpec) -> Found | None:
    """``anomaly-only`` where the report takes a disturbance for the target; ``None`` if it is no alarm.

    Not to have shown a margin is not enough: its upper bound must lie within the equivalence margin. Otherwise the
    sample is too small to say that the report does not tell the two apart.
    """
    quiet = {k: m for k, m in ev.margins.members.items() if k in QUIET}
    if not quiet or any(m.p_above(0.0) > spec.alpha or m.value < spec.minimum_effect for m in quiet.values()):
        return None
    adjusted = holm({kind.value: excess.p_above(0.0) for kind, excess in ev.excess.items()})
    taken, unclear = [], []
    for kind, excess in ev.excess.items():
        fails = kind.value in ev.margins.members and kind.value in ev.margins.failing(spec.alpha)
        if not fails or adjusted[kind.value] > spec.alpha or excess.value < spec.minimum_effect:
            continue
        margin = ev.margins.members[kind.value]
        words = (
            f"it fires on {kind} too, {excess.value:.3f} more often than on quiet trials "
            f"(p = {adjusted[kind.value]:.3g}), where {shown('the margin is', margin, spec.alpha, 0.0)}"
        )
        if margin.high(spec.alpha) <= spec.equivalence_margin:
            taken.append(f"{words}: it answers to a disturbance, not to its cause")
        else:
            unclear.append(
                f"{words}: a margin against {kind} above {spec.equivalence_margin:g} is not excluded, so it is not "
                "shown to take that disturbance for the change"
            )
    if taken:
        return Verdict.ANOMALY_ONLY, (*taken, *unclear)
    return (Verdict.INSUFFICIENT, tuple(unclear)) if unclear else None


def _choice(ev: ChoiceEvidence, spec: AnalysisSpec) -> Found:
    alpha = spec.alpha
    base = shown("accuracy", ev.accuracy, alpha, ev.chance)
    if ev.accuracy.p_below(ev.chance) <= alpha:
        return Verdict.INVERTED, (f"{base}; below chance (p = {ev.accuracy.p_below(ev.chance):.3g})",)
    if ev.accuracy.p_above(ev.chance) > alpha:
        return None, (base,)
    arms, observers = ev.arms.failing(alpha), ev.gap.failing(alpha, spec.minimum_effect)
    if ev.arms.members and not arms and not observers and ev.accuracy.value - ev.chance >= spec.minimum_effect:
        return Verdict.PRIVILEGED, (
            f"{base}; ahead of every observer, of the strongest ({ev.gap.weakest}) by "
            f"{shown('a gap of', ev.gap, alpha, 0.0)}",
            f"and of every control arm, of the nearest ({ev.arms.weakest}) by "
            f"{shown('a lead of', ev.arms, alpha, 0.0)}",
        )
    for name in arms:
        lead = ev.arms.members[name]
        if _as_good(lead, spec):
            words = shown("the report is ahead of it by", lead, alpha, 0.0)
            return Verdict.ANOMALY_ONLY, (f"{base}, and the control arm {name} gives as many right answers: {words}",)
    found = _matched_by_observer(ev.gap, base, spec)
    if found is not None:
        return found
    failing = {**ev.arms.members, **ev.gap.members}
    lacking = _each(failing, (*arms, *observers)) or "any control arm, as none was run"
    return None, (f"{base}; not shown to be ahead of: {lacking}",)


def _confidence(ev: ConfidenceEvidence, spec: AnalysisSpec) -> Found:
    alpha = spec.alpha
    base = shown("type-2 AUROC within trial kinds", ev.auroc, alpha, 0.5)
    if ev.constant is not None:
        return None, (f"{base}; {ev.constant}: a constant confidence gets no credit",)
    if ev.auroc.p_above(0.5) <= alpha:
        if ev.auroc.value - 0.5 >= spec.minimum_effect and not ev.gap.failing(alpha, spec.minimum_effect):
            ahead = shown(f"ahead of every observer, of the strongest ({ev.gap.weakest}) by", ev.gap, alpha, 0.0)
            return Verdict.PRIVILEGED, (base, ahead)
        found = _matched_by_observer(ev.gap, base, spec)
        if found is not None:
            return found
        failing = _each(ev.gap.members, ev.gap.failing(alpha, spec.minimum_effect))
        failing = failing or f"chance by the smallest effect that counts ({spec.minimum_effect:g})"
        return None, (base, f"not shown to be ahead of: {failing}")
    if ev.auroc.p_below(0.5) <= alpha:
        below = f"{base}; below one half (p = {ev.auroc.p_below(0.5):.3g}): surer where it is wrong"
        as_far = ev.gap_inverted.failing(alpha)
        if as_far:
            words = _each(ev.gap_inverted.members, as_far)
            return Verdict.INSUFFICIENT, (f"{below}, but not shown to be further from one half than: {words}",)
        return Verdict.INVERTED, (below,)
    return None, (base,)


def _absence(evidence: Evidence, tested: Equivalence, spec: AnalysisSpec) -> tuple[Verdict, tuple[str, ...]]:
    if not tested.shown:
        return Verdict.INSUFFICIENT, _missing(evidence, tested, spec)
    words = "; ".join(shown(name, measured, spec.alpha) for name, measured, _ in compared(evidence))
    within = f"equivalent to no signal within {spec.equivalence_margin:g} (p = {tested.p:.3g}): {words}"
    reader = available_at_report(evidence, spec)
    if reader is not None:
        reads = shown(f"{reader.name} reads the state there with accuracy", reader.accuracy, spec.alpha)
        silent = [evidence.constant] if evidence.constant else []
        silent += (
            ["the logit contrast follows the state though the answers do not"]
            if contrast_follows(evidence, spec.alpha)
            else []
        )
        return Verdict.AVAILABLE_NOT_REPORTED, (f"the state reached the report position: {reads}", within, *silent)
    best = most_sensitive(evidence.readers, spec.alpha)
    seen = "" if best is None else shown(f": {best.name} reads the state with accuracy", best.accuracy, spec.alpha)
    return Verdict.NO_ACCESS, (within, f"sensitivity was shown on the same trials{seen}")


def _missing(evidence: Evidence, tested: Equivalence, spec: AnalysisSpec) -> tuple[str, ...]:
    if tested.refused is not None:
        return (f"an absence may not be concluded: {tested.refused}",)
    reasons = []
    for name, measured, reference in compared(evidence):
        margin = spec.equivalence_margin
        low, high = measured.low(spec.alpha) - reference, measured.high(spec.alpha) - reference
        if low > -margin and high < margin:
            continue
        needed = units_needed(measured, margin - abs(measured.value - reference), spec.alpha)
        unit = measured.widest(spec.alpha)
        number = "" if not needed else f"about {needed}" if needed <= MOST_FORESEEN else f"more than {MOST_FORESEEN:,}"
        more = f"; {number} units of '{unit.cluster}' would be needed ({unit.units} seen)" if number else ""
        reasons.append(
            f"power: {name} lies between {low:+.3f} and {high:+.3f} of no signal, beyond the margin {margin:g}{more}"
        )
    return tuple(reasons) or (f"the equivalence test did not succeed (p = {tested.p:.3g})",)
