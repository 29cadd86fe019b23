"""Holm's correction where any one of several tests may carry a statement."""

from collections.abc import Mapping

import numpy as np


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm-adjusted p-values (Holm 1979), by the name of the test.

    They are those of ``statsmodels.stats.multitest.multipletests``, which also collects garbage at every call and then
    takes a thousand times as long.
    """
    order = sorted(p_values, key=lambda name: p_values[name])
    left = np.array([len(order) - place for place in range(len(order))])
    stepped = np.maximum.accumulate(left * np.array([p_values[name] for name in order], dtype=np.float64))
    adjusted = dict(zip(order, np.minimum(stepped, 1.0).tolist(), strict=True))
    return {name: adjusted[name] for name in p_values}
