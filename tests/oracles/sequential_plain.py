"""A test of a change by betting, as one would do it by hand: one pair of rates, one bet, one response at a time."""

import math
from collections.abc import Sequence

import numpy as np

BETS = ((0.2, 0.2), (0.1, 0.35), (0.35, 0.1), (0.2, math.inf))


def higher(rate: float, step: float) -> float:
    """A rate some way up: a step in the arcsine of the root, at most 40% of what is left; an infinite one goes to 1."""
    angle = math.asin(math.sqrt(rate))
    left = math.pi / 2 - angle
    return 1.0 if math.isinf(step) else math.sin(angle + min(step, 0.4 * left)) ** 2


def against_at_most(before: Sequence[int], after: Sequence[int], bound: float, points: int = 161) -> float:
    """Least capital, over pairs of rates that differ by ``bound``, of bets that the difference is larger.

    Args:
        before: Responses without the edit, 1 or 0 each.
        after: Responses with it.
        bound: The difference of the rates.
        points: Pairs that are looked at.
    """
    low, high = max(0.0, -bound), min(1.0, 1.0 - bound)
    angles = np.linspace(math.asin(math.sqrt(low)), math.asin(math.sqrt(high)), points)
    least = math.inf
    for angle in angles:
        p = min(max(math.sin(angle) ** 2, low), high)
        r = min(max(p + bound, 0.0), 1.0)
        capital = 0.0
        for first, second in BETS:
            stakes = 1.0
            for seen, odds, bet in ((before, p, 1.0 - higher(1.0 - p, first)), (after, r, higher(r, second))):
                if bet == odds:
                    continue
                for one in seen:
                    paid = odds if one else 1.0 - odds
                    stakes *= (bet if one else 1.0 - bet) / paid if paid > 0.0 else math.inf
            capital += stakes / len(BETS)
        least = min(least, capital)
    return least


def simulated_path(
    rng: np.random.Generator, before: float, after: float, baseline: int, looks: int, decide: object
) -> tuple[str, int]:
    """Draw a baseline and responses one by one, look after each, and stop at the first decision.

    Args:
        rng: Source of the draws.
        before: True rate without the edit.
        after: True rate with it.
        baseline: Responses without it.
        looks: Most responses with it.
        decide: Function of (yes, valid) before and after that says what is found.

    Returns:
        What was found, and the number of responses with the edit.
    """
    k0, k1 = int((rng.random(baseline) < before).sum()), 0
    for n1 in range(1, looks + 1):
        k1 += int(rng.random() < after)
        found = decide((k0, baseline), (k1, n1))  # type: ignore[operator]
        if found != "undecided":
            return str(found), n1
    return "undecided", looks
