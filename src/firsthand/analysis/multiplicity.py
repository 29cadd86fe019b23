"""Holm's correction where any one of several tests may carry a statement."""

from collections.abc import Mapping

import numpy as np
from statsmodels.stats.multitest import multipletests


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm-adjusted p-values (Holm 1979), by the name of the test."""
    if not p_values:
        return {}
    adjusted = multipletests(np.array(list(p_values.values())), method="holm")[1]
    return dict(zip(p_values, (float(p) for p in adjusted), strict=True))
