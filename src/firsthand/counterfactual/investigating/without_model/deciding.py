"""What a confirmed edit is judged to be, from two batches of fixed size.

The interval of the change is Newcombe's hybrid of two Wilson intervals (Newcombe 1998, method 10). An edit *changes*
the rate if an interval that is corrected for the number of confirmed edits lies wholly beyond the least change
(Bonferroni). It *does not change* the rate if an interval at twice the level lies wholly within it: two one-sided
tests, each edit by itself. Anything else is undecided. Invalid responses are counted as either, and a decision has to
hold whichever they were.
"""

import math
from itertools import product

from statsmodels.stats.proportion import confint_proportions_2indep

from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigation import Decision
from firsthand.counterfactual.rates import Rate


def decision(baseline: Rate, rate: Rate, settings: SearchSettings, edits: int) -> Decision:
    """Whether an edit changes the rate by at least ``settings.least_change``.

    Args:
        baseline: Counts on the prompt as it is.
        rate: Counts on the edited prompt, in responses that were drawn after the edit was fixed.
        settings: Level and least change.
        edits: How many edits are confirmed in the same investigation.
    """
    if not (baseline.valid and rate.valid):
        return "undecided"
    found = {_decided(before, after, settings, edits) for before, after in product(baseline.completed, rate.completed)}
    return found.pop() if len(found) == 1 else "undecided"


def change_interval(baseline: Rate, rate: Rate, level: float = 0.95) -> tuple[float, float]:
    """Interval of the change, from -1 to 1; the whole range if one of the batches holds nothing valid."""
    if not (baseline.valid and rate.valid):
        return -1.0, 1.0
    low, high = confint_proportions_2indep(
        rate.yes, rate.valid, baseline.yes, baseline.valid, compare="diff", method="newcomb", alpha=1.0 - level
    )
    return (max(-1.0, float(low)), min(1.0, float(high))) if math.isfinite(low) and math.isfinite(high) else (-1.0, 1.0)


def _decided(baseline: Rate, rate: Rate, settings: SearchSettings, edits: int) -> Decision:
    least = settings.least_change
    low, high = change_interval(baseline, rate, 1.0 - settings.level / max(1, edits))
    if low > least or high < -least:
        return "changes"
    low, high = change_interval(baseline, rate, 1.0 - 2.0 * settings.level)
    return "does not change" if -least < low and high < least else "undecided"
