"""What a measured edit is judged to be, from two batches of fixed size, whoever investigates.

The interval of the change is Newcombe's hybrid of two Wilson intervals (Newcombe 1998, method 10). An edit *changes*
the rate if an interval that is corrected for the number of edits judged together lies wholly beyond the least change
(Bonferroni). It *does not change* the rate if an interval lies wholly within it: two one-sided tests, each edit by
itself. Anything else is undecided. Invalid responses are counted as either, and a decision has to hold whichever they
were.

Newcombe's interval is an approximation. At a true change of just what counts, "changes" keeps to its level; a wrong
"does not change" would come in up to 7% of cases where 5% is stated. So that interval is made at the nominal level at
which an exact sum over all rates keeps to what is stated (:func:`~firsthand.analysis.newcombe.nominal_level`).
"""

import math
from functools import lru_cache
from itertools import product
from typing import Final

from firsthand.analysis.newcombe import nominal_level
from firsthand.counterfactual.claims import POINTS
from firsthand.counterfactual.investigation import Decision
from firsthand.counterfactual.rates import Rate

LEVEL: Final = 0.05
"""Error rate of a decision."""


def decided(
    before: Rate, after: Rate, *, least: float = POINTS / 100, level: float = LEVEL, edits: int = 1
) -> Decision:
    """Whether an edit changes a rate by at least ``least``.

    Args:
        before: Counts on the prompt as it is.
        after: Counts on the edited prompt; where the edit was chosen, in responses that were drawn afterwards.
        least: Least change that counts, from 0 to 1.
        level: Error rate: of any wrong "changes" among the edits, and of each wrong "does not change".
        edits: How many edits are judged together.
    """
    if not (before.valid and after.valid):
        return "undecided"
    found = {_decided(one, other, least, level, edits) for one, other in product(before.completed, after.completed)}
    return found.pop() if len(found) == 1 else "undecided"


@lru_cache(maxsize=4096)
def change_interval(before: Rate, after: Rate, level: float = 0.95) -> tuple[float, float]:
    """Interval of the change, from -1 to 1; the whole range if one of the batches holds nothing valid.

    Args:
        before: Counts before the edit.
        after: Counts after it.
        level: Coverage.
    """
    from statsmodels.stats.proportion import confint_proportions_2indep  # slow to import, and pages rarely need it

    if not (before.valid and after.valid):
        return -1.0, 1.0
    low, high = confint_proportions_2indep(
        after.yes, after.valid, before.yes, before.valid, compare="diff", method="newcomb", alpha=1.0 - level
    )
    return (max(-1.0, float(low)), min(1.0, float(high))) if math.isfinite(low) and math.isfinite(high) else (-1.0, 1.0)


def _decided(before: Rate, after: Rate, least: float, level: float, edits: int) -> Decision:
    low, high = change_interval(before, after, 1.0 - level / max(1, edits))
    if low > least or high < -least:
        return "changes"
    nominal = nominal_level(before.valid, after.valid, least, level)
    low, high = change_interval(before, after, 1.0 - 2.0 * nominal)
    return "does not change" if -least < low and high < least else "undecided"
