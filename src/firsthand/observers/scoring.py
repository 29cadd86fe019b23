"""Runs observers so that none is fitted on the block it judges.

Blocks are split into folds; for each fold an observer may learn from the other folds only. The truth of a fold is never
passed in when that fold is judged, so permuting it there cannot change what the observer says there. Each time an
observer gets copies of the views, so nothing that it writes into one comes back to it with another fold.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from firsthand.errors import FirsthandError, ObserverError
from firsthand.observers.base import Observer, Past
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

FOLDS = 6


def fold_of_groups(groups: Sequence[str], folds: int = FOLDS) -> NDArray[np.int64]:
    """The fold of each trial; a group is never split. Groups are dealt out in their order of appearance."""
    order = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    if len(order) < 2:
        raise ObserverError(
            "Observers need at least two blocks: one to learn from and one to judge.", "Use more blocks in the claim."
        )
    return np.array([order[group] % min(folds, len(order)) for group in groups])


def observe_all(
    observer: Observer,
    capability: Capability,
    views: Sequence[PublicView],
    truth: NDArray[np.int64],
    groups: Sequence[str],
) -> NDArray[np.float64]:
    """Cross-fitted probabilities of truth 1.

    Args:
        observer: The observer.
        capability: What is to be guessed.
        views: Public views of all trials.
        truth: Truth of all trials; that of a fold is used only to learn for the other folds.
        groups: Block of each trial.

    Returns:
        Probabilities, ``[trials]``.

    Raises:
        ObserverError: If the observer fails or does not return one finite probability a view.
    """
    fold = fold_of_groups(groups)
    guessed = np.full(len(views), np.nan)
    for k in sorted(set(fold.tolist())):
        test, train = np.flatnonzero(fold == k).tolist(), np.flatnonzero(fold != k).tolist()
        past = Past([_copy(views[i]) for i in train], truth[train])
        try:
            answer = np.asarray(observer.observe(capability, past, [_copy(views[i]) for i in test]), dtype=np.float64)
        except FirsthandError:
            raise
        except Exception as error:
            raise ObserverError(
                f"Observer {observer.name!r} failed on {capability}: {type(error).__name__}: {error}",
                "Mend the observer, or leave it out of the claim.",
            ) from error
        if answer.shape != (len(test),) or not np.isfinite(answer).all() or answer.min() < 0 or answer.max() > 1:
            raise ObserverError(
                f"Observer {observer.name!r} must return one probability from 0 to 1 for each of {len(test)} trials.",
                "Mend its observe() method.",
            )
        guessed[test] = answer
    return guessed


def _copy(view: PublicView) -> PublicView:
    return replace(
        view,
        clusters=dict(view.clusters),
        features=dict(view.features),
        output_features=dict(view.output_features),
        questions=dict(view.questions),
    )
