"""What an injection study is made on: the model, the vectors of its concepts and of its controls, and their scale.

A dose is in units of the mean residual norm at the trial line, measured once without any edit, so that it means the
same for models whose streams differ by orders of magnitude. Control directions are drawn anew for every concept and
layer: one and the same "random" direction for all would be a single draw.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch
from pydantic import ValidationError
from torch import Tensor

from firsthand.claims.injection import InjectionClaim, Question
from firsthand.engine import Anatomy, Capture, LoadedModel, Row, inspect_model, resid_post, run
from firsthand.errors import ClaimError
from firsthand.states.concepts import Recipe, Scale, concept_vectors
from firsthand.states.vectors import Vectors
from firsthand.studies.cells import Cell
from firsthand.studies.injection.built_in import built_in
from firsthand.studies.injection.concepts import baseline_for
from firsthand.studies.injection.drafts import Draft, detection, with_lead
from firsthand.studies.injection.prompts import Prompt, expressible, make_prompt
from firsthand.studies.injection.texts_gaslight import GASLIGHTS, NEUTRALS
from firsthand.studies.injection.wordings import LabelStyle, Meaning, Order, Wording, fill, orders
from firsthand.trials.randomness import stream

TWO: Order = (Meaning.INJECTED, Meaning.NOTHING)
LEAST_SIZE = 1e-5
"""Singular values below this share of the largest are rounding."""
LEAST_JUDGING = 24
"""Fewer concepts to judge on could show neither an absence nor what reporters of known answer are."""


@dataclass(frozen=True, eq=False)
class InjectionBench:
    """Everything that is fixed for a study.

    Attributes:
        claim: What is claimed.
        loaded: The model.
        anatomy: Its parts.
        layers: Layers of the grid.
        vectors: The concepts' vectors at ``resid_post`` of every layer of the grid.
        others: The same made by the other recipe, for the question whether a finding carries over to them.
        scales: Mean residual norm at the trial line by layer; 1 for raw vectors.
        wordings: Wordings that this tokenizer can express.
        choosing: Concepts on which settings are chosen.
        judging: Concepts on which verdicts rest.
        matches: Strengths of directions without content that were matched already, and whether one was found.
    """

    claim: InjectionClaim
    loaded: LoadedModel
    anatomy: Anatomy
    layers: tuple[int, ...]
    vectors: Vectors
    others: Vectors
    scales: dict[int, float]
    wordings: tuple[Wording, ...]
    choosing: tuple[str, ...]
    judging: tuple[str, ...]
    matches: dict[Hashable, tuple[float, bool]] = field(default_factory=dict)

    @property
    def concepts(self) -> tuple[str, ...]:
        """All concepts, in the claim's order."""
        return self.claim.concepts

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The grid."""
        return tuple(Cell(layer, dose) for layer in self.layers for dose in self.claim.doses)

    @property
    def coarse(self) -> tuple[Cell, ...]:
        """Every second layer and dose of the grid, or all of it if the claim asks for the full one."""
        if self.claim.full_grid:
            return self.cells
        return tuple(Cell(layer, dose) for layer in self.layers[1::2] or self.layers for dose in self.claim.doses[1::2])

    def part(self, concept: str) -> tuple[str, ...]:
        """The concepts that a concept may be listed with: those that choose, or those that judge."""
        return self.choosing if concept in self.choosing else self.judging

    def vector(self, concept: str, layer: int, *, other: bool = False) -> Tensor:
        """The concept's vector, ``[hidden]``; ``other`` that of the other recipe."""
        return (self.others if other else self.vectors).vector(concept, resid_post(layer))

    def content_free(self, concept: str, layer: int) -> Tensor:
        """A random unit direction with no component along any concept's vector, ``[hidden]``."""
        drawn = self._stream("content-free", concept, layer).standard_normal(self.anatomy.hidden_size)
        basis = _basis(self, layer)
        rest = drawn - basis @ (basis.T @ drawn)
        return torch.tensor(rest / np.linalg.norm(rest), dtype=torch.float32)

    def shuffled(self, concept: str, layer: int) -> Tensor:
        """The concept's vector with its coordinates in another order: the same numbers, without their meaning."""
        order = self._stream("shuffled", concept, layer).permutation(self.anatomy.hidden_size)
        return self.vector(concept, layer)[torch.tensor(order)]

    def strength(self, cell: Cell) -> float:
        """What a unit vector is multiplied by."""
        return cell.dose * self.scales[cell.layer]

    def leads(self, concept: str, towards: str | None = None) -> tuple[str, str]:
        """Two texts before everything else: neutral ones, and pushes towards a concept with the same numbers.

        Two are drawn for each concept, so that no two concepts share their uninjected prompt, which would be one
        measurement counted twice.

        Args:
            concept: Whose prompt it is.
            towards: What the pushes name; the concept itself if it is left out.
        """
        numbers = _pairs(self.claim.seed, len(self.concepts))[self.concepts.index(concept)]
        pushes = self.claim.pushes or GASLIGHTS
        neutral = " ".join(NEUTRALS[i] for i in numbers)
        push = " ".join(fill(pushes[i % len(pushes)], {"concept": towards or concept}) for i in numbers)
        return neutral, push

    def neighbour(self, concept: str) -> str:
        """Another concept of the same part, a different one for each."""
        part = self.part(concept)
        return part[(part.index(concept) + 1) % len(part)]

    def asked(
        self,
        concept: str,
        framing: str,
        options: int | None = None,
        labels: LabelStyle = "digits",
        *,
        skip: int = 0,
    ) -> tuple[Wording, ...]:
        """The wordings that a concept is asked in: as many voices as the claim says, rotating over the concepts.

        Args:
            concept: The concept.
            framing: How the rules are conveyed.
            options: Number of answers of the injection question; the fewest that there are if it is left out.
            labels: What answers are labelled with; other labels are taken where there are none of these.
            skip: How many voices are passed over first.

        Raises:
            ClaimError: If no wording of this kind can be expressed by the tokenizer.
        """
        found = [w for w in self.wordings if w.framing == framing]
        fewest = min((len(w.meanings) for w in found), default=0)
        found = [w for w in found if len(w.meanings) == (options or fewest)]
        found = [w for w in found if w.labels == labels] or found
        if not found:
            raise ClaimError(
                f"There is no usable wording of the framing '{framing}' with {options} answers.",
                "Give one by a file, or leave this framing or number of answers out.",
            )
        at = self.concepts.index(concept) + skip
        return tuple(found[(at + j) % len(found)] for j in range(min(self.claim.voices, len(found))))

    def led(self, draft: Draft, concept: str, *, towards: str | None = None) -> Prompt:
        """A conversation as tokens, with the neutral lead before it, or the pushing one if ``towards`` is given."""
        neutral, push = self.leads(concept, towards)
        lead = (neutral, "neutral") if towards is None else (push, "push")
        return self.prompt(with_lead(draft, *lead))

    def prompt(self, draft: Draft) -> Prompt:
        """A conversation as tokens."""
        return make_prompt(self.loaded.tokenizer, draft)

    def _stream(self, what: str, *names: str | int) -> np.random.Generator:
        return stream("injection", self.claim.seed, what, *names)


