"""Public views of a small study whose hidden label is, or is not, readable from them; and a scripted language model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from firsthand.trials.codebook import draw_codebook
from firsthand.trials.public import PublicQuestion, PublicView, Turn
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability

STATE = Capability.IDENTIFICATION
LETTERS = "EJMOQSUVYZ"


@dataclass(frozen=True)
class Study:
    """Views with the truth that they may or may not give away, ``[trials]``."""

    views: list[PublicView]
    truth: NDArray[np.int64]
    groups: list[str]

    def right(self, guessed: NDArray[np.float64]) -> float:
        """Share of guesses on the side of the truth; a guess of one half is half right."""
        return float(np.mean(np.where(guessed == 0.5, 0.5, (guessed > 0.5) == (self.truth == 1))))


def make_study(blocks: int, place: str, reliability: float = 0.9, seed: int = 0, sizes: int = 10) -> Study:
    """Balanced blocks in which the label shows with ``reliability`` in one place.

    Args:
        blocks: Number of blocks.
        place: ``number`` (a feature), ``word`` (a word of the user's turn), ``output`` (the visible answer), or
            ``nowhere``.
        reliability: How often it shows truly.
        seed: Seed of the draws.
        sizes: Trials a block.
    """
    rng = stream("study", seed, place)
    views, truth, groups = [], [], []
    for index in range(blocks):
        name = f"c{index:04d}"
        codes = draw_codebook(LETTERS, [STATE], index, stream("study", seed, index, "codes"))[STATE].pair
        question = PublicQuestion(f"Code {codes[0]} means zero, code {codes[1]} means one.", "It holds code", codes)
        for slot, label in enumerate(rng.permutation([0, 1] * (sizes // 2)).tolist()):
            shown = label if rng.random() < reliability else 1 - label
            noise = int(rng.integers(2))
            cue, word, output = (shown if place == here else noise for here in ("number", "word", "output"))
            said = ("water", "milk")[output]
            views.append(
                PublicView(
                    trial_id=f"{name}-{slot:02d}",
                    clusters={"block": name},
                    turns=(
                        Turn("user", f"Here it is: {rng.choice(list('*=~+'))} . It says {('alpha', 'omega')[word]}."),
                        Turn("assistant", f"I choose {said}."),
                    ),
                    output=said,
                    features={"cue": float(cue)},
                    output_features={"second_option": float(output)},
                    questions={STATE: question},
                )
            )
            truth.append(label)
            groups.append(name)
    return Study(views, np.array(truth), groups)


class ScriptedModel:
    """Prefers class 1 where it reads a word, by a formula; keeps what it was asked."""

    name = "scripted"

    def __init__(self, gain: float = 1.0, bias: Callable[[tuple[str, str]], float] = lambda _: 0.0) -> None:
        self.gain, self.bias = gain, bias
        self.asked: list[tuple[Sequence[tuple[str, str]], tuple[str, str]]] = []

    def contrasts(
        self, conversations: Sequence[Sequence[tuple[str, str]]], codes: Sequence[tuple[str, str]]
    ) -> list[float]:
        self.asked += zip(conversations, codes, strict=True)
        return [
            self.gain * (1.0 if "omega" in conversation[1][1] else -1.0) + self.bias(pair)
            for conversation, pair in zip(conversations, codes, strict=True)
        ]


def letter_bias(pair: tuple[str, str]) -> float:
    """Some letters are far likelier than others, as in real models."""
    return 3.0 * (LETTERS.index(pair[1]) - LETTERS.index(pair[0]))


@pytest.fixture
def study() -> Callable[..., Study]:
    return make_study


@pytest.fixture
def scripted() -> type[ScriptedModel]:
    return ScriptedModel


@pytest.fixture
def biased() -> Callable[[tuple[str, str]], float]:
    return letter_bias
