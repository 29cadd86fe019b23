"""Opaque codes, drawn anew for every block.

A reporter that relies on the familiar meaning of an answer word loses it here: within a block a letter stands for a
class, and the next block draws other letters, another mapping and another order of mention.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from numpy.random import Generator

from firsthand.errors import ElicitationError
from firsthand.vocabulary import Capability


@dataclass(frozen=True)
class Codes:
    """The two codes of one capability in one block.

    Attributes:
        zero: Code of class 0 (state zero, "no", "unsure").
        one: Code of class 1 (state one, "yes", "sure").
        one_first: Whether the code of class 1 is mentioned first.
    """

    zero: str
    one: str
    one_first: bool

    @property
    def pair(self) -> tuple[str, str]:
        """Codes by class: index 0 is the code of class 0."""
        return (self.zero, self.one)

    @property
    def order(self) -> tuple[int, int]:
        """Classes in their order of mention."""
        return (1, 0) if self.one_first else (0, 1)


Codebook: TypeAlias = dict[Capability, Codes]


def draw_codebook(letters: Sequence[str], capabilities: Sequence[Capability], parity: int, rng: Generator) -> Codebook:
    """Draw distinct codes for every capability of a block.

    Args:
        letters: The codes to draw from, each valid in the model's context.
        capabilities: What the block asks for.
        parity: Even and odd blocks mention the classes in opposite orders, so that order is balanced over blocks.
        rng: The block's codebook stream.

    Returns:
        A codebook in which no code occurs twice.

    Raises:
        ElicitationError: If there are fewer letters than codes needed.
    """
    needed = 2 * len(capabilities)
    if len(set(letters)) < needed:
        raise ElicitationError(
            f"{needed} distinct codes are needed for {len(capabilities)} capabilities, but only {len(set(letters))} "
            "can be used with this model.",
            "Give more letters in report.code_letters of the claim.",
        )
    drawn = [str(code) for code in rng.permutation(sorted(set(letters)))[:needed]]
    return {
        capability: Codes(zero=drawn[2 * i], one=drawn[2 * i + 1], one_first=(parity + i) % 2 == 1)
        for i, capability in enumerate(capabilities)
    }
