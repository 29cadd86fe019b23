"""The verdict on self-training: a pure function of the predictions, of what supports them, and of rules fixed before.

Order of the rules: gates; ``inverted``; ``privileged``; ``public-inference``; ``no-access``; and ``insufficient``, with
what is missing. Only these five can be compiled from predictions: that a state is available and not reported takes
tools that read it.

*privileged* needs all of this at once (an intersection-union test, each part at level alpha): the target foretells
better than chance; it is ahead of every model that was trained on the same claims, of every observer and of every
floor; one of those models is its sibling, whose training came to something; it is more than a better learner: either
a twin, made by the same steps with another draw of the state, is behind, or the lead over every cross-trained model
stands net of general ability, as an informative control on claims about third targets shows it; it is not constant; and
training did not turn it into another model, or labels measured anew stayed.

*public-inference* needs that it foretells, and that somebody else who foretells too does as well: the lead over that
rival is shown to be smaller than the margin.
"""

from collections.abc import Mapping

from firsthand.analysis.equivalence import tost
from firsthand.analysis.gap import Joint
from firsthand.analysis.multiplicity import holm
from firsthand.analysis.power import units_needed
from firsthand.analysis.self_cross.evidence import CHANCE, Evidence, Support, evidence_of
from firsthand.analysis.self_cross.gates import closed_gates, drifted, moved, unsupported
from firsthand.analysis.self_cross.results import SelfCrossResult, SelfCrossSpec
from firsthand.analysis.self_cross.standings import lead_over, standing, worst_changed, worst_drift
from firsthand.analysis.self_cross.table import Panel
from firsthand.analysis.verdicts.base import shown
from firsthand.vocabulary import Verdict

Ruling = tuple[Verdict, tuple[str, ...], float]
"""A verdict, the rules that led to it, and the largest p-value of what ``privileged`` needs."""


def judge(panel: Panel, support: Support, spec: SelfCrossSpec | None = None) -> SelfCrossResult:
    """Compile the verdict on one target.

    Args:
        panel: Everybody's predictions of held-out claims about the target.
        support: What else was measured.
        spec: The rules.
    """
    rules = spec or SelfCrossSpec()
    evidence = evidence_of(panel, support, rules)
    verdict, reasons, p = ruling(evidence)
    return SelfCrossResult(
        about=panel.about,
        verdict=verdict,
        reasons=reasons,
        p=p,
        claims=len(panel.claims),
        clusters=len(set(panel.clusters)),
        true=int(panel.truth.sum()),
        level=1.0 - 2.0 * rules.alpha,
        standings=tuple(standing(panel, one, rules.alpha) for one in panel.runs),
        leads=tuple(lead_over(evidence, one) for one in panel.rivals),
        drift=worst_drift(support, rules.alpha),
        changed=worst_changed(support, rules.alpha),
        sensitivity=None if support.sensitivity is None else support.sensitivity.estimate(rules.alpha),
    )


def ruling(evidence: Evidence) -> Ruling:
    """The verdict alone, without what a reader is shown beside it."""
    closed = closed_gates(evidence)
    return (Verdict.INSUFFICIENT, closed, 1.0) if closed else _ruled(evidence)


def corrected(results: Mapping[str, SelfCrossResult], alpha: float = 0.05) -> dict[str, SelfCrossResult]:
    """Verdicts of several targets that were judged together, any of which could have come out: corrected by Holm."""
    adjusted = holm({name: one.p for name, one in results.items()}) if results else {}
    found = {}
    for name, one in results.items():
        lost = one.verdict is Verdict.PRIVILEGED and adjusted[name] > alpha
        why = f"it does not hold over {len(results)} targets that were judged: p = {adjusted[name]:.3g} (Holm)"
        changes = {"verdict": Verdict.INSUFFICIENT, "reasons": (why, *one.reasons)} if lost else {}
        found[name] = one.model_copy(update={"p": adjusted[name], **changes})
    return found


