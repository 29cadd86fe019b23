"""Predictors that say the same of every claim."""

from collections.abc import Sequence
from statistics import fmean

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.predictors.fixed import Fixed
from firsthand.counterfactual.predicting.questions import Question


def always_yes(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """Says that every edit matters, as untrained models tend to."""
    return Fixed("always-yes", "always-yes", {question.claim: 1.0 for question in questions})


def base_rate(claims: Sequence[Claim], questions: Sequence[Question]) -> Fixed:
    """Says the share of true claims of each claim.

    It is told that share, which nobody else is: as a floor it is rather too high than too low. One share for all makes
    its area one half exactly; shares of other folds would be low where truths are high, and fall below it.
    """
    share = fmean(claim.label for claim in claims) if claims else 0.5
    return Fixed("base-rate", f"base-rate {share!r}", {question.claim: share for question in questions})
