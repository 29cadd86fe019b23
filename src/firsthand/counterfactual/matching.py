"""True and false claims that look alike: as many of each label with the same kind and size of edit and baseline.

Coarsened exact matching (Iacus, King and Porro 2012): claims are put into cells by kind of edit, size of the edit (bins
a factor of four wide), baseline rate and the way in which the rate has room to move. In each cell as many true as false
claims are kept, so that nobody who sees only the cell can do better than chance. Pairs of one investigation come first,
since they share the prompt, the behaviour and the baseline; others are drawn by a seeded lot that takes clusters in
turn.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeAlias

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.surface import surface_of
from firsthand.trials.randomness import stream

WITHOUT: Final = "without a matched partner"
"""Why claims are left out."""

Cell: TypeAlias = Callable[[Claim], Hashable]


def of_surface(claim: Claim) -> Hashable:
    """What claims have in common that look alike."""
    return surface_of(claim).cell


def matched(claims: Iterable[Claim], seed: int = 0, cell: Cell = of_surface) -> list[Claim]:
    """Claims that have a partner of the other label in their cell, one for one, whatever their order.

    Args:
        claims: The claims.
        seed: Seed of the lot.
        cell: What partners have in common.
    """
    cells: dict[Hashable, list[Claim]] = defaultdict(list)
    for claim in sorted(claims, key=lambda one: one.id):
        cells[cell(claim)].append(claim)
    return sorted((one for some in cells.values() for one in _pairs(some, seed)), key=lambda one: one.id)


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


def _pairs(claims: Sequence[Claim], seed: int) -> list[Claim]:
    """As many true as false claims of a cell, those first that share an investigation."""
    drawn = spread(claims, seed)
    sides = {label: [one for one in drawn if one.label is label] for label in (True, False)}
    wanted = min(len(side) for side in sides.values())
    by_investigation: dict[str, dict[bool, list[Claim]]] = defaultdict(lambda: {True: [], False: []})
    for one in drawn:
        by_investigation[one.investigation][one.label].append(one)
    kept = [
        one for both in by_investigation.values() for pair in zip(both[True], both[False], strict=False) for one in pair
    ]
    ids = {one.id for one in kept}
    for side in sides.values():
        rest = [one for one in side if one.id not in ids]
        kept += rest[: wanted - sum(one.id in ids for one in side)]
    return kept
