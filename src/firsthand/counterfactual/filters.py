"""Which claims a set keeps: a coherent mechanism, an effect that another wording of the edit has too, one thing
changed.

After arXiv 2608.16747, section 2.3 and appendix B.3. What the filters ask is data on the claims, judged by a model or
found by a program (:mod:`~firsthand.counterfactual.reproducing`, :mod:`~firsthand.counterfactual.factors`). What nobody
judged has not passed: it stays in the unfiltered set and is missing from the filtered one. Beyond the paper, claims of
the filtered set that have a partner of the other label which looks alike make a set of their own
(:mod:`~firsthand.counterfactual.matching`).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.matching import WITHOUT, Look, matched, spread
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.reproducing import other_implementation, reproduces
from firsthand.counterfactual.surface import surface_of

__all__ = [
    "CAP",
    "Filters",
    "Reason",
    "Sieved",
    "Stage",
    "alike",
    "balanced",
    "filtered",
    "other_implementation",
    "reproduces",
    "spread",
]

CAP: Final = 2000

Reason: TypeAlias = str


class Filters(Part):
    """What a claim needs, and how large a set may be.

    Attributes:
        concreteness: Least concreteness of the mechanism; ``None`` to ask for none.
        reproduced: Whether another implementation must have had the effect.
        single_factor: Whether the edit must change one thing.
        balanced: Whether as many true claims as false ones are kept.
        cap: Most claims; an odd one is rounded down where they are balanced.
        seed: Seed of the choice where there are too many.
    """

    concreteness: Annotated[int, Field(ge=1, le=4)] | None = 3
    reproduced: bool = True
    single_factor: bool = True
    balanced: bool = True
    cap: Annotated[int, Field(ge=0)] = CAP
    seed: Annotated[int, Field(ge=0)] = 0


Stage = Literal["concrete", "balanced", "reproduced", "single factor", "balanced again", "matched"]


class Sieved(Part):
    """One filter: what it kept and why it left the rest out.

    Attributes:
        stage: The filter.
        claims: Claims that it kept.
        dropped: How many it left out, by reason.
    """

    stage: Stage
    claims: tuple[Claim, ...]
    dropped: dict[Reason, int]


def filtered(claims: Iterable[Claim], filters: Filters | None = None, look: Look = surface_of) -> tuple[Sieved, ...]:
    """Claims after each filter in turn, as in the paper's Table 2; the last one holds the filtered set.

    Beyond the paper, labels are balanced once more if filters that a program carries out left more of one than of the
    other: else the kind of edit that passes would tell the label.

    The order of the claims that come in does not matter, and each stage is sorted by claim.

    Args:
        claims: All claims, the unfiltered set.
        filters: What is asked for.
        look: Gives the surface of a claim; where some must go, those with a partner that looks alike stay.
    """
    filters = filters or Filters()
    left = tuple(sorted(claims, key=lambda one: one.id))
    stages: list[Sieved] = []
    if filters.concreteness is not None:
        stages.append(_sieved("concrete", left, [_concrete(one, filters.concreteness) for one in left]))
        left = stages[-1].claims
    stages.append(_capped(left, filters, look))
    left = stages[-1].claims
    if filters.reproduced:
        words = {None: "never reproduced by anyone", False: "another implementation had not the effect"}
        stages.append(_sieved("reproduced", left, [_asked(one.reproduced, words) for one in left]))
        left = stages[-1].claims
    if filters.single_factor:
        words = {None: "nobody judged how many things it changes", False: "changes several things"}
        stages.append(_sieved("single factor", left, [_asked(one.single_factor, words) for one in left]))
        left = stages[-1].claims
    # A program knows another implementation of some kinds of edits only, and those are not alike in both labels.
    again = _capped(left, filters, look)
    if filters.balanced and again.dropped:
        stages.append(again.model_copy(update={"stage": "balanced again"}))
    return tuple(stages)


def alike(claims: Sequence[Claim], seed: int = 0, look: Look = surface_of) -> Sieved:
    """Claims that have a partner of the other label which looks alike, after :func:`filtered`.

    Args:
        claims: The filtered set.
        seed: Seed of the lot among several partners.
        look: Gives the surface of a claim.
    """
    kept = {one.id for one in matched(claims, seed, look)}
    return _sieved("matched", claims, [None if one.id in kept else WITHOUT for one in claims])


def balanced(claims: Sequence[Claim], cap: int = CAP, seed: int = 0, look: Look = surface_of) -> list[Claim]:
    """As many true claims as false ones, at most ``cap`` in all, by a seeded lot that does not depend on their order.

    Claims that have a partner of the other label which looks alike come first. Among these, and among the others,
    clusters are drawn from in turn, so that as many as possible stay represented and none of them makes up more of the
    set than it must.

    Args:
        claims: The claims.
        cap: Most claims.
        seed: Seed of the lot.
        look: Gives the surface of a claim.
    """
    sides = [[one for one in claims if one.label is label] for label in (True, False)]
    most = min(cap // 2, *(len(side) for side in sides))
    pairs = {one.id for one in matched(claims, seed, look)} if most < max(map(len, sides)) else set()
    drawn = [sorted(spread(side, seed), key=lambda one: one.id not in pairs)[:most] for side in sides]
    return sorted((one for side in drawn for one in side), key=lambda one: one.id)


def _capped(claims: tuple[Claim, ...], filters: Filters, look: Look) -> Sieved:
    if filters.balanced:
        kept = balanced(claims, filters.cap, filters.seed, look)
    else:
        kept = spread(claims, filters.seed)[: filters.cap]
    kept_ids = {one.id for one in kept}
    even = 2 * min(sum(one.label for one in claims), sum(not one.label for one in claims))
    over = max(0, (even if filters.balanced else len(claims)) - len(kept))
    reasons = {"more of this label than of the other": len(claims) - len(kept) - over, f"beyond {filters.cap:,}": over}
    return Sieved(
        stage="balanced",
        claims=tuple(one for one in claims if one.id in kept_ids),
        dropped={reason: count for reason, count in reasons.items() if count},
    )


def _sieved(stage: Stage, claims: Sequence[Claim], reasons: Sequence[Reason | None]) -> Sieved:
    return Sieved(
        stage=stage,
        claims=tuple(one for one, reason in zip(claims, reasons, strict=True) if reason is None),
        dropped=dict(sorted(Counter(reason for reason in reasons if reason is not None).items())),
    )


def _concrete(claim: Claim, least: int) -> Reason | None:
    if claim.concreteness is None:
        return "nobody judged its mechanism"
    return None if claim.concreteness >= least else f"concreteness below {least}"


def _asked(found: bool | None, words: dict[bool | None, Reason]) -> Reason | None:
    return None if found is True else words[found]
