"""True and false claims that look alike: as many of each label with the same kind and size of edit and baseline.

Coarsened exact matching (Iacus, King and Porro 2012): claims are put into cells by kind of edit, size of the edit (bins
a factor of four wide), baseline rate and the way in which the rate has room to move. In each cell as many true as false
claims are kept, so that nobody who sees only the cell can do better than chance. Within a cell partners are those that
are nearest in size and baseline, pairs of one investigation first, since these share the prompt, the behaviour and the
baseline; what is left is settled by a seeded lot that takes clusters in turn.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.surface import SIZE_BASE, Surface, surface_of
from firsthand.trials.randomness import stream

WITHOUT: Final = "without a matched partner"
"""Why claims are left out."""

Look: TypeAlias = Callable[[Claim], Surface]
"""Gives the surface of a claim."""

_RATES: Final = 0.2
"""A difference of baselines that counts as much as a factor of :data:`SIZE_BASE` in size."""
_SAME: Final = 100.0
_LOT: Final = 1e-6


def matched(claims: Iterable[Claim], seed: int = 0, look: Look = surface_of) -> list[Claim]:
    """Claims that have a partner of the other label in their cell, one for one, whatever their order.

    Args:
        claims: The claims.
        seed: Seed of the lot.
        look: Gives the surface of a claim.
    """
    cells: dict[Hashable, list[tuple[Claim, Surface]]] = defaultdict(list)
    for claim in spread(claims, seed):
        surface = look(claim)
        cells[surface.cell].append((claim, surface))
    return sorted((one for some in cells.values() for one in _pairs(some)), key=lambda one: one.id)


def mostly(filtered: Sequence[Claim], kept: Sequence[Claim]) -> bool:
    """Whether matching loses less than half of a set, so that what it keeps can stand for it."""
    return 2 * len(kept) > len(filtered)


def spread(claims: Iterable[Claim], seed: int = 0) -> list[Claim]:
    """Claims in an order by lot in which every cluster has its first before any has its second."""
    drawn = sorted(claims, key=lambda one: (_lot(seed, one.id), one.id))
    before: dict[str, int] = defaultdict(int)
    ranked: list[tuple[int, int, Claim]] = []
    for place, one in enumerate(drawn):
        ranked.append((before[one.cluster], place, one))
        before[one.cluster] += 1
    return [one for _, _, one in sorted(ranked, key=lambda row: row[:2])]


def _lot(seed: int, identifier: str) -> float:
    return float(stream(seed, "balance", identifier).random())


def _pairs(claims: Sequence[tuple[Claim, Surface]]) -> list[Claim]:
    """As many true as false claims of a cell, so that partners are as near as they can be."""
    from scipy.optimize import linear_sum_assignment

    sides = [[one for one in claims if one[0].label is label] for label in (True, False)]
    if not all(sides):
        return []
    cost = np.array([[_apart(*one, *other) for other in sides[1]] for one in sides[0]])
    cost += _LOT * np.add.outer(np.arange(len(sides[0])), np.arange(len(sides[1])))
    found = linear_sum_assignment(cost)
    return [side[place][0] for side, places in zip(sides, found, strict=True) for place in places]


def _apart(one: Claim, seen: Surface, other: Claim, looks: Surface) -> float:
    if one.investigation == other.investigation:
        return -_SAME
    sizes = abs(math.log(max(1, seen.size)) - math.log(max(1, looks.size))) / math.log(SIZE_BASE)
    return sizes + abs(seen.baseline - looks.baseline) / _RATES
