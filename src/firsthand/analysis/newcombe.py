"""Newcombe's interval of a difference of two shares, and the level at which a test of equivalence by it keeps its word.

The interval is the hybrid of two Wilson intervals (Newcombe 1998, method 10), for whole tables of counts at once. It is
an approximation: a one-sided test of "the difference is at most -d" by it refutes a true one in up to 7% of cases where
5% is its nominal level. :func:`nominal_level` makes it an exact unconditional test (Barnard 1945; for margins Chan
and Zhang 1999): the nominal level is lowered until the largest chance of a wrong refutation, over all pairs of rates on
the margin, is no more than what is stated. What the test refutes only grows with the second count and shrinks with the
first, so that the margin holds the worst case of the hypothesis (Roehmel and Mansmann 1999).
"""

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom, norm

Floats = NDArray[np.float64]

_POINTS: Final = 401
"""Rates on the margin that are looked at, evenly in ``arcsin(sqrt(p))``."""
_SAFE: Final = 0.998
"""Part of the level that is used on these points, for what lies between them."""
_STEPS: Final = 30
_FARTHEST: Final = 8.0


def lower_limits(first: int, second: int, z: float) -> Floats:
    """Lower limits of the second share minus the first, for all counts.

    Args:
        first: Responses in the first batch.
        second: Responses in the second.
        z: Quantile of the normal distribution that the intervals are made with.

    Returns:
        ``[first + 1, second + 1]``, by the counts of both.
    """
    share0, high0 = _wilson(first, z, 1.0)
    share1, low1 = _wilson(second, z, -1.0)
    spread = np.hypot((share1 - low1)[None], (high0 - share0)[:, None])
    return np.asarray(share1[None] - share0[:, None] - spread)


@lru_cache(maxsize=512)
def nominal_level(first: int, second: int, margin: float, level: float) -> float:
    """The largest nominal level, at most ``level``, at which "the second rate is not lower by ``margin``" holds it.

    Args:
        first: Responses in the first batch.
        second: Responses in the second.
        margin: The margin, from 0 to 1.
        level: Most that a wrong statement may be likely, whatever the rates are.
    """
    angle = np.linspace(np.arcsin(np.sqrt(margin)), np.pi / 2.0, _POINTS)
    rate0 = np.clip(np.sin(angle) ** 2, margin, 1.0)[:, None]
    likely = binom.pmf(np.arange(first + 1)[None], first, rate0)
    beyond = binom.sf(np.arange(-1, second + 1)[None], second, np.clip(rate0 - margin, 0.0, 1.0))

    def holds(z: float) -> bool:
        fewest = np.sum(lower_limits(first, second, z) <= -margin, axis=1)
        return bool((likely * beyond[:, fewest]).sum(axis=1).max() <= _SAFE * level)

    low, high = float(norm.isf(level)), _FARTHEST
    if holds(low):
        return level
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if holds(middle) else (middle, high)
    return float(norm.sf(high))


def _wilson(responses: int, z: float, side: float) -> tuple[Floats, Floats]:
    """Shares of all counts, and one limit of Wilson's interval of each."""
    share = np.arange(responses + 1) / responses
    centre = share + z * z / (2.0 * responses)
    half = z * np.sqrt(share * (1.0 - share) / responses + z * z / (4.0 * responses**2))
    return share, np.clip((centre + side * half) / (1.0 + z * z / responses), 0.0, 1.0)
