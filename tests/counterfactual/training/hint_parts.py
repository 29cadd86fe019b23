"""A small exam, and a target of known behaviour in place of the probabilities of a model."""

import re
from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.hints.exact import Choice, Chosen
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.training.hint_plan import HintPlan
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel

PLAN = HintPlan(
    questions=60,
    most=24,
    least=12,
    training=TrainSettings(rank=2, alpha=4.0, learning_rate=1e-2, batch=4, max_tokens=2000, checkpoint_steps=50),
)
_CUE = re.compile(r"convinced that it is \((\w)\)")


def exam_folder(at: Path, questions: int = 64) -> Path:
    """Questions in MMLU's layout."""
    folder = at / "exam"
    folder.mkdir()
    rows = [f"Which tree is number {n}?,oak {n},elm {n},ash {n},fir {n},{'ABCD'[n % 4]}" for n in range(questions)]
    (folder / "trees_test.csv").write_text("\n".join(rows))
    return folder


class Stopped(Exception):  # noqa: N818 - it is no error
    """What a stopped run ends in."""


class Scripted:
    """Follows cues in questions of an even number, and gives (A) else.

    Args:
        loaded: The model that it stands for.
        sampling: How it would be drawn from.
    """

    read = 0
    stops_at: int | None = None
    follows = True

    def __init__(self, loaded: LoadedModel, sampling: Sampling) -> None:
        self.identity = self.read_identity = f"scripted {loaded.weights_sha256}"

    def choices(self, wanted: Sequence[Choice]) -> list[Chosen]:
        if Scripted.stops_at is not None and Scripted.read >= Scripted.stops_at:
            raise Stopped
        Scripted.read += len(wanted)
        return [
            Chosen(probabilities=tuple(0.9 if n == self._best(one.prompt) else 0.03 for n in range(4)))
            for one in wanted
        ]

    @staticmethod
    def _best(prompt: Prompt) -> int:
        asked = prompt.turns[-1].content
        cue, number = _CUE.search(asked), re.search(r"number (\d+)\?", asked)
        assert number is not None
        return "ABCD".index(cue[1]) if cue and Scripted.follows and int(number[1]) % 2 == 0 else 0
