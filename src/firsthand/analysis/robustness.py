"""Whether a verdict hangs on answers that are invalid: what they would have been is not known."""

from collections.abc import Mapping

from firsthand.analysis.verdict import Ruling
from firsthand.vocabulary import Verdict


def robust(ruling: Ruling, others: Mapping[str, Ruling], invalid: float, what: str = "answers") -> Ruling:
    """The ruling, or ``insufficient`` where scoring invalid answers in some way gives another verdict.

    Args:
        ruling: What is concluded from valid answers alone.
        others: What would be concluded if invalid answers were scored as the name says.
        invalid: Share of answers that are invalid.
        what: What is invalid, if not answers.
    """
    differing = {fill: other.verdict for fill, other in others.items() if other.verdict is not ruling.verdict}
    if not differing or ruling.verdict is Verdict.INSUFFICIENT:
        return ruling
    words = ", ".join(f"'{verdict}' if they are scored as {fill}" for fill, verdict in differing.items())
    reason = (
        f"the {invalid:.1%} of {what} that are invalid decide the verdict: '{ruling.verdict}' without them, {words}"
    )
    return Ruling(Verdict.INSUFFICIENT, (reason, *ruling.reasons), ruling.equivalence)
