"""What an observer is: something that guesses the truth from public evidence alone.

An observer gets :class:`~firsthand.trials.public.PublicView` objects, which have no field for the private state, the
kind of trial or the edit. It may be fitted on *other* blocks' truth (cross-fitting, see
:mod:`firsthand.observers.scoring`), as an outsider who has watched the system before could be. Add one of your own by
writing a class with this one method and naming it as ``package.module:Class``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

Message: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Past:
    """Trials of other blocks with their truth, from which an observer may learn."""

    views: Sequence[PublicView]
    truth: NDArray[np.int64]


@runtime_checkable
class Observer(Protocol):
    """Guesses a two-way truth from public evidence.

    A class named as ``package.module:Class`` is made anew for every fold, so that nothing learned from a block is left
    when that block is judged. Whatever is slow to make (a model) belongs into the module, not into the constructor.
    """

    name: str

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """Probability that the truth is 1, one a view.

        Args:
            capability: What is to be guessed: the post-state, whether it was changed, whether the report is right.
            past: Trials of other blocks with their truth.
            views: The trials to be judged.

        Returns:
            Probabilities, ``[trials]``.
        """
        ...


class TextModel(Protocol):
    """A language model that can only be asked: text in, preference between two codes out. It cannot be edited."""

    name: str

    def contrasts(self, conversations: Sequence[Sequence[Message]], codes: Sequence[tuple[str, str]]) -> list[float]:
        """Log P(code of class 1) - log P(code of class 0) after each conversation's open assistant turn."""
        ...
