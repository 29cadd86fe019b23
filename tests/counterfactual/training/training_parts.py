"""Questions about made-up words, and quick settings, to train with."""

from pathlib import Path

from firsthand.counterfactual.training.examples import Item, TrainingSet, training_set
from firsthand.counterfactual.training.planting.claims import example_item
from firsthand.counterfactual.training.planting.words import NOUNS, Group
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.progress import Silent

QUICK = TrainSettings(rank=4, alpha=8.0, learning_rate=1e-2, batch=4, dropout=0.2, checkpoint_steps=2, epochs=2)


def items(groups: int = 8) -> list[Item]:
    made = [Group(live=NOUNS[2 * n], dead=NOUNS[2 * n + 1], number=n) for n in range(groups)]
    return [example_item(group, number) for group in made for number in (0, 1)]


def data(groups: int = 8, epochs: int = 2, seed: int = 0) -> TrainingSet:
    return training_set(items(groups), epochs, seed)


class Killed(Exception):  # noqa: N818 - it is no error
    """What a killed run ends in."""


class Killer(Silent):
    """Stops a training after some steps, as if it had been killed."""

    def __init__(self, after: int) -> None:
        self.left = after

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


def adapter(folder: Path) -> Path:
    return folder / "adapter" / "adapter_model.safetensors"
