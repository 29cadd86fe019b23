"""Biofeedback: can a model tell, in context, labels that were made of its own states?

A *referent* is an axis at a layer: a probe of what the texts were labelled with, the same fitted on permuted labels, or
a principal component. A conversation shows texts with the label that the state of each has along the axis, and reads
what the model expects before every label. Beside it, the same texts with labels drawn by lot: what is right there as
often was not learned from the feedback.

The label of a text is a function of the text, so nothing here can exceed what the text tells to whoever knows the model
(arXiv 2605.26242, appendix B.2): what a report may show is access beyond observers of given means.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.claims.labels import BiofeedbackClaim
from firsthand.engine import Anatomy, LoadedModel, Site, inspect_model, resid_post
from firsthand.errors import LabelsError
from firsthand.states.axes import Axis, How, component_axes, logistic_axis, permuted, threshold
from firsthand.studies.injection.bench import usual_layers
from firsthand.studies.labels.conversations import NAMES, Conversation, Shot, draw_wording, usable_names
from firsthand.studies.labels.examples import Examples, split
from firsthand.studies.labels.incontext import Predictions, independent, teacher_forced
from firsthand.studies.labels.reading import TextStates, states_of
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

TARGET, REDRAWN = "target", "redrawn"

COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "public": ("experiment", "place", "at", "number", "group", "text"),
    "sealed": ("arm", "referent", "axis", "layer", "truth"),
    "reports": ("answer", "coverage", "logprobs"),
    "readings": ("wire",),
}
"""Columns of each part of the trace, beside ``trial_id``."""


@dataclass(frozen=True, eq=False)
class Referent:
    """What labels are made of: an axis at a layer."""

    layer: int
    axis: Axis

    @property
    def name(self) -> str:
        """Unique name, e.g. ``pc1 at 14``."""
        return f"{self.axis.name} at {self.layer}"


@dataclass(frozen=True, eq=False)
class Bench:
    """Everything that is fixed for a study.

    Attributes:
        claim: What is claimed.
        loaded: The model.
        anatomy: Its parts.
        fit: Texts that axes are fitted on.
        held_out: Texts that conversations are drawn from.
        fit_states: Their states.
        states: States of the held-out texts.
        referents: What labels are made of.
    """

    claim: BiofeedbackClaim
    loaded: LoadedModel
    anatomy: Anatomy
    fit: Examples
    held_out: Examples
    fit_states: TextStates
    states: TextStates
    referents: tuple[Referent, ...]

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """Names of labels that the tokenizer writes as one token."""
        return usable_names(self.loaded.tokenizer, NAMES["digits"])

    def experiments(self, layer: int) -> range:
        """Numbers of a layer's conversations.

        Each draws its texts anew. The same text may be drawn for several, so texts are units of the analysis, too.
        """
        at = list(self.states.layers).index(layer) * self.claim.experiments
        return range(at, at + self.claim.experiments)

    def drawn(self, experiment: int) -> NDArray[np.int64]:
        """The held-out texts of a conversation, ``[shots]``."""
        order = stream("biofeedback", self.claim.seed, "texts", experiment).permutation(len(self.held_out))
        return order[: self.claim.shots].astype(np.int64)


def data_hash(examples: Examples) -> str:
    """Hash of the texts and labels of a data set."""
    return digest([list(examples.texts), list(examples.labels), list(examples.groups)])


def prepare(loaded: LoadedModel, examples: Examples, claim: BiofeedbackClaim) -> Bench:
    """Read the states of all texts and fit the axes.

    Raises:
        LabelsError: If the data are not those of the claim, or too few.
        EngineError: If a layer is out of range.
        StatesError: If an axis cannot be fitted.
    """
    if data_hash(examples) != claim.data_sha256:
        raise LabelsError("The data are not those that the claim names.", "Give the same file, or make a new claim.")
    parts = split(examples, {"fit": claim.fit, "held_out": claim.held_out}, claim.seed)
    anatomy = inspect_model(loaded.model)
    layers = claim.layers or usual_layers(anatomy.n_layers, 5)
    fit, held_out = parts["fit"], parts["held_out"]
    states = {name: states_of(loaded, anatomy, part.texts, layers) for name, part in parts.items()}
    found = Bench(claim, loaded, anatomy, fit, held_out, states["fit"], states["held_out"], ())
    referents = tuple(one for layer in layers for one in referents_at(layer, states["fit"], fit, claim))
    found = replace(found, referents=referents)
    _check_classes(found)
    return found


def _check_classes(bench: Bench) -> None:
    """Refuse axes along which no conversation could be judged, before any is run."""
    shots, at = asked(bench.claim).T
    late = at[shots >= bench.claim.judged_from]
    for name in dict.fromkeys(one.axis.name for one in bench.referents):
        along = [one for one in bench.referents if one.axis.name == name]
        shown = [labels_of(bench, one, bench.drawn(n))[0][late] for one in along for n in bench.experiments(one.layer)]
        if len(np.unique(np.concatenate(shown))) < 2:
            raise LabelsError(
                f"All answers that are judged along {name} have the same label.",
                "Part the scores by 'median', or take more shots and conversations.",
            )


def referents_at(layer: int, states: TextStates, fit: Examples, claim: BiofeedbackClaim) -> list[Referent]:
    """What labels are made of at a layer: axes of the states of the texts that are there for fitting.

    Args:
        layer: The layer.
        states: Those states.
        fit: The texts.
        claim: Which axes, and the seed.

    Raises:
        StatesError: If an axis cannot be fitted.
    """
    read_NH, wanted = states.layers[layer], claim.referents
    axes: list[Axis] = []
    if "probe" in wanted:
        axes.append(logistic_axis(read_NH, fit.labels, fit.groups))
    if "permuted" in wanted:
        labels = permuted(fit.labels, claim.seed, layer)
        axes.append(logistic_axis(read_NH, labels, fit.groups, name="permuted"))
    numbers = [int(name.removeprefix("pc")) for name in wanted if name.startswith("pc")]
    axes += component_axes(read_NH, numbers) if numbers else ()
    return [Referent(layer, axis) for axis in axes]


def labels_of(bench: Bench, referent: Referent, texts: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
    """Labels of some held-out texts along an axis, ``[texts]``, and the score above which they are 1.

    Scores are parted within the conversation, as in appendix J.

    Raises:
        StatesError: If all of them would be of one class.
    """
    return parted(referent, bench.states, texts, bench.claim.parted)


def parted(
    referent: Referent, states: TextStates, texts: NDArray[np.int64], how: How
) -> tuple[NDArray[np.int64], float]:
    """Labels of some texts along an axis of some model's states, ``[texts]``, and the score above which they are 1.

    Raises:
        StatesError: If all of them would be of one class.
    """
    scores = referent.axis.scores(states.layers[referent.layer][texts])
    cut = threshold(scores, how)
    return (scores > cut).astype(np.int64), cut


def asked(claim: BiofeedbackClaim) -> NDArray[np.int64]:
    """For each answer of a conversation the number of shots before it, and the place of its text, ``[answers, 2]``."""
    if claim.protocol == "teacher_forced":
        return np.repeat(np.arange(claim.shots)[:, None], 2, axis=1)
    return np.array([(count, place) for count in claim.counts for place in range(count, claim.shots)], dtype=np.int64)


def answered(
    loaded: LoadedModel, anatomy: Anatomy, conversation: Conversation, claim: BiofeedbackClaim, *sites: Site
) -> Predictions:
    """What a model answers in a conversation, in the order of :func:`asked`.

    Raises:
        ElicitationError: If the conversation cannot be expressed exactly.
        EngineError: If it cannot be run.
        LabelsError: If it is longer than the model's context.
    """
    if claim.protocol == "teacher_forced":
        return teacher_forced(loaded, anatomy, conversation, sites=sites)
    parts = [
        independent(loaded, anatomy, conversation, count, conversation.shots[count:], sites=sites)
        for count in claim.counts
    ]
    return Predictions(
        np.concatenate([part.truth_N for part in parts]),
        np.concatenate([part.logprobs_NC for part in parts]),
        np.concatenate([part.coverage_N for part in parts]),
        tuple(answer for part in parts for answer in part.answers),
        {site: np.concatenate([part.states[site] for part in parts]) for site in sites},
    )


def target_rows(bench: Bench, referent: Referent, experiment: int) -> pd.DataFrame:
    """What the model expects as the labels of a conversation.

    Returns:
        One row an answer: ``trial_id``, ``arm``, ``referent``, ``axis``, ``layer``, ``experiment``, ``place`` (number
        of shots before it), ``at`` (place of its text in the conversation), ``number`` and ``text`` of the held-out
        text, ``group``, ``truth``, ``answer`` (NaN if invalid), ``coverage``, ``logprobs`` and ``wire`` (the score of
        the text's state in this very conversation, beyond the one that parts the classes).
    """
    labels, cut = labels_of(bench, referent, bench.drawn(experiment))
    site = resid_post(referent.layer)
    found = answered(bench.loaded, bench.anatomy, conversation_of(bench, experiment, labels), bench.claim, site)
    return rows_of(bench, referent, experiment, TARGET, labels, found).assign(
        wire=referent.axis.scores(found.states[site]) - cut
    )


def redrawn(bench: Bench, experiment: int) -> Predictions:
    """What the model expects where the labels of a conversation were drawn by lot; the same for all referents."""
    conversation = conversation_of(bench, experiment, lot_labels(bench, experiment))
    return answered(bench.loaded, bench.anatomy, conversation, bench.claim)


def lot_labels(bench: Bench, experiment: int) -> NDArray[np.int64]:
    """Labels of a conversation that were drawn by lot, as many of each class as can be, ``[shots]``."""
    draw = stream("biofeedback", bench.claim.seed, "redrawn", experiment)
    return draw.permutation(np.arange(bench.claim.shots) % 2).astype(np.int64)


def redrawn_rows(bench: Bench, referent: Referent, experiment: int, found: Predictions) -> pd.DataFrame:
    """The answers of :func:`redrawn`, held against the labels of a referent."""
    labels, _ = labels_of(bench, referent, bench.drawn(experiment))
    return rows_of(bench, referent, experiment, REDRAWN, labels, found).assign(wire=np.nan)


def conversation_of(bench: Bench, experiment: int, labels: NDArray[np.int64]) -> Conversation:
    """The conversation of an experiment, with some labels, ``[shots]``."""
    instruction, names = draw_wording(bench.label_names, bench.claim.seed, experiment)
    texts = [bench.held_out.texts[i] for i in bench.drawn(experiment)]
    shots = tuple(Shot(text, int(label)) for text, label in zip(texts, labels, strict=True))
    return Conversation(instruction, names, shots)


def rows_of(
    bench: Bench, referent: Referent, experiment: int, arm: str, labels: NDArray[np.int64], found: Predictions
) -> pd.DataFrame:
    """What was answered in a conversation, one row an answer; see :func:`target_rows`."""
    shots, at = asked(bench.claim).T
    texts = bench.drawn(experiment)[at]
    return pd.DataFrame(
        {
            "trial_id": [f"{referent.name}/{experiment}/{a}/{n}/{arm}" for a, n in zip(at, shots, strict=True)],
            "arm": arm,
            "referent": referent.name,
            "axis": referent.axis.name,
            "layer": referent.layer,
            "experiment": experiment,
            "place": shots,
            "at": at,
            "number": texts,
            "text": [bench.held_out.texts[i] for i in texts],
            "group": [bench.held_out.groups[i] for i in texts],
            "truth": labels[at],
            "answer": [np.nan if answer is None else float(answer) for answer in found.answers],
            "coverage": found.coverage_N,
            "logprobs": pd.Series(found.logprobs_NC.tolist(), dtype=object),
        }
    )


def conversation_rows(bench: Bench, experiment: int) -> pd.DataFrame:
    """All rows of one conversation: for every referent of its layer, and with labels drawn by lot."""
    layer = next(one for one in bench.states.layers if experiment in bench.experiments(one))
    lot = redrawn(bench, experiment)
    tables = []
    for referent in bench.referents:
        if referent.layer == layer:
            tables += [target_rows(bench, referent, experiment), redrawn_rows(bench, referent, experiment, lot)]
    return pd.concat(tables, ignore_index=True)
