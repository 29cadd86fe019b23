"""Public evidence as numbers and text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.trials.public import PublicView


def numbers(view: PublicView) -> dict[str, float]:
    """All named public numbers of a view."""
    return {**view.features, **view.output_features}


def matrix(views: Sequence[PublicView]) -> NDArray[np.float64]:
    """Public numbers with all their pairwise products, ``[trials, columns]``; columns in sorted order.

    The products let a linear model use agreements, such as "the answer given is the one that the cue names".
    """
    names = sorted({name for view in views for name in numbers(view)})
    plain = np.array([[2.0 * numbers(v).get(n, 0.0) - 1.0 for n in names] for v in views]).reshape(
        len(views), len(names)
    )
    pairs = [plain[:, i] * plain[:, j] for i in range(len(names)) for j in range(i + 1, len(names))]
    return np.column_stack([plain, *pairs]) if names else np.zeros((len(views), 1))


def text(view: PublicView) -> str:
    """The visible text of a view, a withheld turn left out."""
    return "\n".join(turn.content for turn in view.turns if turn.content is not None)
