"""Exact probabilities of options instead of samples, for targets that can give them.

A target may have a method ``choices``: the probability with which it continues a begun answer with each of some
options, of everything that it could have said. What they leave of 1 is invalid, and a case whose options hold too
little of it is not used. Rates are then shares of a thousand, and claims say that they are exact.

Probabilities are read at temperature 1. At a lower one they follow from these but for what is no option: of that only
a bound is known, and all of it counts as invalid, so that no label rests on the difference.
"""

from collections.abc import Sequence
from typing import Annotated, Final, Protocol, runtime_checkable

from pydantic import Field

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Target
from firsthand.counterfactual.store import Store
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress
from firsthand.trials.canonical import digest

PARTS: Final = 1000
"""Of how many parts an exact rate consists."""

CHOICE: Final = "hint choice"
"""Kind under which probabilities are kept."""

_AT_ONCE: Final = 16


class Chosen(Part):
    """What a target gives each option.

    Attributes:
        probabilities: Probability of each option, of everything that could have been said.
        why: Why there is none, if the prompt could not be given.
    """

    probabilities: tuple[Annotated[float, Field(ge=0.0, le=1.0 + 1e-6)], ...]
    why: str = ""

    @property
    def coverage(self) -> float:
        """Probability of all options together."""
        return min(1.0, sum(self.probabilities))

    @property
    def best(self) -> int | None:
        """The option that is likeliest; ``None`` where none holds anything."""
        return max(range(len(self.probabilities)), key=self.probabilities.__getitem__) if self.coverage > 0 else None

    def at(self, temperature: float) -> "Chosen":
        """The probabilities at a temperature of at most 1, with the most that everything else can have as invalid.

        With ``a = 1 / temperature``, an option of probability p weighs ``p ** a``; everything else together weighs at
        most ``rest ** a``, since the a-th powers of several numbers add up to at most that of their sum.

        Args:
            temperature: Above 0, and at most 1.

        Raises:
            CounterfactualError: If it is not.
        """
        if not 0.0 < temperature <= 1.0:
            raise CounterfactualError(f"A temperature of {temperature:g} has no bound.", "Use one of at most 1.")
        if temperature == 1.0 or not self.coverage:
            return self
        largest = max(*self.probabilities, 1.0 - self.coverage)  # so that no power is too small to be written
        weights = [(one / largest) ** (1.0 / temperature) for one in (*self.probabilities, 1.0 - self.coverage)]
        return self.model_copy(update={"probabilities": tuple(one / sum(weights) for one in weights[:-1])})

    def rate(self, option: int) -> Rate:
        """Shares of an option, of the others, and of what is neither, in parts of a thousand."""
        yes = round(PARTS * min(1.0, self.probabilities[option]))
        valid = max(yes, round(PARTS * self.coverage))
        return Rate(yes=yes, no=valid - yes, invalid=PARTS - valid)


class Choice(Part):
    """What is wanted.

    Attributes:
        prompt: The prompt.
        stem: How the answer is begun; empty where it is not.
        options: For each option the ways in which the answer may go on, no one the beginning of another.
    """

    prompt: Prompt
    stem: str
    options: tuple[tuple[str, ...], ...]

    def key(self, target: str) -> str:
        """Under which the probabilities are kept."""
        return digest([target, self.prompt.id, self.stem, [list(ways) for ways in self.options]])


@runtime_checkable
class Chooser(Protocol):
    """A target that gives probabilities of options."""

    @property
    def identity(self) -> str:
        """As of any target."""
        ...

    @property
    def read_identity(self) -> str:
        """Says what probabilities depend on: the model and its weights, and not how responses are drawn."""
        ...

    def choices(self, wanted: Sequence[Choice]) -> list[Chosen]:
        """Probabilities at temperature 1 for each choice; one whose prompt cannot be given has zeros, and says why."""
        ...


def chooser_of(target: Target) -> Chooser | None:
    """The target as one that gives probabilities, or ``None`` if it does not."""
    return target if isinstance(target, Chooser) else None


def choose(chooser: Chooser, store: Store, wanted: Sequence[Choice], stage: str, progress: Progress) -> list[Chosen]:
    """Probabilities of choices, from the store or computed now and kept.

    Args:
        chooser: The target.
        store: Where they are kept.
        wanted: What is wanted.
        stage: What this is called where progress is shown.
        progress: Who is told.
    """
    progress.start(stage, len(wanted))
    keys = [one.key(chooser.read_identity) for one in wanted]
    held: dict[str, Chosen] = {}
    open_: dict[str, Choice] = {}
    for key, one in zip(keys, wanted, strict=True):
        found = held.get(key) or store.part(CHOICE, key, Chosen)
        if found is None:
            open_[key] = one
        else:
            held[key] = found
            progress.step()
    names = list(open_)
    for begin in range(0, len(names), _AT_ONCE):
        some = names[begin : begin + _AT_ONCE]
        for key, found in zip(some, chooser.choices([open_[key] for key in some]), strict=True):
            store.keep_part(CHOICE, key, found)
            held[key] = found
            progress.step()
    return [held[key] for key in keys]
