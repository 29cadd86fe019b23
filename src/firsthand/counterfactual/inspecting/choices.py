"""A batch of responses in as few calls as a provider allows, whatever it gives in one.

All choices are asked for at once. A provider that gives fewer (Anthropic gives one) is asked again for what is missing.
One that refuses so many is asked for fewer: Google takes eight at most, others one. If it refuses a single one, too,
then the prompt is refused and not the number.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from firsthand.counterfactual.inspecting.together import side_by_side
from firsthand.counterfactual.responses import Response

CHOICES_REFUSED: Final = (400, 422)
"""HTTP statuses with which a provider may refuse so many choices."""

FEWER: Final = (8, 1)
"""Numbers of choices that are tried where more are refused."""


@dataclass(frozen=True)
class Refusal:
    """A call that the provider would not carry out.

    Attributes:
        why: Why not.
    """

    why: str


@dataclass
class PerCall:
    """How many choices one call gives, as far as it has been learnt.

    Attributes:
        most: Most choices that a call may ask for; ``None``: any number.
    """

    most: int | None = None


Call: TypeAlias = Callable[[int, int], Awaitable[list[Response] | Refusal]]
"""Asks for some responses by the number of the first of them and how many; at least one comes, or a refusal."""


async def drawn(
    call: Call, samples: int, per_call: PerCall, held: Mapping[int, Response] | None = None
) -> list[Response]:
    """A batch, exactly as many as wanted.

    What calls are made depends on what the calls of this batch gave and on what was *refused* before, in such a way
    that a run that goes on makes the same ones.

    Args:
        call: Makes one call.
        samples: How many responses are wanted.
        per_call: What has been learnt of the provider; what it refuses is noted here.
        held: Responses that have arrived before, by number.
    """
    slots = {number: one for number, one in (held or {}).items() if number < samples}
    gives: int | None = None
    while missing := [number for number in range(samples) if number not in slots]:
        most = min((one for one in (per_call.most, gives) if one is not None), default=None)
        calls = runs(missing, most)
        came = await side_by_side(*(_at(call, first, size, per_call) for first, size in calls))
        for (first, size), responses in zip(calls, came, strict=True):
            slots |= {first + i: response for i, response in enumerate(responses)}
            gives = len(responses) if len(responses) < size else gives
    return [slots[number] for number in range(samples)]


async def _at(call: Call, first: int, size: int, per_call: PerCall) -> list[Response]:
    """At least one response; as many failures as were wanted where the prompt is refused whatever the number."""
    why = ""
    for each in (size, *(fewer for fewer in FEWER if fewer < size)):
        got = await call(first, each)
        if isinstance(got, Refusal):
            why = got.why
            continue
        if each < size and all(one.ended == "error" for one in got):
            return [got[0]] * size
        if each < size:
            per_call.most = min(each, per_call.most or each)
        return got
    return [Response(text=why, ended="error")] * size


def runs(missing: Sequence[int], most: int | None) -> list[tuple[int, int]]:
    """Runs of missing numbers, cut to what one call gives: first number and size of each."""
    found = []
    for _, same in groupby(enumerate(missing), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in same]
        step = most or len(run)
        found += [(run[i], len(run[i : i + step])) for i in range(0, len(run), step)]
    return found
