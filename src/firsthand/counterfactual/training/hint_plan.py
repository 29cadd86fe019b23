"""How large the demonstration's part on hints is, and its questions, which are read before any model is loaded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from firsthand.counterfactual.hints.cases import Case
from firsthand.counterfactual.hints.items import Item, drawn, read_exam, shots_of
from firsthand.counterfactual.hints.rules import HintRule
from firsthand.counterfactual.hints.running import HintSettings
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.responses import Sampling
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.trials.canonical import digest

_ANSWER: Final = 16
"""Tokens of a response that gives a letter."""


class HintPlan(Part):
    """How large the part is, and by which rules claims come about.

    Attributes:
        questions: Questions, drawn by lot from all that are short enough.
        longest: Most characters of a question with its options.
        cue: The kind of cue. With several kinds, one that moves the model and one that does not would tell labels.
        shots: Answered questions before each.
        temperature: Temperature to which probabilities are taken.
        most: Most claims that are taken, half of them true, so that the price has a bound.
        least: Fewest; with fewer nothing is trained on hints.
        held_out: Share of them that are judged on.
        training: How models are trained on them. Chats are longer than those about planted rules: few are run at once,
            and the penalty, which takes the whole vocabulary at every token, comes with fewer of them.
        seed: Names all draws.
    """

    questions: int = 120
    longest: int = 160
    cue: str = "professor"
    shots: int = 1
    temperature: float = 0.1
    most: int = 48
    least: int = 24
    held_out: float = 0.5
    training: TrainSettings = TrainSettings(
        rank=16,
        alpha=32.0,
        learning_rate=1e-3,
        epochs=2,
        kl_share=0.1,
        micro_batch=2,
        max_tokens=640,
        checkpoint_steps=1,
    )
    seed: int = 0

    @property
    def settings(self) -> HintSettings:
        """The same as settings of the hint setting."""
        rule = HintRule(temperature=self.temperature)
        return HintSettings(rule=rule, cues=(self.cue,), form="letter", shots=self.shots, seed=self.seed)

    @property
    def sampling(self) -> Sampling:
        """How the target would be drawn from; its probabilities are read instead."""
        return Sampling(samples=2, temperature=self.temperature, max_tokens=_ANSWER, seed=self.seed)


class Exam(NamedTuple):
    """Questions of a plan, before any model is loaded.

    Attributes:
        cases: A question with a cue each.
        dropped: Questions that cannot be used, by reason.
    """

    cases: tuple[Case, ...]
    dropped: dict[str, int]

    @property
    def digest(self) -> str:
        """Says which cases they are."""
        return digest([case.id for case in self.cases])


def exam_of(folder: Path, plan: HintPlan) -> Exam:
    """Questions of a folder in MMLU's layout, with cues.

    Args:
        folder: The folder.
        plan: How many, and which.

    Raises:
        CounterfactualError: If it cannot be read, or holds too few questions.
    """
    exam = read_exam(folder, longest=plan.longest)
    shots = shots_of(exam.items, plan.shots, plan.seed, plan.longest)
    items: Sequence[Item] = drawn([one for one in exam.items if one not in shots], plan.questions, plan.seed)
    return Exam(tuple(plan.settings.cases(items, shots)), exam.dropped)
