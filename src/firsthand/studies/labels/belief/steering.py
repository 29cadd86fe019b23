"""A vector of the counter entity, added while the model answers and while it labels: what moves with it?

The vector is the mean state of the entity's tokens, less the mean state of the other counter entities, in the same
prompt (:mod:`firsthand.states.concepts`). Beside it, at the same length: the vector of another record's counter entity,
and a direction without content. Steinmetz Yalon et al. (2026) saw predicted dominance follow such a vector. As arXiv
2605.26242 (section 5.2.1) says, that shows a state that moves the report, and not a model that monitors it; and a
vector of a word makes the word itself likelier, in whatever is read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.claims.labels.belief import SteeringSpec
from firsthand.engine import resid_post
from firsthand.states.concepts import Recipe, concept_vectors
from firsthand.studies.labels.belief.bench import Bench
from firsthand.studies.labels.belief.readings import Item, Push, read_items
from firsthand.studies.labels.belief.reporting import Experiment, ask, conversation_of, queries_of
from firsthand.studies.labels.belief.scores import dominance
from firsthand.studies.labels.conversations import Shot, TextEdit
from firsthand.trials.randomness import stream

CLEAN: Final = "nothing added"
COUNTER: Final = "the counter entity"
OTHER: Final = "another entity"
CONTENT_FREE: Final = "a direction without content"
ARMS: Final = (COUNTER, OTHER, CONTENT_FREE)


@dataclass(frozen=True, eq=False)
class Steered:
    """What is added.

    Attributes:
        experiment: The conversation in which the model labels.
        chosen: Places, among what the experiment asks about, of the answers that are steered.
        layers: Layers of the edit.
        doses: Its lengths, in units of the mean norm of the residuals.
        vectors: For each layer, vectors of one such unit by arm, ``[chosen, hidden]``.
    """

    experiment: Experiment
    chosen: tuple[int, ...]
    layers: tuple[int, ...]
    doses: tuple[float, ...]
    vectors: dict[int, dict[str, Tensor]]


def steered(bench: Bench, table: pd.DataFrame, made: Experiment, spec: SteeringSpec) -> Steered | None:
    """Choose what is steered, and make its vectors; ``None`` if fewer than two counter entities are among it.

    Raises:
        StatesError: If an entity has no vector.
    """
    draw = stream("belief", bench.claim.seed, "steered")
    chosen = tuple(sorted(draw.permutation(len(made.asked))[: spec.records].tolist()))
    entities = [str(table["counter"].iloc[made.asked[i]]) for i in chosen]
    folded = {entity.casefold(): entity for entity in entities}
    if len(folded) < 2:
        return None
    names = list(folded.values())
    layers = spec.layers or (bench.anatomy.n_layers // 2,)
    sites = tuple(resid_post(layer) for layer in layers)
    made_of = concept_vectors(bench.loaded, bench.anatomy, names, Recipe(sites, scale="residual"))
    vectors: dict[int, dict[str, Tensor]] = {}
    for turn, layer in enumerate(layers):
        some = made_of.vectors_VH[turn * len(names) : (turn + 1) * len(names)]
        own = [list(folded).index(entity.casefold()) for entity in entities]
        others = [_another(bench, i, names, number) for number, i in enumerate(own)]
        free = [_free(bench, layer, number, some[i]) for number, i in enumerate(own)]
        vectors[layer] = {COUNTER: some[own], OTHER: some[others], CONTENT_FREE: torch.stack(free)}
    return Steered(made, chosen, tuple(layers), tuple(spec.doses), vectors)


def _another(bench: Bench, own: int, names: Sequence[str], number: int) -> int:
    others = [i for i in range(len(names)) if i != own]
    return others[int(stream("belief", bench.claim.seed, "other", number).integers(len(others)))]


def _free(bench: Bench, layer: int, number: int, like_H: Tensor) -> Tensor:
    drawn = stream("belief", bench.claim.seed, "content-free", layer, number).standard_normal(len(like_H))
    drawn_H = torch.tensor(drawn, dtype=torch.float32)
    scaled_H: Tensor = drawn_H / drawn_H.norm() * like_H.norm()
    return scaled_H


def steered_rows(bench: Bench, table: pd.DataFrame, what: Steered, turns: Sequence[int]) -> list[pd.DataFrame]:
    """Everything about some steered answers: dominance and report, with nothing added and with each vector and dose.

    The conversation that all of them are asked after is computed once.

    Returns:
        For each answer one row an arm, layer and dose: ``trial_id``, ``arm``, ``layer``, ``dose``, ``item``,
        ``subject``, ``kind``, ``text``, ``said``, ``bd_base``, ``bd_counter`` (as read while steered), ``told_base``,
        ``told_counter`` (as the report has them: the centres of the clusters, weighted by the probabilities of their
        labels), ``coverage`` and ``logprobs``.
    """
    asked = queries_of(bench, table, what.experiment)
    rows: list[dict[str, object]] = []
    queries: list[Shot] = []
    for turn in turns:
        place = what.chosen[turn]
        item = bench.items[int(table["item"].iloc[what.experiment.asked[place]])]
        cells = _cells(what, turn)
        rows += _read(bench, item, asked[place].text, cells)
        queries += [_edited(asked[place], cell) for cell in cells]
    talk = conversation_of(bench, table, what.experiment, bench.label_names)
    found = ask(bench.loaded, bench.anatomy, talk, queries)
    told = expected(found.logprobs_NC, what.experiment.clusters.centres_K2)
    whole = pd.DataFrame(rows).assign(
        told_base=told[:, 0],
        told_counter=told[:, 1],
        coverage=found.coverage_N,
        logprobs=pd.Series(found.logprobs_NC.tolist(), dtype=object),
    )
    each = len(whole) // len(turns)
    return [whole.iloc[begin : begin + each].reset_index(drop=True) for begin in range(0, len(whole), each)]


@dataclass(frozen=True, eq=False)
class _Cell:
    """One way of steering an answer; the vector is ``None`` where nothing is added."""

    arm: str
    layer: int
    dose: float
    vector_H: Tensor | None


def _cells(what: Steered, turn: int) -> list[_Cell]:
    grid = [(layer, dose, arm) for layer in what.layers for dose in what.doses for arm in ARMS]
    pushed = [_Cell(arm, layer, dose, what.vectors[layer][arm][turn]) for layer, dose, arm in grid]
    return [_Cell(CLEAN, -1, 0.0, None), *pushed]


def _read(bench: Bench, item: Item, text: str, cells: Sequence[_Cell]) -> list[dict[str, object]]:
    """What the states of one answer hold, under each cell."""
    pushes = [
        () if cell.vector_H is None else (Push(resid_post(cell.layer), cell.vector_H, cell.dose),) for cell in cells
    ]
    items = [item] * len(cells)
    frames = read_items(bench.loaded, bench.anatomy, bench.target, items, bench.layers, bench.claim, pushes)
    rows: list[dict[str, object]] = []
    for cell, frame in zip(cells, frames, strict=True):
        read = dominance(frame).iloc[0]
        rows.append(
            {
                "trial_id": f"{item.number}/{cell.arm}/{cell.layer}/{cell.dose:g}",
                "arm": cell.arm,
                "layer": cell.layer,
                "dose": cell.dose,
                "item": item.number,
                "subject": item.fact.subject,
                "kind": item.kind,
                "text": text,
                **{name: read[name] for name in ("said", "bd_base", "bd_counter", "states")},
            }
        )
    return rows


def expected(logprobs_NC: NDArray[np.float64], centres_K2: NDArray[np.float64]) -> NDArray[np.float64]:
    """The dominances that a report tells: the centres, weighted by the probabilities of their labels ``[answers, 2]``.

    Probabilities are those among the labels; how much of the whole they are is the coverage.
    """
    weights = np.exp(logprobs_NC - logprobs_NC.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True) @ centres_K2, dtype=np.float64)


def _edited(query: Shot, cell: _Cell) -> Shot:
    if cell.vector_H is None:
        return query
    return replace(query, edits=(TextEdit(resid_post(cell.layer), cell.vector_H, cell.dose),))
