"""One rate, looked at after every response: is it above a bound, and where may it lie?

By betting, as in :mod:`~firsthand.analysis.sequential`, on one batch.
"""

from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from firsthand.analysis.sequential import EDGE, Counts, Floats, log_ratios, stepped

_RATE_STEPS: Final = np.array([0.1, 0.25, 0.5, np.inf])


def rate_evidence(counts: tuple[ArrayLike, ArrayLike], bound: float, side: Literal["above", "below"]) -> Floats:
    """Logarithm of the capital for one rate being above, or below, a bound (Waudby-Smith and Ramdas 2024, section 4).

    Args:
        counts: Yes and valid responses; any shapes that broadcast.
        bound: The bound, from 0 to 1.
        side: What is to be shown.
    """
    yes, valid = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in counts))
    if side == "above":
        return np.asarray(_above(yes, valid, np.array([bound]))[..., 0])
    return np.asarray(_above(valid - yes, valid, np.array([1.0 - bound]))[..., 0])


def rate_interval(counts: Counts, alpha: float = 0.05) -> tuple[float, float]:
    """Rates that are not refuted at any look: an interval that holds at all sizes of the sample at once."""
    bounds = np.sin(np.linspace(0.0, EDGE, 501)) ** 2
    yes, valid = np.float64(counts.yes), np.float64(counts.valid)
    needed = -np.log(alpha / 2.0)
    low = bounds[_above(np.asarray(yes), np.asarray(valid), bounds) >= needed]
    high = 1.0 - bounds[_above(np.asarray(valid - yes), np.asarray(valid), bounds) >= needed]
    return float(low.max(initial=0.0)), float(high.min(initial=1.0))


def _above(yes: Floats, valid: Floats, bounds: Floats) -> Floats:
    """Logarithm of the capital against "the rate is at most this", ``[..., bounds]``."""
    null = bounds[:, None]
    ratio, never = log_ratios(yes, valid, stepped(null, _RATE_STEPS), null)
    total = logsumexp(np.where(never, np.inf, ratio), axis=-1)
    return np.asarray(total - np.log(len(_RATE_STEPS)))
