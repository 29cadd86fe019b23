"""The rules of choices and of scores."""

from firsthand.analysis.evidence import ChoiceEvidence
from firsthand.analysis.verdicts.base import Found, as_good, each, matched_by_observer, shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

NO_ARM = "any control arm, as none was run"


def choice(ev: ChoiceEvidence, spec: AnalysisSpec) -> Found:
    """What the numbers give, and why."""
    alpha = spec.alpha
    base = shown(ev.measure, ev.accuracy, alpha, ev.chance)
    if ev.accuracy.p_below(ev.chance) <= alpha:
        return _below(ev, f"{base}; below chance (p = {ev.accuracy.p_below(ev.chance):.3g})", spec)
    if ev.accuracy.p_above(ev.chance) > alpha:
        return None, (base,)
    arms, observers = (joint.failing(alpha, spec.minimum_effect) for joint in (ev.arms, ev.gap))
    if ev.arms.members and not arms and not observers and ev.accuracy.value - ev.chance >= spec.minimum_effect:
        return Verdict.PRIVILEGED, (
            f"{base}; ahead of every observer, of the strongest ({ev.gap.weakest}) by "
            f"{shown('a gap of', ev.gap, alpha, 0.0)}",
            f"and of every control arm, of the nearest ({ev.arms.weakest}) by "
            f"{shown('a lead of', ev.arms, alpha, 0.0)}",
        )
    for name in arms:
        lead = ev.arms.members[name]
        if as_good(lead, spec):
            words = shown("the report is ahead of it by", lead, alpha, 0.0)
            return Verdict.ANOMALY_ONLY, (f"{base}, and the control arm {name} {_as_much(ev, 'right')}: {words}",)
    found = matched_by_observer(ev.gap, base, spec)
    if found is not None:
        return found
    failing = {**ev.arms.members, **ev.gap.members}
    lacking = each(failing, (*arms, *observers)) or NO_ARM
    return None, (f"{base}; not shown to be ahead of: {lacking}",)


def _below(ev: ChoiceEvidence, base: str, spec: AnalysisSpec) -> Found:
    """``inverted`` only below every control arm: what is below chance there as well is no report of the state.

    An arm that is not itself shown to be below chance gives no wrong answers of its own, however near it is.
    """
    alpha, leads = spec.alpha, ev.arms.members
    level = tuple(name for name, lead in leads.items() if lead.p_below(0.0) > alpha)
    if leads and not level:
        nearest = max(leads, key=lambda name: leads[name].value)
        lead = leads[nearest]
        words = f"{shown('a lead of', lead, alpha)} (below 0: p = {lead.p_below(0.0):.3g})"
        return Verdict.INVERTED, (base, f"and below every control arm, the nearest ({nearest}) by {words}")
    for name in level:
        lead, own = leads[name], ev.by_arm[name]
        near = lead.value > -spec.minimum_effect or lead.low(alpha) >= -spec.equivalence_margin
        if near and own.p_below(ev.chance) <= alpha:
            words = f"{shown(ev.measure, own, alpha)}, {shown('the report is ahead of it by', lead, alpha)}"
            return Verdict.ANOMALY_ONLY, (f"{base}, and the control arm {name} {_as_much(ev, 'wrong')}: {words}",)
    return Verdict.INSUFFICIENT, (f"{base}, but not shown to be below: {each(leads, level) or NO_ARM}",)


def _as_much(ev: ChoiceEvidence, kind: str) -> str:
    if ev.measure == "accuracy":
        return f"gives as many {kind} answers"
    return "scores as much" if kind == "right" else "scores as little"