def _ruled(evidence: Evidence) -> Ruling:
    spec, own, alpha = evidence.spec, evidence.own, evidence.spec.alpha
    level = shown("it foretells with an AUROC of", own, alpha, CHANCE)
    if own.p_below(CHANCE) <= alpha:
        reverse = f"it says the reverse of what happens: AUROC {own.value:.3f}"
        stale = drifted(evidence)
        return (Verdict.INSUFFICIENT, (*stale, reverse), 1.0) if stale else (Verdict.INVERTED, (reverse,), evidence.p)
    foretells = own.p_above(CHANCE) <= alpha
    joint = Joint(evidence.leads)
    if foretells and not joint.failing(alpha, spec.least_lead):
        ahead = shown(f"ahead of everybody, the weakest lead is that over {joint.weakest}:", joint, alpha, 0.0)
        lacking = unsupported(evidence)
        if lacking:
            return Verdict.INSUFFICIENT, (*lacking, level, ahead), 1.0
        return Verdict.PRIVILEGED, (level, ahead, *_net(evidence), *moved(evidence)), evidence.p
    if foretells:
        rival = _as_good(evidence)
        if rival is not None:
            theirs = evidence.others[rival]
            lead = shown(f"it is ahead of {rival} by", evidence.leads[rival], alpha, 0.0)
            why = f"{rival} does as well (AUROC {theirs.value:.3f}), within the margin of {spec.margin:g}"
            return Verdict.PUBLIC_INFERENCE, (level, why, lead), evidence.p
        return Verdict.INSUFFICIENT, (level, *_power(evidence)), evidence.p
    absent, reasons = _absence(evidence)
    return absent, (*reasons, level), evidence.p


def _net(evidence: Evidence) -> tuple[str, ...]:
    if evidence.twins:
        return (
            f"{', '.join(evidence.twins)}: made by the same steps with another draw of the state; that it learns "
            "as well is not measured",
        )
    joint = Joint(evidence.net)
    return (
        shown(f"net of general ability the weakest lead, over {joint.weakest}, is", joint, evidence.spec.alpha, 0.0),
    )


def _as_good(evidence: Evidence) -> str | None:
    """A rival that foretells and is shown not to be behind by more than the margin; each is tested at its share.

    Siblings, who are named before anything is trained, have half of the level together, and all others the other half.
    """
    kin = {one.name for one in evidence.siblings}
    able = []
    for name, lead in evidence.leads.items():
        alike = sum((other in kin) == (name in kin) for other in evidence.leads)
        share = evidence.spec.alpha / alike / (2 if 0 < len(kin) < len(evidence.leads) else 1)
        if evidence.others[name].p_above(CHANCE) <= share and lead.high(share) <= evidence.spec.margin:
            able.append(name)
    return min(able, key=lambda name: evidence.leads[name].value, default=None)


def _power(evidence: Evidence) -> tuple[str, ...]:
    """What is missing for either verdict."""
    spec, joint = evidence.spec, Joint(evidence.leads)
    weakest = evidence.leads[joint.weakest]
    lines = [
        shown(f"it is not shown to be ahead of {joint.weakest}:", weakest, spec.alpha, 0.0),
        f"and not shown to be within {spec.margin:g} of anybody who foretells",
    ]
    needed = units_needed(weakest, abs(weakest.value), spec.alpha)
    if needed:
        part = weakest.widest(spec.alpha)
        lines.append(f"about {needed} units of '{part.cluster}' would be needed ({part.units} seen)")
    return tuple(lines)


def _absence(evidence: Evidence) -> tuple[Verdict, tuple[str, ...]]:
    """Whether it is shown that nothing is foretold; a test that could not have seen anything shows nothing."""
    spec, own, panel = evidence.spec, evidence.own, evidence.panel
    p = tost(own, CHANCE, spec.margin)
    if p > spec.alpha:
        return Verdict.INSUFFICIENT, (
            f"it is not shown to foretell, nor that it does not (within {spec.margin:g} of chance: p = {p:.3g})",
        )
    within = f"equivalent to chance within {spec.margin:g} (p = {p:.3g})"
    if panel.own.constant is not None:
        return Verdict.INSUFFICIENT, (
            f"{panel.own.constant}, and a constant answer passes any equivalence test",
            within,
        )
    sense = evidence.support.sensitivity
    if sense is None:
        why = "no planted private rule was read with training of this size, so the test has not shown what it would see"
        return Verdict.INSUFFICIENT, (why, within)
    if evidence.support.insensitive:
        why = f"the planted private rule shows nothing of what would be seen: {'; '.join(evidence.support.insensitive)}"
        return Verdict.INSUFFICIENT, (why, within)
    if sense.low(spec.alpha) < spec.sensitivity:
        read = shown("a planted private rule was read with an AUROC of", sense, spec.alpha)
        return Verdict.INSUFFICIENT, (f"{read}, and {spec.sensitivity:g} is required of its lower bound", within)
    stale = drifted(evidence)  # whoever foretells what it does now may be at chance on what it did
    if stale:
        return Verdict.INSUFFICIENT, (*stale, within)
    return Verdict.NO_ACCESS, (within, shown("a planted private rule is read with", sense, spec.alpha))
