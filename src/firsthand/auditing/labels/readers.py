"""Another language model as an observer: what it reads, what its states hold, and whether it is a rival at all."""

from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.auditing.labels.onlookers import Choice, predicted, worth
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.outsiders import Outsider

READER: Final = "reader: "
"""Begins the name of an observer that is a language model given the same conversation."""
OWN: Final = "own labels "
"""Begins the names of columns that say whether a reader was right about labels of its own states."""
UNREAD: Final = (
    "no other language model read the same conversations, and one that merely understands the texts may do as well: "
    "ahead of readers of words alone, a report is not yet privileged"
)
WEAK: Final = (
    "every other language model is worse at learning labels of its own states than this model is at its own, by more "
    "than the least effect that counts: ahead of a poor learner, a report is not yet privileged"
)


def by_its_states(
    outsider: Outsider,
    others: NDArray[np.int64],
    known: NDArray[np.int64],
    groups: NDArray[np.int64],
    texts: NDArray[np.int64],
) -> Choice:
    """What a classifier on a reader's own states gives some held-out texts, ``[texts]``.

    It reads the layer, of those that are studied, from which the texts to learn from are told best.

    Args:
        outsider: The reader.
        others: Held-out texts to learn from.
        known: Their labels, of both classes.
        groups: Their groups.
        texts: Held-out texts to be labelled.
    """
    layers = sorted(set(outsider.layers.values()))
    states = {layer: outsider.states.layers[layer] for layer in layers}
    best = max(layers, key=lambda layer: worth(states[layer][others], known, groups.tolist()))
    return predicted(states[best][others], states[best][texts], known, groups.tolist())[0]


def refusal(target: pd.DataFrame, names: list[str], spec: AnalysisSpec) -> str | None:
    """Why these readers do not suffice for ``privileged``, if so.

    A label that only the judged model can know leaves any reader at chance, so being right is no test of a reader.
    Learning the labels of *its own* states as well as the judged model learns its own is; a reader of which that is
    not known does not count.

    Args:
        target: Target rows that are judged, with ``answer``, ``truth``, the cluster columns and those of :data:`OWN`.
        names: Names of the observers.
        spec: The rules.
    """
    if not any(name.startswith(READER) for name in names):
        return UNREAD
    mine = (target["answer"] == target["truth"]).to_numpy(dtype=np.float64)
    for name in (name.removeprefix(READER) for name in names if name.startswith(READER)):
        if f"{OWN}{name}" in target:  # of a reader itself, and not of a classifier on its states
            own = target[f"{OWN}{name}"].to_numpy(dtype=np.float64)
            behind = mean_of(mine - own, target, spec.clusters, DIFFERENCE).estimate(spec.alpha, 0.0)
            if not (behind.low > 0 and behind.value > spec.minimum_effect):
                return None
    return WEAK
