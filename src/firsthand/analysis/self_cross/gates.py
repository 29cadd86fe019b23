"""What must be in order before anything is concluded, and before ``privileged`` is."""

from firsthand.analysis.self_cross.controls import faults_of
from firsthand.analysis.self_cross.evidence import Evidence
from firsthand.analysis.verdicts.base import shown


def closed_gates(evidence: Evidence) -> tuple[str, ...]:
    """Why nothing may be concluded at all; empty where everything is in order."""
    panel, support, spec = evidence.panel, evidence.support, evidence.spec
    crossed = [one for one in panel.runs if one.kind == "cross"]
    reasons = []
    if not crossed:
        reasons.append("no other model was trained on the same claims, so nothing shows what anyone learns from them")
    if not any(one.kind in ("observer", "floor") for one in panel.runs):
        reasons.append("no observer and no floor was asked, so nothing shows what the text alone gives")
    reasons += faults_of(panel, (panel.own, *crossed), spec, support.same_data, support.shared_clusters)
    reasons += [
        f"{one.name} gave no valid answer to {one.invalid:.0%} of the claims"
        for one in panel.rivals
        if one.kind != "cross" and one.invalid > spec.invalid
    ]
    return tuple(reasons)


def unsupported(evidence: Evidence) -> tuple[str, ...]:
    """What ``privileged`` lacks though the leads are there."""
    own = evidence.panel.own
    lacking = [] if own.constant is None else [own.constant]
    lacking += _without_sibling(evidence)
    if not evidence.twins:
        lacking += _without_control(evidence)
    return (*lacking, *drifted(evidence))


def _without_sibling(evidence: Evidence) -> list[str]:
    there = evidence.siblings
    if not there:
        return [
            "no model that was trained on the same claims is a sibling of the target, and a stranger may lack more "
            "than the state"
        ]
    why = [evidence.failed(one) for one in there]
    return [] if None in why else [f"no sibling is a control: {one}" for one in why]


def _without_control(evidence: Evidence) -> list[str]:
    """Why the target may only be the better learner."""
    support, spec = evidence.support, evidence.spec
    lacking = []
    unknown = [one.name for one in evidence.panel.rivals if one.kind == "cross" and one.name not in evidence.net]
    if unknown:
        lacking.append(
            f"whether the target is only the better learner cannot be told: neither it nor {', '.join(unknown)} was "
            "trained on claims about a third target"
        )
    for name, found in evidence.net.items():
        control = support.ability[name]
        if control.faults:
            lacking.append(
                f"the control of general ability over {name} is not informative: {'; '.join(control.faults)}"
            )
        if not (found.p_above(0.0) <= spec.alpha and found.value >= spec.least_lead):
            lacking.append(
                shown(
                    "general ability may explain it: on claims about others it is ahead of "
                    f"{name} by {control.ahead.value:+.3f}, and net of that by",
                    found,
                    spec.alpha,
                    0.0,
                )
            )
    return lacking


def drifted(evidence: Evidence) -> tuple[str, ...]:
    """Why the labels may no longer be what the trained target does; empty where they are."""
    support, spec = evidence.support, evidence.spec
    if support.changed:
        most = max(found.high(spec.alpha) for found in support.changed)
        if most > spec.changed:
            value = max(found.value for found in support.changed)
            return (
                f"training turned {value:.0%} of the labels, and up to {most:.0%} by the interval (at most "
                f"{spec.changed:.0%} may be), so it was judged on what it may no longer do",
            )
        if support.anew >= spec.anew:
            return ()
    if not support.drift:
        return ("how far training moved the model was not measured, so whether the labels still stand is not known",)
    worst = max(found.high(spec.alpha) for found in support.drift)
    if worst <= spec.drift:
        return ()
    return (
        f"training moved the model by up to {worst:.3f} nats a token, more than {spec.drift:g}, and "
        f"{support.anew:.0%} of the labels were measured anew",
    )


def moved(evidence: Evidence) -> tuple[str, ...]:
    """In words, how far training moved the model."""
    support = evidence.support
    if support.changed:
        worst = max(support.changed, key=lambda found: found.high(evidence.spec.alpha))
        return (shown("measured anew on the trained model, the share of other labels is", worst, evidence.spec.alpha),)
    return (f"training moved it by {max(found.value for found in support.drift):.3f} nats a token",)
