"""What an injection study is made on: the model, the vectors of its concepts and of its controls, and their scale.

A dose is in units of the mean residual norm at the trial line, measured once without any edit, so that it means the
same for models whose streams differ by orders of magnitude. Control directions are drawn anew for every concept and
layer: one and the same "random" direction for all would be a single draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from firsthand.engine import Anatomy, Capture, LoadedModel, Row, inspect_model, resid_post, run
from firsthand.errors import ClaimError
from firsthand.states.concepts import Recipe, concept_vectors
from firsthand.states.vectors import Vectors
from firsthand.studies.cells import Cell
from firsthand.studies.injection.drafts import Draft, detection, with_lead
from firsthand.studies.injection.prompts import Prompt, expressible, make_prompt
from firsthand.studies.injection.texts_gaslight import GASLIGHTS, NEUTRALS
from firsthand.studies.injection.wordings import Meaning, Order, Wording, fill, orders
from firsthand.trials.randomness import stream

TWO: Order = (Meaning.INJECTED, Meaning.NOTHING)


@dataclass(frozen=True, eq=False)
class InjectionBench:
    """Everything that is fixed for a study.

    Attributes:
        loaded: The model.
        anatomy: Its parts.
        concepts: The concepts, in order.
        vectors: Their unit vectors at ``resid_post`` of every layer of the grid.
        scales: Mean residual norm at the trial line by layer.
        wordings: Two-way wordings that this tokenizer can express.
        seed: Names every draw.
    """

    loaded: LoadedModel
    anatomy: Anatomy
    concepts: tuple[str, ...]
    vectors: Vectors
    scales: dict[int, float]
    wordings: tuple[Wording, ...]
    seed: int

    def vector(self, concept: str, layer: int) -> Tensor:
        """The concept's unit vector, ``[hidden]``."""
        return self.vectors.vector(concept, resid_post(layer))

    def content_free(self, concept: str, layer: int) -> Tensor:
        """A random unit direction with no component along any concept's vector, ``[hidden]``."""
        drawn = stream("injection", self.seed, "content-free", concept, layer).standard_normal(self.anatomy.hidden_size)
        basis, _ = np.linalg.qr(torch.stack([self.vector(c, layer) for c in self.concepts]).double().numpy().T)
        rest = drawn - basis @ (basis.T @ drawn)
        return torch.tensor(rest / np.linalg.norm(rest), dtype=torch.float32)

    def shuffled(self, concept: str, layer: int) -> Tensor:
        """The concept's vector with its coordinates in another order: the same numbers, without their meaning."""
        order = stream("injection", self.seed, "shuffled", concept, layer).permutation(self.anatomy.hidden_size)
        return self.vector(concept, layer)[torch.tensor(order)]

    def strength(self, cell: Cell) -> float:
        """Norm of what is added, in absolute units."""
        return cell.dose * self.scales[cell.layer]

    def leads(self, concept: str) -> tuple[str, str]:
        """Two texts before everything else: neutral ones, and pushes towards the concept with the same numbers.

        Two of 18 are drawn for each concept, so that no two concepts share their uninjected prompt, which would be one
        measurement counted twice.
        """
        numbers = _pairs(self.seed, len(self.concepts))[self.concepts.index(concept)]
        neutral = " ".join(NEUTRALS[i] for i in numbers)
        return neutral, " ".join(fill(GASLIGHTS[i], {"concept": concept}) for i in numbers)

    def prompt(self, concept: str, wording: Wording, order: Order, *, pushed: bool = False) -> Prompt:
        """The injection question as it is put for a concept, as tokens."""
        return make_prompt(self.loaded.tokenizer, self.draft(concept, wording, order, pushed=pushed))

    def draft(self, concept: str, wording: Wording, order: Order, *, pushed: bool = False) -> Draft:
        """The injection question as it is put for a concept."""
        neutral, push = self.leads(concept)
        lead = (push, "push") if pushed else (neutral, "neutral")
        return with_lead(detection(wording, order), *lead)


def prepare(
    loaded: LoadedModel, concepts: Sequence[str], layers: Sequence[int], wordings: Sequence[Wording], seed: int = 0
) -> InjectionBench:
    """Make the vectors, measure the dose's unit, and keep the wordings that the tokenizer can express.

    Args:
        loaded: The model.
        concepts: At least four concepts: two to choose on and two to judge on.
        layers: Layers of the grid.
        wordings: Two-way wordings.
        seed: Names every draw.

    Raises:
        ClaimError: If there are too few concepts, a layer is out of range, or no wording can be expressed.
        StatesError: If a concept has no vector.
    """
    anatomy = inspect_model(loaded.model)
    bad = [layer for layer in layers if not 0 <= layer < anatomy.n_layers - 1]
    if bad or not layers:
        raise ClaimError(
            f"The layers {list(layers)} are not layers 0 to {anatomy.n_layers - 2} of {loaded.name}.",
            "An edit of the last block's output could reach no later token.",
        )
    if len(concepts) < 4 or len(concepts) > len(_pairs(seed, 0)):
        raise ClaimError(f"There are {len(concepts)} concepts.", f"Use 4 to {len(_pairs(seed, 0))}.")
    recipe = Recipe(sites=tuple(resid_post(layer) for layer in sorted(set(layers))))
    vectors = concept_vectors(loaded, anatomy, list(concepts), recipe)
    bench = InjectionBench(loaded, anatomy, tuple(concepts), vectors, {}, (), seed)
    able, problems = [], []
    for wording in wordings:
        _, wrong = expressible(loaded.tokenizer, [bench.draft(concepts[0], wording, order) for order in orders(TWO)])
        problems += wrong
        able += [] if wrong else [wording]
    if not able:
        raise ClaimError("No wording can be expressed: " + "; ".join(problems[:2]), "Give wordings by a file.")
    ready = InjectionBench(loaded, anatomy, tuple(concepts), vectors, {}, tuple(able), seed)
    ready.scales.update(_scales(ready, layers))
    return ready


def _pairs(seed: int, count: int) -> list[tuple[int, int]]:
    """Distinct pairs of lead texts in a drawn order."""
    every = [(i, j) for i in range(len(NEUTRALS)) for j in range(len(NEUTRALS)) if i != j]
    order = stream("injection", seed, "leads").permutation(len(every))
    return [every[int(i)] for i in order][: count or None]


def _scales(bench: InjectionBench, layers: Sequence[int]) -> dict[int, float]:
    prompts = [bench.prompt(concept, bench.wordings[0], TWO) for concept in bench.concepts[:4]]
    rows = [Row(p.tokens, captures=tuple(Capture(str(i), resid_post(i), p.span) for i in layers)) for p in prompts]
    readings = run(bench.anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return {i: float(np.mean([float(r[str(i)].norm(dim=1).mean()) for r in readings])) for i in layers}
