"""A whole run on open explanations: train, let everybody explain, let simulators read; and what that would take."""

import time
from pathlib import Path
from typing import NamedTuple

from firsthand.analysis.self_cross import SelfCrossSpec
from firsthand.counterfactual.explaining.simulatability import ARMS
from firsthand.counterfactual.predicting.predictions import Predictor
from firsthand.counterfactual.responses import Request
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.local_predictor import LocalPredictor
from firsthand.counterfactual.training.concluding import training_row
from firsthand.counterfactual.training.experiment import Contender
from firsthand.counterfactual.training.explanations.cases import Divided, Found, showing
from firsthand.counterfactual.training.explanations.concluding import (
    HELD_OUT,
    TRAIN,
    Counts,
    Scores,
    Simulator,
    scores,
)
from firsthand.counterfactual.training.explanations.scoring import as_told
from firsthand.counterfactual.training.explanations.writing import BATCH, data_sets, drawing, general_of, made_by
from firsthand.counterfactual.training.folders import write_claims
from firsthand.counterfactual.training.pricing import Price, measured_step, price
from firsthand.counterfactual.training.rejudging import slug
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

PROBE = 8
"""Tokens that are generated to measure how long an explanation takes."""


class Plan(NamedTuple):
    """What is to be done.

    Attributes:
        found: What the run of investigations holds.
        parts: The same, parted.
        target: The target.
        cross: Models that are trained on the same.
        simulators: Who reads.
        settings: How models are trained.
        seeds: Seeds of the trainings.
        longest: Most tokens of an explanation.
    """

    found: Found
    parts: Divided
    target: LoadedModel
    cross: tuple[LoadedModel, ...]
    simulators: tuple[Predictor, ...]
    settings: TrainSettings
    seeds: tuple[int, ...]
    longest: int

    @property
    def contenders(self) -> tuple[Contender, ...]:
        """Who is trained, the target first."""
        own = Contender(self.target, self.target.name, "self")
        return own, *(Contender(one, one.name, "cross") for one in self.cross)


def simulator_of(loaded: LoadedModel) -> LocalPredictor:
    """A model as a reader: it is shown the transcript as a document, whoever spoke in it."""
    return LocalPredictor(loaded, "observer")


def checked(plan: Plan) -> None:
    """See that everybody can be told apart by name.

    Raises:
        CounterfactualError: If two of those that are trained, or two simulators, have one name.
    """
    for what, names in (
        ("models", [slug(one.name) for one in plan.contenders]),
        ("simulators", [slug(one.name) for one in plan.simulators]),
    ):
        if len(set(names)) < len(names):
            raise CounterfactualError(f"Two {what} have the name {max(names, key=names.count)}.", "Name each once.")


def explained(plan: Plan, folder: Path, progress: Progress, notes: tuple[str, ...] = ()) -> Scores:
    """Train everybody, let them explain, and score it; what is finished in the folder is taken from it.

    Args:
        plan: What is to be done.
        folder: The run's folder.
        progress: Who is told.
        notes: What else a reader should know.
    """
    parts = plan.parts
    for name, claims in ((TRAIN, parts.train_claims), (HELD_OUT, parts.claims)):
        if claims:
            write_claims(folder / "claims" / f"{name}.jsonl", claims)
    cases = (parts.train, parts.held_out)
    made = made_by(cases, plan.contenders, plan.settings, plan.seeds, plan.longest, folder, progress)
    data = made.data[plan.seeds[0]]
    counts = Counts(
        about=plan.target.name,
        investigations=plan.found.investigations,
        trained_on=len(data.examples),
        train_units=len({parts.units[one.id] for one in data.examples}),
        left_out=plan.found.left_out,
        dropped=data.dropped,
        claims_left_out=parts.left_out,
        longest=plan.longest,
    )
    rows = tuple(training_row(one) for one in made.trainings)
    with Store(folder) as store:
        reading = [Simulator(one, store, progress) for one in plan.simulators]
        return scores(folder, reading, rows, counts, SelfCrossSpec(), notes)


def priced(plan: Plan) -> Price:
    """What a run would take here: one step, some generated tokens and some answers are measured."""
    parts, settings = plan.parts, plan.settings
    data = data_sets(parts.train, plan.contenders, settings, plan.seeds[:1])[plan.seeds[0]]
    step = measured_step(plan.target, data, settings, general_of(plan.target, parts.train, data, settings))
    trainings = len(plan.contenders) * len(plan.seeds)
    writing = (1 + trainings) * len(parts.held_out) * plan.longest * _token_seconds(plan)
    reading = sum(_reading_seconds(one, plan) for one in plan.simulators)
    return price(plan.target, data, settings, trainings, 0, step, (writing, reading))


def _token_seconds(plan: Plan) -> float:
    """Seconds that one token of a held-out explanation takes: all are written side by side, to their longest."""
    target = LocalTarget(plan.target, drawing(PROBE))
    requests = [Request(prompt=one.example.prompt, batch=BATCH, samples=1) for one in plan.parts.held_out[:PROBE]]
    begun = time.monotonic()
    target.respond(requests)
    return (time.monotonic() - begun) / (PROBE * len(requests))


def _reading_seconds(simulator: Predictor, plan: Plan) -> float:
    """Seconds that a simulator takes for all arms of all writers; of one that does not tell its price, none."""
    if not isinstance(simulator, LocalPredictor):
        return 0.0
    texts = {one.id: one.example.answer for one in plan.parts.held_out}
    tokens, speed = simulator.price(
        [
            as_told(one, said, texts[one.investigation])
            for one in plan.parts.claims
            if (said := showing(one)) is not None
        ]
    )
    writers = 1 + len(plan.contenders) * len(plan.seeds)
    told = writers * (len(ARMS) - 1) + 1  # the transcript alone is asked once
    return 0.0 if not speed else told * tokens / speed
