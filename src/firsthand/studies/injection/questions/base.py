"""What the questions have in common."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from firsthand.studies.cells import Cell
from firsthand.studies.injection.trials import Trial
from firsthand.studies.injection.wordings import LabelStyle
from firsthand.vocabulary import Timing


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


def read_at_marks(trial: Trial, read: Cell | None, concepts: Sequence[str] | None = None) -> Trial:
    """A trial whose stream is read at each marked text, along its own concept's vector or along those of others.

    Args:
        trial: The trial.
        read: At whose layer, in whose doses; nothing is read without one.
        concepts: The concepts.
    """
    if read is None:
        return trial
    along = concepts or (trial.concept,)
    return replace(trial, sensors=tuple((span, c) for span in trial.prompt.spans for c in along), reading=read)
