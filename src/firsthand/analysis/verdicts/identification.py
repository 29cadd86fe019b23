"""The rules of identification."""

from firsthand.analysis.evidence import IdentificationEvidence
from firsthand.analysis.gap import Joint
from firsthand.analysis.verdicts.base import Found, as_good, each, matched_by_observer, shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Kind, Verdict


def identification(ev: IdentificationEvidence, spec: AnalysisSpec) -> Found:
    """What the numbers give, and why."""
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
    if accurate and (found := matched_by_observer(ev.gap, base, spec)) is not None:
        follows = ev.following.p_above(0.5)
        carries = follows <= alpha and ev.following.value - 0.5 >= spec.minimum_effect
        if not carries or (found := _following_in_public(ev, base, spec)) is not None:
            return found[0], (*found[1], shown("on target trials alone accuracy", ev.target, alpha, 0.5))
        return Verdict.INSUFFICIENT, (
            f"it carries the state beyond public evidence (following {ev.following.value:.3f}, p = {follows:.3g}), "
            f"and is not shown to beat every observer: {each(ev.gap.members, overall) or ev.gap.weakest}",
            base,
        )
    missing = [base]
    missing += [f"no gap shown over all kinds against: {each(ev.gap.members, overall)}"] if overall else []
    missing += [f"no gap shown on target trials against: {each(ev.gap_target.members, on_target)}"] if on_target else []
    missing += [f"not above chance on: {each(by_kind, off_state)}"] if off_state else []
    return None, tuple(missing)


def _following_in_public(ev: IdentificationEvidence, base: str, spec: AnalysisSpec) -> Found | None:
    """``public-inference`` by an observer that follows the state itself, and by as much: Y has told it."""
    gap = ev.gap_following
    able = {
        name: ev.gap.members[name]
        for name in gap.members
        if ev.following_by_observer[name].p_above(0.5) <= spec.alpha and as_good(gap.members[name], spec)
    }
    return matched_by_observer(Joint(able), base, spec)
