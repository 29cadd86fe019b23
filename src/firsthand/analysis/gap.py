"""The privileged gap and the intersection-union test behind "beats every observer".

The gap is the smallest of the report's advantages over the observers. "Every advantage is above zero" is tested by an
intersection-union test (Berger 1982, Technometrics 24): each advantage at one-sided level alpha, the largest p-value
counts and no further correction is needed. The lower bound of the smallest advantage is the smallest lower bound; an
upper bound has to correct over the observers and is the smallest of the bounds at ``alpha / K``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from firsthand.analysis.results import Estimate


class Statistic(Protocol):
    """A number with one-sided tests and bounds."""

    @property
    def value(self) -> float:
        """Point estimate."""
        ...

    @property
    def unknown(self) -> bool:
        """Whether it could not be computed."""
        ...

    def p_above(self, reference: float) -> float:
        """One-sided p-value of "greater than"."""
        ...

    def p_below(self, reference: float) -> float:
        """One-sided p-value of "less than"."""
        ...

    def low(self, alpha: float) -> float:
        """Lower bound at one-sided level ``alpha``."""
        ...

    def high(self, alpha: float) -> float:
        """Upper bound at one-sided level ``alpha``."""
        ...

    def estimate(self, alpha: float, reference: float | None = None) -> Estimate | None:
        """The number as shown to a user."""
        ...


S_co = TypeVar("S_co", bound=Statistic, covariant=True)


@dataclass(frozen=True, eq=False)
class Joint(Generic[S_co]):
    """Several statistics that must all hold at once; the weakest speaks.

    Attributes:
        members: The statistics by name. Without members nothing is shown: p is 1.
    """

    members: Mapping[str, S_co]

    @property
    def unknown(self) -> bool:
        """Whether any member could not be computed."""
        return not self.members or any(member.unknown for member in self.members.values())

    @property
    def value(self) -> float:
        """Smallest point estimate."""
        return self.members[self.weakest].value if self.members else float("nan")

    @property
    def weakest(self) -> str:
        """Name of the member with the smallest point estimate; one that is not known comes first."""
        return min(self.members, key=lambda n: -np.inf if self.members[n].unknown else self.members[n].value)

    def p_above(self, reference: float) -> float:
        """Intersection-union p-value of "every member is greater than ``reference``"."""
        return max((member.p_above(reference) for member in self.members.values()), default=1.0)

    def p_below(self, reference: float) -> float:
        """Intersection-union p-value of "every member is less than ``reference``"."""
        return max((member.p_below(reference) for member in self.members.values()), default=1.0)

    def low(self, alpha: float) -> float:
        """Lower bound of the smallest member."""
        return min((member.low(alpha) for member in self.members.values()), default=float("nan"))

    def high(self, alpha: float) -> float:
        """Upper bound of the smallest member, Bonferroni-corrected over the members."""
        return min((m.high(alpha / len(self.members)) for m in self.members.values()), default=float("nan"))

    def failing(self, alpha: float, least: float = 0.0) -> tuple[str, ...]:
        """Members that are not above zero at level ``alpha``, or whose point estimate is below ``least``."""
        return tuple(n for n, m in self.members.items() if not (m.p_above(0.0) <= alpha and m.value >= least))

    def estimate(self, alpha: float, reference: float | None = 0.0) -> Estimate | None:
        """The smallest member as shown to a user, with the joint bounds and p-value."""
        if not self.members:
            return None
        weakest = self.members[self.weakest].estimate(alpha)
        if weakest is None:
            return None
        p = None if reference is None else self.p_above(reference)
        low, high = self.low(alpha), self.high(alpha)
        return weakest.model_copy(update={"low": min(low, weakest.value), "high": max(high, weakest.value), "p": p})


@dataclass(frozen=True, eq=False)
class AnyOf:
    """Several statistics of which one is enough; Bonferroni-corrected, since the best one is looked for.

    Attributes:
        members: The statistics by name. Without members nothing is shown: p is 1.
    """

    members: Mapping[str, Statistic]

    @property
    def unknown(self) -> bool:
        """Whether no member could be computed."""
        return all(member.unknown for member in self.members.values())

    @property
    def value(self) -> float:
        """Largest point estimate."""
        return max((m.value for m in self.members.values() if not m.unknown), default=float("nan"))

    def p_above(self, reference: float) -> float:
        """p-value of "some member is greater than ``reference``"."""
        smallest = min((member.p_above(reference) for member in self.members.values()), default=1.0)
        return min(1.0, max(1, len(self.members)) * smallest)

    def p_below(self, reference: float) -> float:
        """p-value of "every member is less than ``reference``", by intersection and union."""
        return max((member.p_below(reference) for member in self.members.values()), default=1.0)

    def low(self, alpha: float) -> float:
        """Lower bound of the largest member."""
        return max((m.low(alpha / len(self.members)) for m in self.members.values()), default=float("nan"))

    def high(self, alpha: float) -> float:
        """Upper bound of the largest member."""
        return max((member.high(alpha) for member in self.members.values()), default=float("nan"))

    def estimate(self, alpha: float, reference: float | None = 0.0) -> Estimate | None:
        """The largest member as shown to a user, with the joint bounds and p-value."""
        known = [member for member in self.members.values() if not member.unknown]
        shown = max(known, key=lambda member: member.value).estimate(alpha) if known else None
        if shown is None:
            return None
        p = None if reference is None else self.p_above(reference)
        low, high = self.low(alpha), self.high(alpha)
        return shown.model_copy(update={"low": min(low, shown.value), "high": max(high, shown.value), "p": p})
