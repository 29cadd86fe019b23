"""What the questions have in common."""

from dataclasses import dataclass
from typing import TypeAlias

from firsthand.studies.cells import Cell
from firsthand.studies.injection.wordings import LabelStyle
from firsthand.vocabulary import Timing

Fits: TypeAlias = dict[Cell, tuple[float, bool]]
"""The content-free direction's strength in each cell, and whether its impact is the target's there."""


@dataclass(frozen=True)
class Setting:
    """How a question is put.

    Attributes:
        framing: Framing of the wordings.
        options: Number of answers of the injection question.
        timing: When the vector is added.
        labels: What the answers are labelled with.
        other_recipe: Whether the vector is made by the recipe that the claim does not name.
    """

    framing: str = "instruction"
    options: int = 2
    timing: Timing = Timing.PREFILL
    labels: LabelStyle = "digits"
    other_recipe: bool = False
