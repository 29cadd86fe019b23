"""Which of the prompts that fit are taken: few of a template family, and of each part its share.

Each choice is drawn, not read off the order in which prompts were found: a prompt (or a conversation) has a number from
a stream that is named after it, and the smallest numbers win. So a choice does not hang on the order of files, and more
prompts of the same sources are those that there were and others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from firsthand.counterfactual.families import beginning
from firsthand.counterfactual.mixtures import Limits, largest_total, shares_out
from firsthand.errors import CounterfactualError
from firsthand.trials.randomness import stream

SHORTER: Final = (50, 25, 10)
"""Lengths at which prompts that are no family by rule are looked at for a common beginning."""

_MANY: Final = 0.2
_NOT_DRAWN: Final = "not drawn for the sample"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prompt that fits, and waits to be chosen.

    Attributes:
        part: Number of its part.
        name: Its identifier.
        unit: What counts once in a family: the prompt, or all that comes of one conversation.
        begins: The beginning by which its family is known.
        shown: The beginning that is looked at when it is in no family.
        limits: The limits that it is under.
        place: Where it was found.
        start: Where it waits, in bytes.
        length: Its length there.
    """

    part: int
    name: str
    unit: str
    begins: str
    shown: str
    limits: Limits
    place: str
    start: int
    length: int


Drop: TypeAlias = Callable[[Candidate, str], None]
"""Notes that a candidate is dropped, and why."""


def drawn(seed: int, what: str, name: str) -> float:
    """The number of something in a draw, between 0 and 1."""
    return float(stream("investigate", seed, "prepare", what, name).random())


def shown_beginning(user_text: str) -> str:
    """What of a prompt is looked at for a common beginning."""
    return beginning(user_text, max(SHORTER))


def few_of_a_family(candidates: Sequence[Candidate], seed: int, drop: Drop) -> list[Candidate]:
    """Those of which no more than so many units share a beginning."""
    families: dict[tuple[int, str], dict[str, float]] = {}
    for one in candidates:
        if one.begins and one.limits.per_family is not None:
            units = families.setdefault(_family(one), {})
            if one.unit not in units:
                units[one.unit] = drawn(seed, "family", one.unit)
    ranks = {
        family: {unit: rank for rank, unit in enumerate(sorted(units, key=lambda unit: (units[unit], unit)))}
        for family, units in families.items()
    }
    left = []
    for one in candidates:
        most = one.limits.per_family
        if one.begins and most is not None and ranks[_family(one)][one.unit] >= most:
            drop(one, f"beyond {most} of one template family")
        else:
            left.append(one)
    return left


def _family(one: Candidate) -> tuple[int, str]:
    return one.limits.family_characters, one.begins


def sampled(
    candidates: Sequence[Candidate], total: int | None, shares: Sequence[float], parts: int, seed: int, drop: Drop
) -> list[Candidate]:
    """As many as are wanted, of each part its share, in the order in which they are drawn.

    Args:
        candidates: What there is.
        total: How many are wanted; ``None``: as many as there are, or as the shares allow.
        shares: The share of each part; empty if any will do.
        parts: How many parts there are.
        seed: Seed of the draw.
        drop: Is told of what is not taken.

    Raises:
        CounterfactualError: If a part does not have its share of the total.
    """
    order = sorted(candidates, key=lambda one: (drawn(seed, "sample", one.name), one.name))
    available = [sum(one.part == number for one in order) for number in range(parts)]
    room = _rooms(available, total, shares) if shares else available
    most = sum(room) if shares or total is None else min(total, len(order))
    taken: list[Candidate] = []
    for one in order:
        if room[one.part] and len(taken) < most:
            room[one.part] -= 1
            taken.append(one)
        else:
            drop(one, _NOT_DRAWN)
    return taken


def _rooms(available: Sequence[int], total: int | None, shares: Sequence[float]) -> list[int]:
    most = largest_total(available, shares)
    wanted = shares_out(most if total is None else total, shares)
    for part, (need, have) in enumerate(zip(wanted, available, strict=True)):
        if need > have:
            raise CounterfactualError(
                f"A share of {shares[part]:.3g} of {total:,} prompts is {need:,}, and part {part + 1} has {have:,} "
                "after narrowing.",
                f"Ask for at most {most:,} prompts, change the shares, or give more files."
                if most
                else "Change the shares, or give more files.",
            )
    return wanted


def common_beginnings(candidates: Sequence[Candidate]) -> Iterator[str]:
    """A sentence if many prompts begin alike and are no family by rule: it may be one template that varies early."""
    judged = [one for one in candidates if one.limits.per_family is not None]
    for characters in SHORTER:
        units: dict[str, set[str]] = {}
        for one in judged:
            if one.limits.family_characters > characters and len(one.shown) >= characters:
                units.setdefault(one.shown[:characters], set()).add(one.unit)
        begins = max(units, key=lambda key: len(units[key]), default="")
        everything = len({one.unit for one in judged})
        if begins and len(units[begins]) > max(_MANY * everything, 5):
            yield (
                f"{len(units[begins]):,} of {everything:,} begin alike, with {begins!r} (white space taken out), and "
                "are kept because they go on differently. If they are one template, make families by their first "
                f"{characters} characters."
            )
            return
