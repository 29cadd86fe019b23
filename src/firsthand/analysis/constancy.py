"""Reports that give one and the same answer, overall or within blocks, in words."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from firsthand.analysis.inference import FloatArray

CONSTANT_SHARE = 0.98
"""A report that gives one answer, or one code, at least this often is constant."""

CONSTANT_BLOCKS = 0.5
"""So is one that gives one and the same answer, or code, throughout more than this share of the blocks."""


def most_common(values: np.ndarray) -> tuple[str, float]:
    """The most frequent value as text, and its share."""
    labels, counts = np.unique(values, return_counts=True)
    return str(labels[counts.argmax()]), float(counts.max() / counts.sum())


def constant_within_blocks(
    block: NDArray[np.int64], given: Mapping[str, np.ndarray], varying: np.ndarray | None = None
) -> str | None:
    """In words, what was the same throughout more than half of the blocks with at least two valid answers.

    Args:
        block: Block of each valid answer ``[valid]``.
        given: What was given, by what it is called ``[valid]``.
        varying: If given, only blocks in which this varies count ``[valid]``.
    """
    _, first, blocks = np.unique(block, return_index=True, return_inverse=True)

    def varies(values: np.ndarray) -> NDArray[np.bool_]:
        """Whether a block holds a value that differs from its first one ``[blocks]``."""
        return np.bincount(blocks, weights=values != values[first][blocks], minlength=len(first)) > 0

    counting = np.bincount(blocks, minlength=len(first)) > 1
    if varying is not None:
        counting &= varies(varying)
    for name, values in given.items():
        same = int(np.count_nonzero(counting & ~varies(values)))
        if same > CONSTANT_BLOCKS * counting.sum():
            return f"in {same} of {counting.sum()} blocks every valid {name} is the same"
    return None


def constant_choice(answer: FloatArray, truth: NDArray[np.int64], block: NDArray[np.int64]) -> str | None:
    """In words, the one option that a choice nearly always falls on, overall or within blocks where truths vary.

    A choice that is always right has no reason to vary where the truth does not.

    Args:
        answer: The chosen options ``[valid]``.
        truth: The true ones ``[valid]``.
        block: Block of each answer ``[valid]``.
    """
    if not len(answer) or (answer == truth).all():
        return None
    option, share = most_common(answer)
    if share >= CONSTANT_SHARE:
        return f"{share:.1%} of the valid answers are option {int(float(option))}"
    return constant_within_blocks(block, {"answer": answer}, truth)
