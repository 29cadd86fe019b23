"""What a study of direct and meta judgements costs before it is run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.engine import LoadedModel
from firsthand.studies.labels.direct_meta.judging import judgements, token_count
from firsthand.studies.labels.direct_meta.pairs import Pair
from firsthand.studies.labels.direct_meta.phrasings import Phrasing

MEASURED: Final = 12
"""Pairs that are run to see how fast a machine is."""


@dataclass(frozen=True)
class ModelPrice:
    """The cost of asking one model.

    Attributes:
        model: Its name.
        tokens: Tokens that are run; what prompts begin with in common counts once for a unit of pairs.
        rate: Tokens a second of a measured part.
    """

    model: str
    tokens: int
    rate: float

    @property
    def seconds(self) -> float:
        """Time."""
        return self.tokens / self.rate


def price_of(loaded: LoadedModel, pairs: Sequence[Pair], phrasings: Sequence[Phrasing], at_once: int) -> ModelPrice:
    """Price one model by some of the pairs.

    Args:
        loaded: The model.
        pairs: The pairs.
        phrasings: The ways of asking.
        at_once: Pairs of a unit.

    Raises:
        ElicitationError: If the tokenizer cannot express a string or a label.
        EngineError: If a prompt cannot be rendered or run.
    """
    step = max(1, len(pairs) // MEASURED)
    some = pairs[::step][:MEASURED]
    judgements(loaded, some[:1], phrasings)  # the first pass of a model also sets it up
    begun = time.perf_counter()
    judgements(loaded, some, phrasings)
    rate = token_count(loaded, some, phrasings) / (time.perf_counter() - begun)
    units = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    return ModelPrice(loaded.name, sum(token_count(loaded, unit, phrasings) for unit in units), rate)
