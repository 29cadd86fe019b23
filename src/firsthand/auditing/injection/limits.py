"""What an injection study does not show, said on every report."""

from collections.abc import Sequence

from firsthand.claims.injection import InjectionClaim
from firsthand.report.injection_document import FindingResult


def limits_of(claim: InjectionClaim, findings: Sequence[FindingResult]) -> tuple[str, ...]:
    """Limits of what may be concluded from a study."""
    count = sum(len(finding.results) for finding in findings)
    return (
        "The state is artificial: a vector that was added. Nothing follows for thoughts, goals or feelings that occur "
        "by themselves.",
        "The public text is the same in every arm but the one that pushes, so an observer of the input alone cannot "
        "tell the arms apart; the strongest observers here are those of the visible answer.",
        f"Verdicts rest on concepts as independent units, and on one wording a concept unless the claim asks for more "
        f"(voices: {claim.voices}): another wording may report more, or less.",
        f"{count} verdicts are given, each at level {claim.analysis.alpha:g}: with so many questions a single positive "
        "one should be repeated under another seed before it is believed.",
        "Answers are forced choices after the beginning of an answer; coverage says how much of the probability they "
        "hold. What the model would say freely is in 'naming' only.",
        "A dose is measured at the trial line; at sentences and in earlier turns the same length is added.",
        "A denial is not a proof of absence, and functional access, where shown, says nothing about experience.",
    )
