"""What calls of models used, by stage and role: a ledger, as plain data.

Tokens are counted as providers bill them: ``input`` is what was read anew, and what was written to a cache or read from
one is counted beside it and never twice. (Inspect's ``ModelUsage`` counts so for every provider.)
"""

from collections.abc import Iterable, Sequence
from typing import Annotated

from pydantic import Field

from firsthand.counterfactual.part import Part

Count = Annotated[int, Field(ge=0)]


class Usage(Part):
    """Calls and tokens.

    Attributes:
        calls: Calls that were answered, or failed after they had been charged.
        input: Tokens read that were in no cache.
        output: Tokens generated, reasoning included.
        cache_write: Tokens read and written to a cache.
        cache_read: Tokens read from a cache.
    """

    calls: Count = 0
    input: Count = 0
    output: Count = 0
    cache_write: Count = 0
    cache_read: Count = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_write + self.cache_read

    @property
    def tokens_in(self) -> int:
        """Everything that was read, cached or not."""
        return self.input + self.cache_write + self.cache_read

    def __add__(self, other: "Usage") -> "Usage":
        """Both together."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class Entry(Part):
    """One line of the ledger.

    Attributes:
        stage: Stage of the pipeline, such as ``screen``.
        role: Role of the model, such as ``judge``.
        model: Name of the model, as prices are looked up by: ``provider/name``.
        usage: What was used.
        batch: Whether the calls went through a provider's batch interface.
        billed: Whether anybody charges for them by the token. A model on one's own machine is not billed.
    """

    stage: Annotated[str, Field(min_length=1)]
    role: Annotated[str, Field(min_length=1)]
    model: Annotated[str, Field(min_length=1)]
    usage: Usage
    batch: bool = False
    billed: bool = True


def summed(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """The ledger with one line for each stage, role, model and way of billing, in the order of their first entries."""
    sums: dict[tuple[str, str, str, bool, bool], Usage] = {}
    for entry in entries:
        key = (entry.stage, entry.role, entry.model, entry.batch, entry.billed)
        sums[key] = sums.get(key, Usage()) + entry.usage
    return tuple(
        Entry(stage=stage, role=role, model=model, usage=usage, batch=batch, billed=billed)
        for (stage, role, model, batch, billed), usage in sums.items()
    )


def total(entries: Sequence[Entry]) -> Usage:
    """Everything that was used."""
    return sum((entry.usage for entry in entries), Usage())
