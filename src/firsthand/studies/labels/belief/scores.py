"""Belief dominance, and the three clusters that labels are made of.

``BD(g, b)`` is the share of the states of an answer ``g``, over its tokens and the layers, that hold the entity ``b``
(arXiv 2605.26242, appendix K). An answer's two dominances, of the base and of the counter entity, are a point; k-means
parts the points into three clusters. Clusters are numbered by how far the counter entity dominates at their centre, so
that no seed exchanges their names.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from firsthand.claims.labels.belief import CLASSES
from firsthand.errors import LabelsError

_STARTS = 10


def dominance(readings: pd.DataFrame) -> pd.DataFrame:
    """The dominance of both entities in each item.

    Args:
        readings: Rows of :func:`~firsthand.studies.labels.belief.readings.read_item`.

    Returns:
        One row an item, in order of appearance: ``item``, ``record``, ``kind``, ``subject``, ``text``, ``said``,
        ``bd_base``, ``bd_counter``, ``states`` (how many were read; 0 for an answer without tokens) and, read from
        every second token alone, ``half_base`` and ``half_counter`` (NaN where there is no such token).
    """
    about = ["item", "record", "kind", "subject", "text", "said", "base", "counter"]
    rows = []
    for _, group in readings.groupby("item", sort=False):
        half = group[group["token"] % 2 == 1]
        rows.append(
            {
                **{name: group[name].iloc[0] for name in about},
                "bd_base": float(group["holds_base"].mean()),
                "bd_counter": float(group["holds_counter"].mean()),
                "states": int((group["token"] >= 0).sum()),
                "half_base": float(half["holds_base"].mean()) if (half["token"] >= 0).any() else np.nan,
                "half_counter": float(half["holds_counter"].mean()) if (half["token"] >= 0).any() else np.nan,
            }
        )
    return pd.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of dominance.

    Attributes:
        centres_K2: Dominance of base and counter entity at each centre, the counter entity ever further ahead
            ``[classes, 2]``.
    """

    centres_K2: NDArray[np.float64]

    def of(self, points_N2: NDArray[np.float64]) -> NDArray[np.int64]:
        """The cluster of each point: that of the nearest centre, of equally near ones the first ``[points]``."""
        apart_NK = ((points_N2[:, None, :] - self.centres_K2[None]) ** 2).sum(-1)
        return np.asarray(apart_NK.round(12).argmin(1), dtype=np.int64)


def fit_clusters(points_N2: NDArray[np.float64], seed: int) -> Clusters:
    """Part points into three clusters.

    Args:
        points_N2: Dominance of base and counter entity of each item.
        seed: Of the starts of k-means, the best of which counts.

    Raises:
        LabelsError: If there are fewer than three distinct points, or a cluster would be empty.
    """
    points = np.asarray(points_N2, dtype=np.float64).reshape(-1, 2)
    different = len(np.unique(points.round(12), axis=0))
    if different < CLASSES:
        raise LabelsError(
            f"The dominances of {len(points)} answers take only {different} different values, so {CLASSES} clusters "
            "cannot be made of them.",
            "Use other records or kinds of conflict, more layers, or longer readings.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        centres = KMeans(CLASSES, n_init=_STARTS, random_state=seed % (1 << 32)).fit(points).cluster_centers_
    ahead = centres[:, 1] - centres[:, 0]
    made = Clusters(centres[np.lexsort((centres[:, 1].round(9), ahead.round(9)))].astype(np.float64))
    empty = CLASSES - len(np.unique(made.of(points)))
    if empty:
        raise LabelsError(f"{empty} of {CLASSES} clusters hold no answer.", "Use other records, or more of them.")
    return made


def points_of(table: pd.DataFrame, prefix: str = "bd") -> NDArray[np.float64]:
    """The two dominances of each item ``[items, 2]``; ``prefix`` is ``bd`` or ``half``."""
    return table[[f"{prefix}_base", f"{prefix}_counter"]].to_numpy(dtype=np.float64)
