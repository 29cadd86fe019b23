"""The rules of confidence."""

from firsthand.analysis.evidence import ConfidenceEvidence
from firsthand.analysis.verdicts.base import Found, as_good, each, matched_by_observer, shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict


def confidence(ev: ConfidenceEvidence, spec: AnalysisSpec) -> Found:
    """What the numbers give, and why."""
    alpha = spec.alpha
    base = shown(f"type-2 AUROC within {ev.within}", ev.auroc, alpha, 0.5)
    if ev.constant is not None:
        return None, (f"{base}; {ev.constant}: a constant confidence gets no credit",)
    if ev.auroc.p_above(0.5) <= alpha:
        if ev.auroc.value - 0.5 >= spec.minimum_effect and not ev.gap.failing(alpha, spec.minimum_effect):
            ahead = shown(f"ahead of every observer, of the strongest ({ev.gap.weakest}) by", ev.gap, alpha, 0.0)
            return _over_controls(ev, spec, (base, ahead))
        found = matched_by_observer(ev.gap, base, spec)
        if found is not None:
            return found
        failing = each(ev.gap.members, ev.gap.failing(alpha, spec.minimum_effect))
        failing = failing or f"chance by the smallest effect that counts ({spec.minimum_effect:g})"
        return None, (base, f"not shown to be ahead of: {failing}")
    if ev.auroc.p_below(0.5) <= alpha:
        below = f"{base}; below one half (p = {ev.auroc.p_below(0.5):.3g}): surer where it is wrong"
        as_far = ev.gap_inverted.failing(alpha)
        if as_far:
            words = each(ev.gap_inverted.members, as_far)
            return Verdict.INSUFFICIENT, (f"{below}, but not shown to be further from one half than: {words}",)
        return _under_controls(ev, spec, (below,))
    return None, (base,)


def _over_controls(ev: ConfidenceEvidence, spec: AnalysisSpec, reasons: tuple[str, ...]) -> Found:
    """A report ahead of every observer has to be about this answer, too: the same report about another must not do."""
    if ev.doubtful:
        return Verdict.INSUFFICIENT, (*reasons, *ev.doubtful)
    for name in ev.controls.failing(spec.alpha, spec.minimum_effect):
        lead = ev.controls.members[name]
        words = shown(f"ahead of the same report in the control '{name}' by", lead, spec.alpha, 0.0)
        if not lead.unknown and as_good(lead, spec):
            return Verdict.ANOMALY_ONLY, (*reasons, f"{words}: it tells as much where it is about something else")
        return None, (*reasons, f"not shown to be {words}")
    return Verdict.PRIVILEGED, reasons


def _under_controls(ev: ConfidenceEvidence, spec: AnalysisSpec, reasons: tuple[str, ...]) -> Found:
    """A report of the wrong sign has to have it about this answer: the same report about another must not be as low."""
    if ev.doubtful:
        return Verdict.INSUFFICIENT, (*reasons, *ev.doubtful)
    for name, lead in ev.controls.members.items():
        if lead.p_below(0.0) <= spec.alpha and -lead.value >= spec.minimum_effect:
            continue
        words = f"below the same report in the control '{name}' (p = {lead.p_below(0.0):.3g})"
        as_low = -lead.value < spec.minimum_effect or lead.low(spec.alpha) >= -spec.equivalence_margin
        if not lead.unknown and as_low:
            told = shown("it is ahead of it by", lead, spec.alpha)
            return Verdict.ANOMALY_ONLY, (*reasons, f"not {words}, {told}: as low where it is about something else")
        return Verdict.INSUFFICIENT, (*reasons, f"not shown to be {words}")
    return Verdict.INVERTED, reasons
