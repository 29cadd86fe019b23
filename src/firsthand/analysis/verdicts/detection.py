"""The rules of detection."""

from firsthand.analysis.evidence import DetectionEvidence
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.verdicts.base import Found, each, matched_by_observer, shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Kind, Verdict

QUIET = (Kind.BASELINE, Kind.SHAM)
"""Kinds in which nothing was disturbed."""

DISTURBED = (Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)
"""Kinds in which something other than the state was disturbed."""


def detection(ev: DetectionEvidence, spec: AnalysisSpec) -> Found:
    """What the numbers give, and why."""
    alpha, margins = spec.alpha, ev.margins
    rates = ", ".join(f"{kind} {rate.value:.3f}" for kind, rate in ev.rates.items())
    smallest = f"smallest margin (against {margins.weakest}{', balanced over strata' if ev.within else ''})"
    base = f"says 'changed' on {rates}; {shown(smallest, margins, alpha, 0.0)}"
    holds = margins.p_above(0.0) <= alpha
    leads = holds and margins.value >= spec.minimum_effect and ev.beyond.p_above(0.0) <= alpha
    if leads and ev.contrast is not None and ev.contrast.p_above(0.0) > alpha:
        contrast = shown(f"against {ev.contrast.weakest} by", ev.contrast, alpha, 0.0)
        return None, (base, f"the answers follow, and the logit contrast behind them is not shown to: {contrast}")
    if leads:
        beyond = shown(f"smallest lead over an observer's margin ({ev.beyond.weakest})", ev.beyond, alpha, 0.0)
        return Verdict.PRIVILEGED, (base, beyond)
    if margins.members and margins.p_below(0.0) <= alpha:
        return Verdict.INVERTED, (f"{base}; below zero against every control (p = {margins.p_below(0.0):.3g})",)
    anomaly = _anomaly(ev, spec)
    if anomaly is not None:
        return anomaly[0], (base, *anomaly[1])
    if holds:
        found = matched_by_observer(ev.beyond, base, spec)
        if found is not None:
            return found
        lead = shown(f"lead over an observer's margin ({ev.beyond.weakest})", ev.beyond, alpha, 0.0)
        return None, (base, f"not shown to be ahead of every observer: {lead}")
    return None, (base, f"no margin shown against: {each(margins.members, margins.failing(alpha))}")


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
