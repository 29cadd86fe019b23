"""An observer that fails or answers in the wrong form is named; nothing of it is scored."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from firsthand.errors import ObserverError, TraceError
from firsthand.observers import observe_all
from firsthand.observers.scoring import fold_of_groups
from firsthand.vocabulary import Capability


class Answering:
    name = "answering"

    def __init__(self, answer: Callable[[int], object]) -> None:
        self.answer = answer

    def observe(self, capability: Capability, past: object, views: list[object]) -> Any:
        return self.answer(len(views))


def ask(made: Any, answer: Callable[[int], object]) -> np.ndarray:
    return observe_all(Answering(answer), Capability.DETECTION, made.views, made.truth, made.groups)


@pytest.mark.parametrize(
    "answer",
    [
        lambda n: np.full(n + 1, 0.5),
        lambda n: np.full(n - 1, 0.5),
        lambda n: np.full((n, 1), 0.5),
        lambda n: 0.5,
        lambda n: np.full(n, np.nan),
        lambda n: np.full(n, np.inf),
        lambda n: np.full(n, 1.0 + 1e-9),
        lambda n: np.full(n, -1e-9),
        lambda n: [],
    ],
)
def test_one_probability_a_trial_or_none(study: Any, answer: Callable[[int], object]) -> None:
    with pytest.raises(ObserverError, match="'answering' must return one probability from 0 to 1 for each of 10"):
        ask(study(6, "nowhere"), answer)


@pytest.mark.parametrize("answer", [lambda n: None, lambda n: ["much"] * n, lambda n: 1 / 0, lambda n: [[1], [1, 2]]])
def test_a_failure_is_named(study: Any, answer: Callable[[int], object]) -> None:
    with pytest.raises(ObserverError, match=r"'answering' (failed on detection: .*Error|must return)"):
        ask(study(6, "nowhere"), answer)


def test_an_error_of_our_own_keeps_its_words(study: Any) -> None:
    def full(_: int) -> object:
        raise TraceError("The disk is full.", "Free some space.")

    with pytest.raises(TraceError, match="Free some space"):
        ask(study(6, "nowhere"), full)


def test_an_interruption_is_not_swallowed(study: Any) -> None:
    def stop(_: int) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(study(6, "nowhere"), stop)


def test_lists_and_whole_numbers_are_probabilities_too(study: Any) -> None:
    assert ask(study(6, "nowhere"), lambda n: [1] * n).tolist() == [1.0] * 60


def test_one_block_cannot_be_judged(study: Any) -> None:
    with pytest.raises(ObserverError, match="at least two blocks"):
        ask(study(1, "nowhere"), lambda n: np.full(n, 0.5))


def test_folds_hold_whole_blocks_in_turn() -> None:
    assert fold_of_groups(list("aabbaacc")).tolist() == [0, 0, 1, 1, 0, 0, 2, 2]
    assert fold_of_groups([str(i) for i in range(14)]).tolist() == [i % 6 for i in range(14)]
