"""Belief dominance, and the three clusters that labels are made of.

``BD(g, b)`` is the share of the states of an answer ``g``, over its tokens and the layers, that hold the entity ``b``
(arXiv 2605.26242, appendix K). An answer's two dominances, of the base and of the counter entity, are a point; k-means
parts the points into three clusters. Clusters are numbered by how far the counter entity dominates at their centre, so
that no seed exchanges their names.

What a state writes is a noisy reading of it. Labels are therefore made of one half of an answer's states, and a wire
reads the other half: no reading stands on both sides, so what is noise in one is not in the other. The halves are the
two colours of a chessboard over tokens and layers, so that an answer of one token has both.
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
        ``bd_base``, ``bd_counter`` (of all states), ``states`` (how many were read; 0 for an answer without tokens),
        ``label_base``, ``label_counter`` (of the half that labels are made of), ``wire_base`` and ``wire_counter`` (of
        the other half; NaN where it has no state).
    """
    about = ["item", "record", "kind", "subject", "text", "said", "base", "counter"]
    rows = []
    for _, group in readings.groupby("item", sort=False):
        turn = (group["token"] + group["layer"].rank(method="dense").astype(int) - 1) % 2
        read = group["token"] >= 0
        labelled, other = group[(turn == 0) | ~read], group[(turn == 1) & read]
        rows.append(
            {
                **{name: group[name].iloc[0] for name in about},
                "bd_base": float(group["holds_base"].mean()),
                "bd_counter": float(group["holds_counter"].mean()),
                "states": int(read.sum()),
                "label_base": float(labelled["holds_base"].mean()),
                "label_counter": float(labelled["holds_counter"].mean()),
                "wire_base": float(other["holds_base"].mean()) if len(other) else np.nan,
                "wire_counter": float(other["holds_counter"].mean()) if len(other) else np.nan,
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


def points_of(table: pd.DataFrame, prefix: str = "label") -> NDArray[np.float64]:
    """The two dominances of each item ``[items, 2]``; ``prefix`` is ``label``, ``wire`` or ``bd``."""
    return table[[f"{prefix}_base", f"{prefix}_counter"]].to_numpy(dtype=np.float64)
