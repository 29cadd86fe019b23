"""Everything that is fixed before a study of belief dominance is run: its facts, its items, and how they are parted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from firsthand.claims.labels.belief import BeliefClaim
from firsthand.engine import Anatomy, LoadedModel, inspect_model
from firsthand.errors import LabelsError
from firsthand.studies.injection.bench import usual_layers
from firsthand.studies.labels.belief.knowing import Screened, commonness, preferences, screen
from firsthand.studies.labels.belief.readings import Item, Target, target_of
from firsthand.studies.labels.belief.records import Fact, Facts, data_hash, in_order
from firsthand.studies.labels.conversations import NAMES, usable_names
from firsthand.trials.randomness import stream

LAYERS = 6
"""How many layers states are read at, unless the claim says."""


@dataclass(frozen=True, eq=False)
class Bench:
    """Everything that is fixed.

    Attributes:
        claim: What is claimed.
        loaded: The model.
        anatomy: Its parts.
        facts: The facts that are used, by record number.
        screened: How they were found.
        layers: Layers that states are read at.
        items: What is asked.
        target: The prompt that states are read with.
        likely_R2: Log-probability of each record's base and counter entity after the sentence alone.
        common_R2: The same after a sentence that says nothing.
    """

    claim: BeliefClaim
    loaded: LoadedModel
    anatomy: Anatomy
    facts: tuple[Fact, ...]
    screened: Screened
    layers: tuple[int, ...]
    items: tuple[Item, ...]
    target: Target
    likely_R2: NDArray[np.float64]
    common_R2: NDArray[np.float64]

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """Names of labels that the tokenizer writes as one token."""
        return usable_names(self.loaded.tokenizer, NAMES["digits"])

    def fold(self, experiment: int) -> frozenset[str]:
        """Subjects that are asked about in an experiment; each is asked about once in every round."""
        return folds_of(self.facts, self.claim, experiment // self.claim.folds)[experiment % self.claim.folds]


def folds_of(facts: Sequence[Fact], claim: BeliefClaim, round_: int) -> list[frozenset[str]]:
    """Subjects, parted at random into folds with about as many records each; no subject is parted."""
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.subject.casefold()] = counts.get(fact.subject.casefold(), 0) + 1
    order = stream("belief", claim.seed, "folds", round_).permutation(sorted(counts)).tolist()
    folds: list[list[str]] = [[] for _ in range(claim.folds)]
    sizes = [0] * claim.folds
    for subject in sorted(order, key=lambda name: -counts[name]):  # stable: at random among equals
        smallest = sizes.index(min(sizes))
        folds[smallest].append(subject)
        sizes[smallest] += counts[subject]
    return [frozenset(fold) for fold in folds]


def items_of(facts: Sequence[Fact], claim: BeliefClaim) -> tuple[Item, ...]:
    """What is asked: every fact in one way, with all ways as often as each other, or in all of them."""
    kinds = claim.kinds
    if claim.per_record == "all":
        pairs = [(record, kind) for record in range(len(facts)) for kind in kinds]
    else:
        turns = stream("belief", claim.seed, "kinds").permutation(np.arange(len(facts)) % len(kinds)).tolist()
        pairs = [(record, kinds[turn]) for record, turn in enumerate(turns)]
    return tuple(Item.of(number, record, kind, facts[record]) for number, (record, kind) in enumerate(pairs))


def prepare(loaded: LoadedModel, facts: Facts, claim: BeliefClaim) -> Bench:
    """Screen the facts, and fix what is asked.

    Raises:
        LabelsError: If the data are not those of the claim, or hold too few facts that can be used.
        EngineError: If a layer is out of range.
        ElicitationError: If the reading prompt has no placeholder of one token.
    """
    if data_hash(facts) != claim.data_sha256:
        raise LabelsError("The data are not those that the claim names.", "Give the same file, or make a new claim.")
    anatomy = inspect_model(loaded.model)
    layers = layers_of(claim, anatomy.n_layers)
    target = target_of(loaded.tokenizer, claim)
    found = screen(loaded, anatomy, facts, in_order(facts, claim.seed), claim.records, claim.known)
    if len(found.numbers) < claim.records:
        what = "usable facts that this model knows" if claim.known else "usable facts"
        raise LabelsError(
            f"Of {found.looked_at:,} facts, {len(found.numbers)} are {what}; {claim.records} are asked for.",
            "Ask for fewer records, or give more facts" + (", or take unknown ones too." if claim.known else "."),
        )
    used = tuple(facts.facts[number] for number in found.numbers)
    entities = [entity for fact in used for entity in (fact.base, fact.counter)]
    return Bench(
        claim,
        loaded,
        anatomy,
        used,
        found,
        layers,
        items_of(used, claim),
        target,
        preferences(loaded, anatomy, used),
        commonness(loaded, anatomy, entities).reshape(-1, 2),
    )


def layers_of(claim: BeliefClaim, depth: int) -> tuple[int, ...]:
    """Layers that states are read at.

    Raises:
        LabelsError: If one is out of range.
    """
    layers = tuple(sorted(claim.layers)) if claim.layers is not None else usual_layers(depth, LAYERS)
    if layers[-1] >= depth:
        raise LabelsError(f"There is no layer {layers[-1]}.", f"Choose layers from 0 to {depth - 1}.")
    return layers
