"""How often the label of one edit is wrong, summed over all that could have been drawn.

A label compares the shares of two finite batches with thresholds, so an edit whose true effect is somewhere between
gets a wrong label by chance. A label "true" is wrong if the true change is below the points that the claim speaks of
(30), a label "false" if it is not. How many labels of a set are wrong is another question:
:mod:`~firsthand.analysis.wrong_labels`.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from firsthand.errors import AnalysisError

TRUE: Final = 1
FALSE: Final = 0
EXCLUDED: Final = -1


@dataclass(frozen=True)
class Thresholds:
    """Changes that make a label, in whole percentage points.

    Attributes:
        true_from: A change of at least this much makes a claim true.
        false_to: A change of at most this much makes it false.
        wording: What the claim speaks of: a change of at least this much.
    """

    true_from: int = 50
    false_to: int = 15
    wording: int = 30

    def __post_init__(self) -> None:
        if not 0 <= self.false_to < self.wording <= self.true_from <= 100:
            raise AnalysisError(
                f"No label can be made with true from {self.true_from}, false to {self.false_to} and a wording of "
                f"{self.wording} points.",
                "Let the wording lie between the two thresholds.",
            )


STANDARD: Final = Thresholds()


class LabelChances(NamedTuple):
    """Chances that an edit is called true, false, or neither."""

    true: float
    false: float
    excluded: float


def labels(
    before: tuple[ArrayLike, ArrayLike], after: tuple[ArrayLike, ArrayLike], thresholds: Thresholds = STANDARD
) -> NDArray[np.int8]:
    """Labels of counts: 1 true, 0 false, -1 neither, also where a batch is empty.

    Whole numbers are compared, so a change of exactly 50 points is one (as floats, .65 - .15 is less than .5).

    Args:
        before: Yes and valid responses without the edit; any shapes that broadcast.
        after: The same with it.
        thresholds: The thresholds.
    """
    k0, n0, k1, n1 = np.broadcast_arrays(*(np.asarray(x, np.int64) for x in (*before, *after)))
    change, whole = 100 * np.abs(k1 * n0 - k0 * n1), n0 * n1
    found = np.where(
        change >= thresholds.true_from * whole, TRUE, np.where(change <= thresholds.false_to * whole, FALSE, EXCLUDED)
    )
    return np.asarray(np.where(whole > 0, found, EXCLUDED), np.int8)


def label_chances(
    rate_before: float, rate_after: float, before: int, after: int, thresholds: Thresholds = STANDARD
) -> LabelChances:
    """Exact chances of each label for given true rates.

    Args:
        rate_before: True rate without the edit.
        rate_after: True rate with it.
        before: Valid responses without the edit.
        after: Valid responses with it.
        thresholds: The thresholds.
    """
    if before < 1 or after < 1 or not (0.0 <= rate_before <= 1.0 and 0.0 <= rate_after <= 1.0):
        raise AnalysisError(
            f"There are no chances of labels with {before} and {after} responses at rates of {rate_before} and "
            f"{rate_after}.",
            "Give at least one response each, and rates from 0 to 1.",
        )
    k0, k1 = np.arange(before + 1)[:, None], np.arange(after + 1)[None]
    found = labels((k0, before), (k1, after), thresholds)
    chance = binom.pmf(k0, before, rate_before) * binom.pmf(k1, after, rate_after)
    return LabelChances(*(float(chance[found == label].sum()) for label in (TRUE, FALSE, EXCLUDED)))


def worst_chances(before: int, after: int, thresholds: Thresholds = STANDARD) -> tuple[float, float]:
    """Largest chances that an edit at the wording's change is called true, and that it is called false.

    An edit that changes less than the wording says is called true no more often than the first, and one that changes
    more is called false no more often than the second.
    """
    change = thresholds.wording / 100.0
    each = [label_chances(low, low + change, before, after, thresholds) for low in np.linspace(0.0, 1.0 - change, 71)]
    return max(one.true for one in each), max(one.false for one in each)


def possible_labels(
    before: tuple[int, int, int], after: tuple[int, int, int], thresholds: Thresholds = STANDARD
) -> frozenset[int]:
    """All labels that could have come out, whatever the invalid responses were.

    Args:
        before: Yes, no and invalid responses without the edit.
        after: The same with it.
        thresholds: The thresholds.
    """
    k0 = np.arange(before[0], before[0] + before[2] + 1)[:, None]
    k1 = np.arange(after[0], after[0] + after[2] + 1)[None]
    found = labels((k0, sum(before)), (k1, sum(after)), thresholds)
    return frozenset(int(label) for label in np.unique(found))