def prepare(loaded: LoadedModel, claim: InjectionClaim) -> InjectionBench:
    """Make the vectors, measure the dose's unit, and keep the wordings that the tokenizer can express.

    Args:
        loaded: The model.
        claim: What is claimed.

    Raises:
        ClaimError: If there are too few concepts, a layer is out of range, or no wording can be expressed.
        StatesError: If a concept has no vector.
    """
    anatomy = inspect_model(loaded.model)
    layers = _layers(loaded.name, claim, anatomy.n_layers)
    most = len(_pairs(claim.seed, 0))
    choosing, judging = split_concepts(claim)
    if len(judging) < LEAST_JUDGING or len(claim.concepts) > most:
        raise ClaimError(
            f"Of {len(claim.concepts)} concepts a quarter chooses settings, which leaves {len(judging)} to judge on.",
            f"Use 31 to {most}: with fewer than {LEAST_JUDGING} to judge on no verdict could be given.",
        )
    sites = tuple(resid_post(layer) for layer in layers)
    scale: Scale = "unit" if claim.unit_norm else "raw"
    mean = Recipe(sites=sites, scale=scale)
    words = baseline_for(claim.concepts)
    last = Recipe(sites=sites, pool="last", baseline="words", baseline_words=words, scale=scale)
    first, second = (mean, last) if claim.recipe == "nouns" else (last, mean)
    own = concept_vectors(loaded, anatomy, list(claim.concepts), first)
    new = Question.TRANSFER in claim.questions
    other = concept_vectors(loaded, anatomy, list(claim.concepts), second) if new else own
    wordings = usable_wordings(loaded, claim)
    bench = InjectionBench(claim, loaded, anatomy, layers, own, other, {}, wordings, choosing, judging)
    bench.scales.update(_scales(bench) if claim.unit_norm else dict.fromkeys(layers, 1.0))
    return bench


