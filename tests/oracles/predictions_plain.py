"""Slow and plain references for predictions of claims, and panels to hold them against."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.predictions import Panel

Array = NDArray[np.float64]


def table(
    truth: Array, clusters: NDArray[np.int64], coverage: Array | float = 1.0, **predictors: Array
) -> pd.DataFrame:
    """A table of predictions."""
    rows = [
        pd.DataFrame(
            {
                "claim": [f"c{number}" for number in range(len(truth))],
                "label": truth == 1.0,
                "predictor": name,
                "probability": given,
                "coverage": coverage,
                "cluster": clusters,
            }
        )
        for name, given in predictors.items()
    ]
    return pd.concat(rows, ignore_index=True)


def panel(truth: Array, clusters: NDArray[np.int64] | None = None, **predictors: Array) -> Panel:
    """A checked table; without clusters each claim is one by itself."""
    return Panel.of(table(truth, np.arange(len(truth)) if clusters is None else clusters, **predictors))


def drawn(seed: int, clusters: int = 40, size: int = 3) -> tuple[Array, NDArray[np.int64], Array, Array]:
    """Labels, clusters, and two predictors, which know something and share some of their mistakes."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(clusters), size)
    truth = (rng.random(clusters * size) < 0.5).astype(float)
    shared = rng.normal(0, 0.6, clusters)[codes] + rng.normal(0, 0.8, len(truth))
    first = 1 / (1 + np.exp(-(1.2 * (2 * truth - 1) + shared + rng.normal(0, 0.6, len(truth)))))
    second = 1 / (1 + np.exp(-(0.7 * (2 * truth - 1) + shared + rng.normal(0, 0.6, len(truth)))))
    return truth, codes, np.round(first, 2), np.round(second, 2)


def placements(truth: Array, score: Array) -> tuple[Array, Array]:
    """For each true trial the share of false ones below it, and for each false one that of true ones above it."""
    true, false = score[truth == 1], score[truth == 0]
    won = np.array([[float(a > b) + 0.5 * float(a == b) for b in false] for a in true])
    return won.mean(axis=1), won.mean(axis=0)


def plain_delong(truth: Array, first: Array, second: Array) -> tuple[float, float]:
    """Difference of areas and its standard error, from the covariances of placements (DeLong et al. 1988)."""
    (v10, v01), (w10, w01) = placements(truth, first), placements(truth, second)
    s10, s01 = np.cov(np.vstack([v10, w10])), np.cov(np.vstack([v01, w01]))
    s = s10 / len(v10) + s01 / len(v01)
    return float(v10.mean() - w10.mean()), float(np.sqrt(s[0, 0] + s[1, 1] - 2 * s[0, 1]))
