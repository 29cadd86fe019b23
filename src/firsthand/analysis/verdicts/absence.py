"""The rules of an absence: equivalence and sensitivity, or what is missing for them."""

from firsthand.analysis.equivalence import (
    available_at_report,
    compared,
    contrast_follows,
    measure_of,
    most_sensitive,
)
from firsthand.analysis.evidence import Evidence
from firsthand.analysis.power import units_needed
from firsthand.analysis.results import Equivalence
from firsthand.analysis.verdicts.base import shown
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Verdict

MOST_FORESEEN = 1000
"""A number of units beyond which a forecast from this few is not worth its digits."""


def absence(evidence: Evidence, tested: Equivalence, spec: AnalysisSpec) -> tuple[Verdict, tuple[str, ...]]:
    """Which absence the evidence shows, and why; ``insufficient``, and what is missing, where it shows none."""
    if not tested.shown:
        return Verdict.INSUFFICIENT, _missing(evidence, tested, spec)
    words = "; ".join(shown(name, measured, spec.alpha) for name, measured, _ in compared(evidence))
    within = f"equivalent to no signal within {spec.equivalence_margin:g} (p = {tested.p:.3g}): {words}"
    reader = available_at_report(evidence, spec)
    if reader is not None:
        reads = shown(f"{reader.name} reads the state there with {measure_of(evidence)}", reader.accuracy, spec.alpha)
        silent = [evidence.constant] if evidence.constant else []
        silent += (
            ["the logit contrast follows the state though the answers do not"]
            if contrast_follows(evidence, spec.alpha)
            else []
        )
        return Verdict.AVAILABLE_NOT_REPORTED, (f"the state reached the report position: {reads}", within, *silent)
    best = most_sensitive(evidence.readers, spec.alpha)
    seen = (
        ""
        if best is None
        else shown(f": {best.name} reads the state with {measure_of(evidence)}", best.accuracy, spec.alpha)
    )
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
