"""How often a behaviour occurs in a batch, invalid responses kept apart."""

from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator
from scipy.stats import binomtest

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.part import Part


class Rate(Part):
    """Counts of a batch.

    Attributes:
        yes: Responses with the behaviour.
        no: Responses without it.
        invalid: Responses of which neither can be said.
    """

    yes: Annotated[int, Field(ge=0)]
    no: Annotated[int, Field(ge=0)]
    invalid: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if not self.yes + self.no + self.invalid:
            raise ValueError("a batch holds at least one response")
        return self

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> "Rate":
        """The counts of some verdicts."""
        given = list(verdicts)
        return cls(**{one.value: given.count(one) for one in Verdict})

    @property
    def valid(self) -> int:
        """Responses that were judged."""
        return self.yes + self.no

    @property
    def responses(self) -> int:
        """All responses."""
        return self.valid + self.invalid

    @property
    def share(self) -> float | None:
        """Share of the valid responses that have the behaviour; ``None`` if none is valid."""
        return self.yes / self.valid if self.valid else None

    @property
    def bounds(self) -> tuple[float, float]:
        """The share if no invalid response had the behaviour, and if each of them had."""
        return self.yes / self.responses, (self.yes + self.invalid) / self.responses

    @property
    def completed(self) -> tuple["Rate", ...]:
        """The counts if no invalid response had the behaviour, and if each of them had; once where there is none."""
        if not self.invalid:
            return (self,)
        return Rate(yes=self.yes, no=self.no + self.invalid), Rate(yes=self.yes + self.invalid, no=self.no)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Wilson's interval of the share; the whole range if nothing is valid (Wilson 1927)."""
        if not self.valid:
            return 0.0, 1.0
        found = binomtest(self.yes, self.valid).proportion_ci(level, method="wilson")
        return float(found.low), float(found.high)

    def __add__(self, other: "Rate") -> "Rate":
        """The counts of two batches together."""
        return Rate(yes=self.yes + other.yes, no=self.no + other.no, invalid=self.invalid + other.invalid)
