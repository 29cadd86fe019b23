"""A tabular observer: counts how often the truth was 1 for each combination of public numbers.

With Y withheld it is the input-only observer of the introspection triangle, with Y shown its input-plus-output
observer.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firsthand.observers.base import Past
from firsthand.observers.features import numbers
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

Key: TypeAlias = tuple[tuple[str, float], ...]


class TableObserver:
    """Frequencies by combination of public numbers, with one pseudo-count a class."""

    name = "table"

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """Smoothed frequency of truth 1 among past trials with the same public numbers."""
        counts: dict[Key, list[float]] = defaultdict(lambda: [1.0, 1.0])
        for view, truth in zip(past.views, past.truth, strict=True):
            counts[_key(view)][int(truth)] += 1.0
        base = (float(np.sum(past.truth)) + 1.0) / (len(past.truth) + 2.0)
        return np.array([counts[k][1] / sum(counts[k]) if (k := _key(v)) in counts else base for v in views])


def _key(view: PublicView) -> Key:
    return tuple(sorted(numbers(view).items()))
