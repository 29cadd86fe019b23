"""Questions about made-up words, and quick settings, to train with."""

import json
from collections.abc import Sequence
from pathlib import Path

from safetensors.torch import load_file, save_file

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response
from firsthand.counterfactual.rows import row_of
from firsthand.counterfactual.training.examples import Item, TrainingSet, training_set
from firsthand.counterfactual.training.planting.claims import example_item
from firsthand.counterfactual.training.planting.rules import (
    BEHAVIOUR,
    DEAD,
    LIVE,
    both,
    edit_of,
    intervention,
    prompt_of,
)
from firsthand.counterfactual.training.planting.words import NOUNS, Group
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.progress import Silent

QUICK = TrainSettings(rank=4, alpha=8.0, learning_rate=1e-2, batch=4, dropout=0.2, checkpoint_steps=2, epochs=2)


def items(groups: int = 8) -> list[Item]:
    made = [Group(live=NOUNS[2 * n], dead=NOUNS[2 * n + 1], number=n) for n in range(groups)]
    return [example_item(group, number) for group in made for number in (0, 1)]


def data(groups: int = 8, epochs: int = 2, seed: int = 0) -> TrainingSet:
    return training_set(items(groups), epochs, seed)


def claim(label: bool) -> Claim:
    group = Group(live=NOUNS[0], dead=NOUNS[1], number=0)
    words = both("private", group)
    return Claim(
        investigation="i",
        target="t",
        prompt=prompt_of(words, "w"),
        edit=edit_of(words, words[0]),
        experiment=1,
        behaviour=BEHAVIOUR,
        baseline=Rate(yes=10, no=0),
        rate=Rate(yes=0 if label else 10, no=10 if label else 0),
        intervention=intervention(words[0]),
        label=label,
    )


def claims_of(target: str, groups: int = 8) -> list[Claim]:
    """Claims about a target, two of each group, of which one is true."""
    found = []
    for n in range(groups):
        group = Group(live=NOUNS[2 * n], dead=NOUNS[2 * n + 1], number=n)
        words = both("private", group)
        for number, word in enumerate(words):
            prompt = prompt_of(words, group.name)
            found.append(
                claim(number == 0).model_copy(
                    update={
                        "investigation": f"planted {prompt.id}",
                        "target": target,
                        "prompt": prompt,
                        "edit": edit_of(words, word),
                        "experiment": number + 1,
                        "intervention": intervention(word),
                        "cluster": group.name,
                    }
                )
            )
    return found


def written(path: Path, claims: list[Claim], response: str = "plover") -> Path:
    """The claims in a file, as exported, with a response beside each."""
    rows = ({**row_of(one), "responses": [{"text": response, "ended": "stop"}]} for one in claims)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


class Following:
    """A target without any weights: it names the bird of the rule where one of these words is listed."""

    identity = "following"

    def __init__(self, *words: str) -> None:
        self.words = words

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        found = []
        for one in requests:
            listed = one.prompt.turns[-1].content.split()
            said = LIVE if any(word in self.words for word in listed) else DEAD
            found.append([Response(text=said)] * one.samples)
        return found


def kin_of(folder: Path, at: Path) -> Path:
    """A model of the same build with other weights."""
    kin = at / "kin"
    kin.mkdir(parents=True)
    for path in folder.iterdir():
        (kin / path.name).write_bytes(path.read_bytes())
    weights = load_file(kin / "model.safetensors")
    save_file({name: one * 1.01 for name, one in weights.items()}, kin / "model.safetensors", {"format": "pt"})
    return kin


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
