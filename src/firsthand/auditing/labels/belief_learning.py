"""How observers of belief dominance learn from few examples, all classes counting alike and no subject parted."""

import warnings
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from firsthand.claims.labels.belief import CLASSES
from firsthand.trials.randomness import stream

STRENGTHS: Final[tuple[float, ...]] = (0.001, 0.02, 0.4)
"""Inverse regularisations that are tried, the stiffest first: it is kept among equals."""
FOLDS: Final = 3
WORTH: Final = 100.0
"""Variance of a block beside others, whatever the number of its columns: a thousand coordinates drown no number."""
FEW: Final = 16
"""A block of more columns than this is given to trees by its first components."""
COMPONENTS: Final = 6
TREES: Final = 50

Choices = NDArray[np.float64]
"""The class that an observer gives each answer, NaN where it gives none ``[answers]``."""
Pair = tuple[NDArray[np.float64], NDArray[np.float64]]
"""A block of features of the examples, and of what is asked about."""


def oversampled(labels: NDArray[np.int64], *purpose: str | int) -> NDArray[np.int64]:
    """Places of examples, some several times, so that every class that there is has as many as the largest."""
    draw = stream("belief", "oversampled", *purpose)
    counts = np.bincount(labels)
    parts = []
    for one in np.flatnonzero(counts):
        members = np.flatnonzero(labels == one)
        parts += [members, draw.choice(members, size=int(counts.max()) - len(members))]
    return np.concatenate(parts).astype(np.int64)


def folds_by(groups: Sequence[str], *purpose: str | int) -> NDArray[np.int64]:
    """The fold of each example, drawn by lot; no group is parted ``[examples]``."""
    names = sorted(set(groups))
    dealt = stream("belief", "observer folds", *purpose).permutation(np.arange(len(names)) % FOLDS).tolist()
    fold = dict(zip(names, dealt, strict=True))
    return np.array([fold[group] for group in groups], dtype=np.int64)


def linear(blocks: Sequence[Pair], labels: NDArray[np.int64], groups: Sequence[str], *purpose: str | int) -> Choices:
    """What a logistic regression gives that was fitted on the oversampled examples.

    How strongly it is held back is chosen by how it does on subjects that are held out, all classes counting alike: an
    observer that is too stiff to learn would be no opponent.

    Args:
        blocks: What it sees. One block counts by its columns; several side by side count alike.
        labels: Labels of the examples.
        groups: What each example is about.
        purpose: Name of the random stream.
    """
    seen, asked = _spanned(*(_standardised(*blocks[0]) if len(blocks) == 1 else _side_by_side(blocks)))
    if len(set(labels.tolist())) == 1:
        return np.full(len(asked), float(labels[0]))
    grown = oversampled(labels, *purpose)
    return _fitted(seen[grown], labels[grown], asked, _strength(seen, labels, groups, *purpose))


def _strength(
    seen: NDArray[np.float64], labels: NDArray[np.int64], groups: Sequence[str], *purpose: str | int
) -> float:
    """The inverse regularisation that does best on held-out groups, the stiffest of equals."""
    if len(STRENGTHS) == 1:
        return STRENGTHS[0]
    fold = folds_by(groups, *purpose)
    counts = 1.0 / np.maximum(np.bincount(labels, minlength=CLASSES), 1)
    worth = dict.fromkeys(STRENGTHS, 0.0)
    for part in range(FOLDS):
        held = fold == part
        known = labels[~held]
        if len(set(known.tolist())) < 2 or not held.any():
            continue
        grown = oversampled(known, *purpose, part)
        for strength in STRENGTHS:
            given = _fitted(seen[~held][grown], known[grown], seen[held], strength)
            worth[strength] += float(counts[labels[held]][given == labels[held]].sum())
    return max(STRENGTHS, key=lambda strength: worth[strength])


def trees(blocks: Sequence[Pair], labels: NDArray[np.int64], *purpose: str | int) -> Choices:
    """What a random forest gives (Breiman 2001): what two blocks tell together, and neither by a sum.

    Nothing about it is chosen on the examples. A block of many columns is there by its first components.
    """
    narrow = [_components(*pair) if pair[0].shape[1] > FEW else pair for pair in blocks]
    seen, asked = (np.hstack([pair[side] for pair in narrow]) for side in (0, 1))
    if len(set(labels.tolist())) == 1:
        return np.full(len(asked), float(labels[0]))
    grown = oversampled(labels, *purpose)
    seed = int(stream("belief", "trees", *purpose).integers(1 << 31))
    fitted = RandomForestClassifier(TREES, max_features=0.5, random_state=seed).fit(seen[grown], labels[grown])
    return np.asarray(fitted.predict(asked), dtype=np.float64)


def _side_by_side(blocks: Sequence[Pair]) -> Pair:
    seen, asked = [], []
    for pair in blocks:
        one, other = _standardised(*pair)
        unit = np.sqrt(WORTH / max(1, int((one.std(0) > 0).sum())))
        seen.append(one * unit)
        asked.append(other * unit)
    return np.hstack(seen), np.hstack(asked)


def _standardised(seen: NDArray[np.float64], asked: NDArray[np.float64]) -> Pair:
    scaler = StandardScaler().fit(seen)
    return scaler.transform(seen), scaler.transform(asked)


def _components(seen: NDArray[np.float64], asked: NDArray[np.float64]) -> Pair:
    one, other = _spanned(*_standardised(seen, asked))
    return one[:, :COMPONENTS], other[:, :COMPONENTS]


def _spanned(seen: NDArray[np.float64], asked: NDArray[np.float64]) -> Pair:
    """Coordinates along what the examples span, by falling variance.

    A regression that is held back by the square of its weights has no weight beside that, so it gives the same with
    these few coordinates as with all features.
    """
    axes = np.linalg.svd(seen, full_matrices=False)[2]
    return np.asarray(seen @ axes.T, dtype=np.float64), np.asarray(asked @ axes.T, dtype=np.float64)


def _fitted(
    seen: NDArray[np.float64], labels: NDArray[np.int64], asked: NDArray[np.float64], strength: float
) -> Choices:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LogisticRegression(C=strength, max_iter=200, tol=1e-3).fit(seen, labels)
    return np.asarray(fitted.predict(asked), dtype=np.float64)
