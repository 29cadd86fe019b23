"""How many independent units a decision would have needed."""

import math

from scipy import stats

from firsthand.analysis.inference import Measured


def units_needed(measured: Measured, distance: float, alpha: float, power: float = 0.8) -> int | None:
    """Clusters needed to tell a true ``distance`` from zero, given the observed spread between clusters.

    The standard error falls with the square root of the number of clusters, so
    ``G' = G * (se * (z_alpha + z_power) / distance) ** 2`` (the usual one-sided normal sample size).

    Args:
        measured: The statistic as observed; its widest cluster column is used.
        distance: Distance between the true value and the bound it has to stay clear of.
        alpha: One-sided level.
        power: Wanted probability of success.

    Returns:
        ``None`` where no number of units would do (no distance) or the spread is not known.
    """
    part = measured.widest(alpha)
    if distance <= 0.0 or part.unknown or not math.isfinite(part.se):
        return None
    steps = float(stats.norm.ppf(1.0 - alpha) + stats.norm.ppf(power))
    if part.degenerate:
        reach = max(measured.value - part.span[0], part.span[1] - measured.value)
        share = min(distance / reach, 0.999) if reach > 0 else 0.999
        return max(2, math.ceil(math.log(alpha) / math.log(1.0 - share)))
    return max(2, math.ceil(part.units * (part.se * steps / distance) ** 2))