def usable_wordings(loaded: LoadedModel, claim: InjectionClaim) -> tuple[Wording, ...]:
    """The claim's wordings that the model's tokenizer can express.

    Raises:
        ClaimError: If there is none.
    """
    given = built_in() if claim.wordings is None else _own_wordings(claim)
    able: list[Wording] = []
    problems: list[str] = []
    for wording in given:
        if len(wording.meanings) not in claim.options or wording.framing not in claim.framings:
            continue
        _, wrong = expressible(loaded.tokenizer, [detection(wording, order) for order in orders(wording.meanings)])
        problems += wrong
        able += [] if wrong else [wording]
    if not able:
        raise ClaimError(
            "No wording can be used: " + ("; ".join(problems[:2]) or "none has the claim's framings and options") + ".",
            "Give wordings by a file.",
        )
    return tuple(able)


def _own_wordings(claim: InjectionClaim) -> tuple[Wording, ...]:
    try:
        return tuple(Wording.model_validate(wording) for wording in claim.wordings or ())
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(map(str, found["loc"]))
        raise ClaimError(
            f"A wording of the claim does not fit: {where}: {found['msg']}.",
            "See docs/injection-prompts.md for the fields.",
        ) from error


def split_concepts(claim: InjectionClaim) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Concepts to choose on, and concepts to judge on, drawn by the seed.

    A quarter chooses. Of 32 concepts 24 are then left to judge on: with 16, no answer could be shown to be equivalent
    to no signal within 0.15, nor any reader to be right more often than 0.866.
    """
    order = stream("injection", claim.seed, "split").permutation(len(claim.concepts))
    drawn = [claim.concepts[int(i)] for i in order]
    choosing = max(2, len(drawn) // 4)
    return tuple(drawn[:choosing]), tuple(drawn[choosing:])


def usual_layers(depth: int, count: int = 10) -> tuple[int, ...]:
    """Layers spread evenly over the depth, without the last, whose edit could reach no later token."""
    some = min(count, depth - 1)
    return tuple(sorted({round((i + 0.5) * (depth - 1) / some - 0.5) for i in range(some)}))


def _layers(name: str, claim: InjectionClaim, depth: int) -> tuple[int, ...]:
    layers = tuple(sorted(claim.layers)) if claim.layers is not None else usual_layers(depth)
    if not all(0 <= layer < depth - 1 for layer in layers):
        raise ClaimError(
            f"The layers {list(layers)} are not layers 0 to {depth - 2} of {name}.",
            "An edit of the last block's output could reach no later token.",
        )
    return layers


def _pairs(seed: int, count: int) -> list[tuple[int, int]]:
    """Distinct pairs of lead texts in a drawn order."""
    every = [(i, j) for i in range(len(NEUTRALS)) for j in range(len(NEUTRALS)) if i != j]
    order = stream("injection", seed, "leads").permutation(len(every))
    return [every[int(i)] for i in order][: count or None]


@lru_cache(maxsize=64)
def _basis(bench: InjectionBench, layer: int) -> np.ndarray:
    """An orthonormal basis of the space of all concepts' vectors, ``[hidden, concepts]``."""
    stacked = torch.stack([bench.vector(concept, layer) for concept in bench.concepts]).double().numpy()
    left, sizes, _ = np.linalg.svd(stacked.T, full_matrices=False)
    basis = left[:, sizes > LEAST_SIZE * sizes.max()]
    if basis.shape[1] >= bench.anatomy.hidden_size:
        raise ClaimError(
            f"{len(bench.concepts)} concepts span the whole residual stream of {bench.loaded.name}.",
            "Use fewer concepts, or a wider model: no direction without content is left.",
        )
    return np.asarray(basis)


def _scales(bench: InjectionBench) -> dict[int, float]:
    framing, options = bench.wordings[0].framing, len(bench.wordings[0].meanings)
    prompts = []
    for concept in bench.choosing[:4]:
        wording = bench.asked(concept, framing, options)[0]
        prompts.append(bench.led(detection(wording, wording.meanings), concept))
    rows = [
        Row(p.tokens, captures=tuple(Capture(str(i), resid_post(i), p.span) for i in bench.layers)) for p in prompts
    ]
    readings = run(bench.anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return {i: float(np.mean([float(r[str(i)].norm(dim=1).mean()) for r in readings])) for i in bench.layers}
