"""Labels of simulated edits: draw both batches, take shares as fractions, compare them with the thresholds."""

from fractions import Fraction

import numpy as np


def label(yes_before: int, before: int, yes_after: int, after: int, true_from: int = 50, false_to: int = 15) -> int:
    """1 if the shares differ by at least so many points, 0 if by at most so many, else -1; by fractions."""
    change = abs(Fraction(yes_after, after) - Fraction(yes_before, before))
    if change >= Fraction(true_from, 100):
        return 1
    return 0 if change <= Fraction(false_to, 100) else -1


def simulated(rate_before: float, rate_after: float, before: int, after: int, draws: int, seed: int = 0) -> list[float]:
    """Shares of simulated edits that are called true, false and neither."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        first = int((rng.random(before) < rate_before).sum())
        second = int((rng.random(after) < rate_after).sum())
        found.append(label(first, before, second, after))
    return [found.count(one) / draws for one in (1, 0, -1)]
