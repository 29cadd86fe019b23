"""Independent units: what shares anything, directly or through others, belongs to one."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray


def units_of(ties: Sequence[Collection[str]]) -> NDArray[np.int64]:
    """The unit of each row, numbered from 0 without holes ``[rows]``.

    Args:
        ties: For each row the names of what it must not be parted from, such as its prompt, template family and task.
            Rows that share a name are one unit, and so are rows that a third one shares names with.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    names = {name: place for place, name in enumerate(sorted({name for row in ties for name in row}))}
    pairs = [(row, len(ties) + names[name]) for row, some in enumerate(ties) for name in some]
    size = len(ties) + len(names)
    rows, columns = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    graph = coo_matrix((np.ones(len(pairs), np.int8), (rows, columns)), shape=(size, size))
    found = connected_components(graph, directed=False)[1][: len(ties)]
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64).reshape(-1)
