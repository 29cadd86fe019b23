"""Principal components of states: the directions along which texts differ most, fitted on one set and read on another.

The sign of a component is arbitrary in itself. Here the entry of largest size is positive (the first such, should two
be equal), so that fitting again, or elsewhere, does not turn scores round.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine.loading import LoadedModel
from firsthand.engine.sites import Site
from firsthand.errors import StatesError
from firsthand.states.vectors import ModelIdentity, Origin, Vectors

_LEAST_SHARE = 1e-10  # of the variance: with less, a component's direction is rounding


@dataclass(frozen=True, eq=False)
class Components:
    """Principal components of a set of states.

    Attributes:
        mean_H: The states' mean, ``[hidden]``, float32.
        directions_KH: Unit vectors by falling variance, ``[components, hidden]``, float32.
        explained_variance_K: Variance of the states along each (unbiased), in squared residual units.
        explained_variance_ratio_K: Its share of all variance.
        n_states: Number of states that they were fitted on.
    """

    mean_H: NDArray[np.float32]
    directions_KH: NDArray[np.float32]
    explained_variance_K: NDArray[np.float64]
    explained_variance_ratio_K: NDArray[np.float64]
    n_states: int

    def scores(self, states_NH: NDArray[Any] | Tensor) -> NDArray[np.float64]:
        """Scores of any states, ``(state - mean) . direction``, ``[states, components]``."""
        states = np.asarray(states_NH, dtype=np.float64)
        return np.asarray((states - self.mean_H.astype(np.float64)) @ self.directions_KH.astype(np.float64).T)

    def as_vectors(
        self,
        site: Site,
        loaded: LoadedModel | None,
        source: str,
        names: Sequence[str] | None = None,
        recipe: dict[str, Any] | None = None,
    ) -> Vectors:
        """The components as storable vectors, whose scores are those of :meth:`scores`.

        Args:
            site: Where the states were read.
            loaded: The model that they were read from, if known.
            source: What they were fitted on, in words.
            names: Names; by default ``pc1``, ``pc2`` and so on.
            recipe: Further settings to be recorded, as plain JSON values.
        """
        count = len(self.directions_KH)
        directions, mean = torch.from_numpy(self.directions_KH), torch.from_numpy(self.mean_H)
        measures = [
            {"explained_variance": float(variance), "explained_variance_ratio": float(ratio)}
            for variance, ratio in zip(self.explained_variance_K, self.explained_variance_ratio_K, strict=True)
        ]
        return Vectors(
            tuple(names) if names is not None else tuple(f"pc{number + 1}" for number in range(count)),
            (site,) * count,
            directions,
            tuple(measures),
            Origin(
                kind="components",
                source=source,
                recipe={"n_states": self.n_states, **(recipe or {})},
                model=None if loaded is None else ModelIdentity.of(loaded),
            ),
            offsets_V=-(directions.double() @ mean.double()),
            means_VH=mean.expand(count, -1).contiguous(),
        )


def principal_components(states_NH: NDArray[Any] | Tensor, n: int) -> Components:
    """Fit principal components.

    Args:
        states_NH: States, ``[states, hidden]``, for instance of :func:`~firsthand.states.reading.read_states`.
        n: Number of components.

    Raises:
        StatesError: If the states are not a matrix of finite numbers, or vary along fewer than ``n`` directions.
    """
    from sklearn.decomposition import PCA

    states = np.asarray(states_NH, dtype=np.float64)
    if states.ndim != 2 or not np.isfinite(states).all():
        raise StatesError(f"States of shape {list(states.shape)} with numbers that must be finite.", "Correct them.")
    most = min(states.shape[0] - 1, states.shape[1])
    if not 1 <= n <= most:
        raise StatesError(
            f"{states.shape[0]} states of width {states.shape[1]} have at most {max(most, 0)} components, not {n}.",
            "Ask for fewer, or give more states.",
        )
    total = states.var(axis=0, ddof=1).sum()
    rounding = np.finfo(np.float64).eps * np.abs(states).max() ** 2
    fitted = PCA(n_components=n, svd_solver="full").fit(states) if total > rounding else None
    if fitted is None or fitted.explained_variance_[-1] <= _LEAST_SHARE * total:
        raise StatesError(
            f"The states vary along fewer than {n} directions, so the last components would be rounding errors.",
            "Ask for fewer components, or give states that differ.",
        )
    directions = fitted.components_
    largest = np.argmax(np.abs(directions), axis=1)
    directions = directions * np.sign(directions[np.arange(n), largest])[:, None]
    return Components(
        fitted.mean_.astype(np.float32),
        directions.astype(np.float32),
        np.asarray(fitted.explained_variance_),
        np.asarray(fitted.explained_variance_ratio_),
        len(states),
    )
