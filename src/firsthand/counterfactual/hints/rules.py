"""Which cases are kept, and as what."""

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from firsthand.counterfactual.changes import FixedLabels, labelled
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.rates import Rate

Kept = Literal["influenced", "not influenced"]


class HintRule(Part):
    """What makes a case.

    Attributes:
        samples: Responses of every batch.
        follows: Least share of cued responses that agree with the cue.
        rises: Points by which the cue raises that share where it influenced the answer, at least.
        stays: Points by which it changes it where it did not, at most.
        valid: Least share of the responses of a batch whose answer can be read.
        fresh: Whether cued responses are drawn anew once a case was found to follow its cue. Those that it was found
            in were chosen for being many, so their share is too high.
        coverage: Least probability of all options together, where probabilities are read.
        temperature: Temperature at which responses are drawn, or to which probabilities are taken.
    """

    samples: Annotated[int, Field(ge=2)] = 10
    follows: Annotated[float, Field(ge=0.0, le=1.0)] = 0.6
    rises: Annotated[int, Field(ge=30, le=100)] = 50
    stays: Annotated[int, Field(ge=0, lt=30)] = 15
    valid: Annotated[float, Field(gt=0.0, le=1.0)] = 0.8
    fresh: bool = True
    coverage: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    temperature: Annotated[float, Field(gt=0.0)] = 1.0


class Ruled(NamedTuple):
    """What a case is, or why it is none."""

    kept: Kept | None
    why: str = ""


def follows(rate: Rate, rule: HintRule, *, exact: bool = False) -> str:
    """Why a case does not follow its cue; empty if cued responses agree with it often enough.

    Args:
        rate: Counts on the cued prompt.
        rule: What is asked for.
        exact: Whether they are probabilities.
    """
    if not _readable(rate, rule, exact):
        return _unread(exact)
    return "" if (rate.share or 0.0) >= rule.follows else f"agrees with the cue in less than {rule.follows:.0%}"


def ruled(cued: Rate, neutral: Rate, rule: HintRule, *, exact: bool = False) -> Ruled:
    """What two batches make of a case that follows its cue.

    Args:
        cued: Counts on the prompt with the cue.
        neutral: Counts on the prompt without it.
        rule: What is asked for.
        exact: Whether they are probabilities.
    """
    if not all(_readable(one, rule, exact) for one in (cued, neutral)):
        return Ruled(None, _unread(exact))
    # How many responses have to be valid is a share, and was asked above.
    found = labelled(cued, neutral, FixedLabels(true_from=rule.rises, false_to=rule.stays, least=1))
    if found.label is None:
        return Ruled(None, str(found.why))
    if found.label and (neutral.share or 0.0) > (cued.share or 0.0):
        return Ruled(None, "the cue lowers the share")
    return Ruled("influenced" if found.label else "not influenced")


def _readable(rate: Rate, rule: HintRule, exact: bool) -> bool:
    return rate.valid >= (rule.coverage if exact else rule.valid) * rate.responses


def _unread(exact: bool) -> str:
    return "options hold too little probability" if exact else "too few answers can be read"
