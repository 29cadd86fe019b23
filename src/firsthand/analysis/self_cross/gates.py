"""What must be in order before anything is concluded, and before ``privileged`` is."""

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
    if not support.same_data:
        reasons.append("the models were not trained on the same claims in the same order")
    if support.shared_clusters:
        reasons.append(
            f"{len(support.shared_clusters)} clusters were both trained on and judged on, such as "
            f"{min(support.shared_clusters)}"
        )
    clusters = len(set(panel.clusters))
    if clusters < spec.clusters:
        reasons.append(f"the claims come from {clusters} independent clusters, and {spec.clusters} are needed")
    for one in (panel.own, *crossed):
        if len(one.seeds) < spec.seeds:
            reasons.append(
                f"{one.name} was trained with {len(one.seeds)} seed(s), and {spec.seeds} are needed: what another seed "
                "would give is not known"
            )
        if one.weakest_coverage < spec.coverage:
            reasons.append(
                f"coverage: Yes and No hold {one.weakest_coverage:.2g} of the probability of {one.name} in its worst "
                f"training, less than the required {spec.coverage:.0%}; what it would say is not known"
            )
    reasons += [
        f"{one.name} gave no valid answer to {one.invalid:.0%} of the claims"
        for one in (panel.own, *panel.rivals)
        if one.invalid > spec.invalid
    ]
    return tuple(reasons)


def unsupported(evidence: Evidence) -> tuple[str, ...]:
    """What ``privileged`` lacks though the leads are there."""
    panel, support, spec = evidence.panel, evidence.support, evidence.spec
    lacking = []
    if panel.own.constant is not None:
        lacking.append(panel.own.constant)
    crossed = [one.name for one in panel.rivals if one.kind == "cross"]
    if not support.siblings & set(crossed):
        lacking.append(
            "no model that was trained on the same claims is a sibling of the target, and a stranger may lack more "
            "than the state"
        )
    unknown = [name for name in crossed if name not in evidence.net]
    if unknown:
        lacking.append(
            f"whether the target is only the better learner cannot be told: neither it nor {', '.join(unknown)} was "
            "trained on claims about another target"
        )
    for name, found in evidence.net.items():
        if not (found.p_above(0.0) <= spec.alpha and found.value >= spec.least_lead):
            ahead = support.ability[name].value
            lacking.append(
                shown(
                    f"general ability may explain it: on claims about others it is ahead of {name} by {ahead:+.3f}, "
                    "and net of that by",
                    found,
                    spec.alpha,
                    0.0,
                )
            )
    return (*lacking, *_drifted(evidence))


def _drifted(evidence: Evidence) -> tuple[str, ...]:
    support, spec = evidence.support, evidence.spec
    if support.changed is not None:
        if support.changed <= spec.changed:
            return ()
        return (f"training turned {support.changed:.0%} of the labels, so it was judged on what it no longer does",)
    if not support.drift:
        return ("how far training moved the model was not measured, so whether the labels still stand is not known",)
    worst = max(found.high(spec.alpha) for found in support.drift)
    if worst <= spec.drift:
        return ()
    return (
        f"training moved the model by up to {worst:.3f} nats a token, more than {spec.drift:g}, and the labels were "
        "not measured anew",
    )


def moved(evidence: Evidence) -> tuple[str, ...]:
    """In words, how far training moved the model."""
    support = evidence.support
    if support.changed is not None:
        return (f"measured anew on the trained model, {support.changed:.0%} of the labels are others",)
    return (f"training moved it by {max(found.value for found in support.drift):.3f} nats a token",)
