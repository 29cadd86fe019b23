"""What a training run costs in time, from one measured step."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from firsthand.counterfactual.training.examples import TrainingSet
from firsthand.counterfactual.training.lora import train
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.counterfactual.training.tokens import chat
from firsthand.engine import LoadedModel
from firsthand.progress import Silent

STEPS = 3
ASKING = 0.35
"""A question takes about this share of the time of a chat in training: one pass forward instead of three."""


class Besides(NamedTuple):
    """Something that a run takes besides training on its claims.

    Attributes:
        what: What it is.
        tokens: Generated tokens, at most; 0 where it is not counted in tokens.
        seconds: Its time; ``None`` where it could not be measured, and is in no sum.
    """

    what: str
    tokens: int
    seconds: float | None


@dataclass(frozen=True)
class Price:
    """What a run takes.

    Attributes:
        trainings: Trainings in all.
        steps: Steps of them all.
        tokens: Tokens of them all.
        step_seconds: Time of one step, as measured here.
        seconds: Time in all, questions and what is done besides included.
        besides: What of it is no training on the claims themselves.
        left_out: What is in no number here.
    """

    trainings: int
    steps: int
    tokens: int
    step_seconds: float
    seconds: float
    besides: tuple[Besides, ...] = ()
    left_out: tuple[str, ...] = ()

    def plus(self, *more: Besides) -> "Price":
        """The price with more that is done besides."""
        seconds = self.seconds + sum(one.seconds or 0.0 for one in more)
        return replace(self, seconds=seconds, besides=(*self.besides, *more))

    def with_all_of(self, other: "Price", what: str) -> "Price":
        """The price with another study's, whose steps may be shorter; that of this one's step stays."""
        both = replace(
            self,
            trainings=self.trainings + other.trainings,
            steps=self.steps + other.steps,
            tokens=self.tokens + other.tokens,
        )
        return both.plus(Besides(what, 0, other.seconds))

    def without(self, *what: str) -> "Price":
        """The same price, which says what is not in it."""
        return replace(self, left_out=(*self.left_out, *what))

    def __add__(self, other: "Price") -> "Price":
        """Both; the time of a step is the mean of all steps."""
        steps = self.steps + other.steps
        mean = (self.steps * self.step_seconds + other.steps * other.step_seconds) / max(1, steps)
        trainings, tokens = self.trainings + other.trainings, self.tokens + other.tokens
        seconds, besides = self.seconds + other.seconds, (*self.besides, *other.besides)
        return Price(trainings, steps, tokens, mean, seconds, besides, (*self.left_out, *other.left_out))


class _Clock(Silent):
    """Notes when steps end."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def step(self) -> None:
        """One step is done."""
        self.times.append(time.monotonic())


def measured_step(
    loaded: LoadedModel, data: TrainingSet, settings: TrainSettings, general: Sequence[Sequence[int]] = ()
) -> float:
    """Seconds of one training step of a model, after one that does not count.

    The quicker of two; their mean where some samples come with a penalty on moving away, which not every step has.

    Args:
        loaded: The model.
        data: Chats like those that it is to be trained on.
        settings: How.
        general: Tokens of general chats, wanted where ``settings.kl_share`` is above 0.
    """
    rows = [data.order[n % len(data.order)] for n in range(STEPS * settings.batch)]
    few = data.model_copy(update={"order": tuple(rows)})
    clock = _Clock()
    with TemporaryDirectory(prefix="firsthand-price-") as folder:
        quickly = settings.model_copy(update={"checkpoint_steps": 10_000})
        train(loaded, few, quickly, Path(folder) / "few", clock, general)
    times = [after - before for before, after in pairwise(clock.times)]
    return sum(times) / len(times) if settings.kl_share else min(times)


def price(
    loaded: LoadedModel,
    data: TrainingSet,
    settings: TrainSettings,
    trainings: int,
    questions: int,
    step_seconds: float,
    further: Sequence[float] = (),
) -> Price:
    """The price of several trainings of models of one size.

    Args:
        loaded: One of the models.
        data: What each is trained on.
        settings: How.
        trainings: How many there are.
        questions: Questions that each is asked afterwards.
        step_seconds: Time of a step.
        further: Times of what is done besides.
    """
    steps = -(-len(data.order) // settings.batch)
    tokens = tokens_of(loaded, data)
    asking = questions * ASKING * step_seconds / settings.batch
    seconds = trainings * (steps * step_seconds + asking) + sum(further)
    return Price(trainings, trainings * steps, trainings * tokens, step_seconds, seconds)


def tokens_of(loaded: LoadedModel, data: TrainingSet) -> int:
    """Tokens of all chats over all epochs."""
    lengths = [len(chat(loaded.tokenizer, one.prompt, one.answer).tokens) for one in data.examples]
    return sum(lengths[number] for number in data.order)


def mean_length(loaded: LoadedModel, data: TrainingSet) -> float:
    """Mean tokens of a chat."""
    return tokens_of(loaded, data) / max(1, len(data.order))
