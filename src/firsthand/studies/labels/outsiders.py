"""Another language model beside the one that is judged: a reader of the same conversations, and a source of labels.

Whoever understands texts may learn a label that is a function of the text. A second model shows how far that goes, in
three ways: it is given *the same conversations* as the judged model; its *own states* of the texts are what a
classifier learns the judged model's labels from; and *its labels*, made of its own states in the same way, are told to
the judged model, which knows no more of those states than anybody, and to itself, which shows how well it learns.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.engine import Anatomy, LoadedModel, inspect_model
from firsthand.errors import LabelsError
from firsthand.studies.labels.biofeedback import (
    Bench,
    Referent,
    answered,
    conversation_of,
    labels_of,
    parted,
    referents_at,
    rows_of,
)
from firsthand.studies.labels.conversations import usable_names
from firsthand.studies.labels.reading import TextStates, states_of

READS: Final = "reads"
"""The arm of rows that hold what the outsider itself answered."""
READS_OWN: Final = "reads its own"
"""The arm of rows that hold what it answered when told labels of its own states."""
TOLD: Final = "labels of "
"""Begins the name of the arm in which the judged model is told the outsider's labels."""


@dataclass(frozen=True, eq=False)
class Outsider:
    """Another language model.

    Attributes:
        loaded: The model.
        anatomy: Its parts.
        layers: For each layer of the judged model that is studied, its own of the same relative depth.
        fit_states: Its states of the texts that axes are fitted on.
        states: Its states of the held-out texts.
        referents: Its own axes, at its own layers.
    """

    loaded: LoadedModel
    anatomy: Anatomy
    layers: Mapping[int, int]
    fit_states: TextStates
    states: TextStates
    referents: tuple[Referent, ...]

    def counterpart(self, referent: Referent) -> Referent:
        """The axis of the same name at the same relative depth."""
        at = self.layers[referent.layer]
        return next(one for one in self.referents if one.layer == at and one.axis.name == referent.axis.name)


def outsider_of(bench: Bench, loaded: LoadedModel) -> Outsider:
    """Read the states of all texts in another model, and fit its axes.

    Raises:
        LabelsError: If it is the judged model, or cannot write the names of the labels as one token.
        EngineError: If it cannot be run.
        StatesError: If an axis cannot be fitted.
    """
    if loaded.weights_sha256 == bench.loaded.weights_sha256:
        raise LabelsError(f"{loaded.name} is the model that is judged.", "Name another one as a reader.")
    lacking = sorted(set(bench.label_names) - set(usable_names(loaded.tokenizer, bench.label_names)))
    if lacking:
        raise LabelsError(
            f"{loaded.name} does not write the labels {', '.join(lacking)} as one token.", "Name another reader."
        )
    anatomy = inspect_model(loaded.model)
    deepest, own = bench.anatomy.n_layers - 1, anatomy.n_layers - 1
    layers = {layer: round(layer / max(deepest, 1) * own) for layer in bench.states.layers}
    wanted = sorted(set(layers.values()))
    fit = states_of(loaded, anatomy, bench.fit.texts, wanted)
    held_out = states_of(loaded, anatomy, bench.held_out.texts, wanted)
    referents = tuple(one for layer in wanted for one in referents_at(layer, fit, bench.fit, bench.claim))
    return Outsider(loaded, anatomy, layers, fit, held_out, referents)


def outsider_rows(bench: Bench, outsider: Outsider, experiment: int) -> pd.DataFrame:
    """What the outsider answers in one conversation; and what it and the judged model answer when told its own labels.

    The outsider's answer is the likelier of the two labels, whatever else it would rather write: an observer need not
    be valid to be right.
    """
    layer = next(one for one in bench.states.layers if experiment in bench.experiments(one))
    texts = bench.drawn(experiment)
    tables = []
    for referent in (one for one in bench.referents if one.layer == layer):
        labels, _ = labels_of(bench, referent, texts)
        theirs, _ = parted(outsider.counterpart(referent), outsider.states, texts, bench.claim.parted)
        told = conversation_of(bench, experiment, theirs)
        found = answered(bench.loaded, bench.anatomy, told, bench.claim)
        tables += [
            _reads(bench, outsider, referent, experiment, READS, labels),
            _reads(bench, outsider, referent, experiment, READS_OWN, theirs),
            rows_of(bench, referent, experiment, f"{TOLD}{outsider.loaded.name}", theirs, found),
        ]
    return pd.concat(tables, ignore_index=True).assign(wire=np.nan)


def _reads(
    bench: Bench, outsider: Outsider, referent: Referent, experiment: int, arm: str, labels: NDArray[np.int64]
) -> pd.DataFrame:
    conversation = conversation_of(bench, experiment, labels)
    found = answered(outsider.loaded, outsider.anatomy, conversation, bench.claim)
    likelier = (found.logprobs_NC[:, 1] > found.logprobs_NC[:, 0]).astype(np.float64)
    return rows_of(bench, referent, experiment, arm, labels, found).assign(answer=likelier)
