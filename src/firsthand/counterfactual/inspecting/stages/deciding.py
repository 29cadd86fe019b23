"""What an experiment decides: whether an edit changes the rate by at least so many points, by an interval."""

from itertools import product
from typing import Final

from statsmodels.stats.proportion import confint_proportions_2indep

from firsthand.counterfactual.claims import POINTS
from firsthand.counterfactual.investigation import Decision
from firsthand.counterfactual.rates import Rate

LEVEL: Final = 0.05


def change_interval(before: Rate, after: Rate, level: float = LEVEL) -> tuple[float, float]:
    """Newcombe's interval of the change of a rate; the whole range if one of the batches holds nothing valid.

    Args:
        before: Counts before the edit.
        after: Counts after it.
        level: Chance that the interval misses the change.
    """
    if not before.valid or not after.valid:
        return -1.0, 1.0
    low, high = confint_proportions_2indep(
        after.yes, after.valid, before.yes, before.valid, method="newcomb", compare="diff", alpha=level
    )
    return float(low), float(high)


def decided(before: Rate, after: Rate, least_change: float = POINTS / 100) -> Decision:
    """Whether the interval of the change lies beyond ``least_change`` in either direction, or within it.

    Whatever invalid responses would have been: if that could turn the decision, there is none.
    """
    if not before.valid or not after.valid:
        return "undecided"
    found = {_decided(one, other, least_change) for one, other in product(before.completed, after.completed)}
    return found.pop() if len(found) == 1 else "undecided"


def _decided(before: Rate, after: Rate, least_change: float) -> Decision:
    low, high = change_interval(before, after)
    if low >= least_change or high <= -least_change:
        return "changes"
    return "does not change" if -least_change < low and high < least_change else "undecided"
