"""Equivalence by two one-sided tests (Schuirmann 1987), and what may be concluded from it.

A statistic is equivalent to its reference where it is shown to be above ``reference - margin`` and below
``reference + margin``, each at level alpha. What is held against the reference:

*identification*: the accuracy that counts flipped and unflipped trials alike. Any report made from public evidence is
worth exactly one half there, however good the public cue, so the test asks whether the report follows the state at
all. The accuracy over all kinds must also be within the margin above chance.

*detection*: the specificity margin against every control: target trials are called changed neither more nor less often.
A margin within one stratum that another undoes is a signal too, and forbids to conclude an absence.

*confidence*: the type-2 AUROC against one half.

*choices* among n options: the accuracy, balanced over the true option, against 1/n. *Scores*: their mean, against what
an answer that knows nothing scores.

Equivalence alone is worth nothing: a constant passes, and so does a report that is constant within blocks. So it is
refused unless a wire or probe read the state on the same trials with a lower bound of at least the claim's minimum
sensitivity. A constant report, or one whose logit contrast follows the state while its answers do not, is refused too
unless a reader at the report position shows that the state had arrived there: then "available, not reported" is what
was shown, and the constancy is the way in which it was not reported.
"""

from collections.abc import Sequence

from firsthand.analysis.evidence import (
    ChoiceEvidence,
    ConfidenceEvidence,
    DetectionEvidence,
    Evidence,
    IdentificationEvidence,
    ReaderEvidence,
)
from firsthand.analysis.gap import Joint
from firsthand.analysis.inference import Measured
from firsthand.analysis.results import Equivalence
from firsthand.claims.claim import AnalysisSpec


def tost(measured: Measured, reference: float, margin: float) -> float:
    """p-value of "within ``margin`` of ``reference``": the larger of the two one-sided p-values."""
    return max(measured.p_above(reference - margin), measured.p_below(reference + margin))


def compared(evidence: Evidence) -> list[tuple[str, Measured, float]]:
    """What equivalence is about: a name in words, the statistic, and its reference."""
    match evidence:
        case IdentificationEvidence():
            return [("accuracy beyond the public cue", evidence.following, 0.5)]
        case DetectionEvidence():
            return [(f"margin against {name}", member, 0.0) for name, member in evidence.margins.members.items()]
        case ConfidenceEvidence():
            return [("type-2 AUROC", evidence.auroc, 0.5)]
        case ChoiceEvidence():
            return [(evidence.measure, evidence.accuracy, evidence.chance)]
    raise TypeError(f"no equivalence is defined for {type(evidence).__name__}")


def measure_of(evidence: Evidence) -> str:
    """What is said of readers: their accuracy, or the mean score of their answers where answers have scores."""
    return evidence.measure if isinstance(evidence, ChoiceEvidence) else "accuracy"


def equivalence_p(evidence: Evidence, margin: float) -> float:
    """p-value of the equivalence that the evidence allows to be asked for."""
    p_values = [tost(measured, reference, margin) for _, measured, reference in compared(evidence)]
    if isinstance(evidence, IdentificationEvidence):
        p_values.append(evidence.accuracy.p_below(0.5 + margin))
    return max(p_values, default=1.0)


def most_sensitive(readers: Sequence[ReaderEvidence], alpha: float) -> ReaderEvidence | None:
    """The reader with the highest lower bound."""
    return max(readers, key=lambda reader: reader.accuracy.low(alpha), default=None)


def available_at_report(evidence: Evidence, spec: AnalysisSpec) -> ReaderEvidence | None:
    """The best reader at the report position, if it reads the truth by more than the minimum effect above chance."""
    best = most_sensitive([reader for reader in evidence.readers if reader.where == "report"], spec.alpha)
    chance = evidence.chance if isinstance(evidence, ChoiceEvidence) else 0.5
    if best is None or best.accuracy.low(spec.alpha) <= chance + spec.minimum_effect:
        return None
    return best


def contrast_follows(evidence: Evidence, alpha: float) -> bool:
    """Whether the logit contrast follows the truth in either direction (``alpha / 2`` each) though answers need not."""
    contrast = evidence.contrast
    return contrast is not None and min(contrast.p_above(0.0), contrast.p_below(0.0)) <= alpha / 2.0


def _signal(evidence: Evidence, spec: AnalysisSpec) -> str | None:
    """In words, a signal that is there and large enough to count, whatever it may come from."""
    match evidence:
        case IdentificationEvidence():
            name, found, reference = "accuracy", Joint({"": evidence.accuracy}), 0.5
        case DetectionEvidence():
            name, found, reference = "specificity margin", evidence.margins, 0.0
            alpha = spec.alpha / max(1, len(evidence.within))
            cancelled = [one for one in evidence.within if one.p_above(reference) <= alpha]
            if found.p_above(reference) > spec.alpha and cancelled:
                name = "specificity margin in one stratum, undone in another,"
                found = max(cancelled, key=lambda one: one.value)
        case ConfidenceEvidence():
            name, found, reference = "type-2 AUROC", Joint({"": evidence.auroc}), 0.5
        case ChoiceEvidence():
            name, found, reference = evidence.measure, Joint({"": evidence.accuracy}), evidence.chance
        case _:
            return None
    p = found.p_above(reference)
    if p > spec.alpha or found.value - reference < spec.minimum_effect:
        return None
    return (
        f"a signal is there ({name} {found.value:.3f}, p = {p:.3g}); "
        "whether it is privileged takes more trials or a stronger observer to say"
    )


def _refusal(evidence: Evidence, spec: AnalysisSpec) -> str | None:
    signal = _signal(evidence, spec)
    if signal is not None:
        return signal
    best = most_sensitive(evidence.readers, spec.alpha)
    if best is None:
        return "no wire or probe read the state on these trials, so the test has not shown that it could have seen it"
    low = best.accuracy.low(spec.alpha)
    measure = measure_of(evidence)
    article = f"an {measure}" if measure == "accuracy" else f"a {measure}"
    if low < spec.minimum_sensitivity:
        return (
            f"the best reader ({best.name}, at the {best.where}) has {article} of {best.accuracy.value:.3f} with a "
            f"lower bound of {low:.3f}, below the required sensitivity of {spec.minimum_sensitivity:.2f}"
        )
    if available_at_report(evidence, spec) is not None:
        return None
    if evidence.constant is not None:
        return f"{evidence.constant}, and a constant answer passes any equivalence test"
    if contrast_follows(evidence, spec.alpha) and evidence.contrast is not None:
        return (
            f"the answers do not follow the state but the logit contrast does (by {evidence.contrast.value:+.3f}): a "
            "bias towards an option or letter may hide what the report carries"
        )
    return None


def equivalence(evidence: Evidence, spec: AnalysisSpec) -> Equivalence:
    """Two one-sided tests within the claim's margin, refused where they would mean nothing."""
    p = equivalence_p(evidence, spec.equivalence_margin)
    refused = _refusal(evidence, spec)
    shown = refused is None and p <= spec.alpha
    return Equivalence(margin=spec.equivalence_margin, shown=shown, p=p, refused=refused)
