"""The register bit: a private state that is the sign of one direction, written where a register is shown.

State one adds ``+dose`` residual norms of a fixed random unit direction to the residual stream at the register's
tokens, state zero the same with a minus sign. The direction is named by a seed and made without torch, so that it is
the same on every machine and for every version.
"""

import numpy as np
from numpy.typing import NDArray

from firsthand.trials.randomness import stream


def unit_direction(hidden_size: int, *name: str | int) -> NDArray[np.float64]:
    """A random unit vector of the residual stream's width, fixed by its name.

    Args:
        hidden_size: Width of the residual stream.
        name: Parts of the name, e.g. ``("register", seed)``.

    Returns:
        ``[hidden]``, norm 1.
    """
    vector = stream("direction", hidden_size, *name).standard_normal(hidden_size)
    return np.asarray(vector / np.linalg.norm(vector))


def orthogonal_direction(reference: NDArray[np.float64], *name: str | int) -> NDArray[np.float64]:
    """A random unit vector, fixed by its name, that has no component along ``reference``."""
    vector = unit_direction(reference.shape[0], *name)
    vector = vector - (vector @ reference) / (reference @ reference) * reference
    return np.asarray(vector / np.linalg.norm(vector))


def sign(state: int) -> float:
    """+1 for state one, -1 for state zero."""
    return 1.0 if state == 1 else -1.0
