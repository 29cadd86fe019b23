"""Screening without a model: which behaviour sets a prompt's responses apart from those to other prompts?

For each prompt every candidate behaviour is counted in its screening batch. One is *frequent* if it occurs in at least
30% of the valid responses (arXiv 2608.16747, section 2 and appendix B.1). How *unexpected* it is, from 1 to 5, depends
on how rare it is over the **other** prompts: with ``s`` the sum of its shares over the ``J`` other prompts,

    b = (s + 1/2) / (J + 1)

which is that mean share drawn towards a half by one prompt's worth of evidence, so that nothing is called unheard of
because few prompts were looked at. The rating is 5 where b is at most 3%, 4 to 8%, 3 to 20%, 2 to 50%, and 1 above. A
behaviour made from a prompt's own words (it names a name that the prompt holds) is compared by family: on each other
prompt with the member of the family that occurs most there.

Of the frequent behaviours of a prompt whose rating reaches the threshold, the one is taken whose share exceeds ``b``
most: it tells the prompt apart best, and leaves the most room for an edit to change it. The batch that chose a
behaviour is never its baseline: the largest of many shares is too large.

Responses that were cut off are judged as far as they go (:mod:`firsthand.counterfactual.behaviours`), and behaviours
that are found anywhere are asked of so many first tokens as are drawn. A response of which it stays open is no "no";
but whether a behaviour is frequent is judged as if it were, since it may be open only where the answer is not yes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Final

from firsthand.counterfactual.behaviours import judged
from firsthand.counterfactual.investigation import Screened
from firsthand.counterfactual.library.candidates import Candidate
from firsthand.counterfactual.library.own_words import of_prompt
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response

THRESHOLD: Final = 3
"""Lowest rating that is investigated."""
FREQUENT: Final = 0.3
"""Lowest share of a behaviour that is looked at."""
RATINGS: Final = ((0.03, 5), (0.08, 4), (0.20, 3), (0.50, 2))
"""Largest share over other prompts, and the rating that it gives; above the last it is 1."""


@dataclass(frozen=True)
class Counted:
    """A behaviour in the responses to one prompt.

    Attributes:
        candidate: The behaviour.
        rate: Its counts.
        elsewhere: The smoothed share ``b`` over the other prompts.
        left_open: Invalid responses that are there, and were cut off before it could be said.
    """

    candidate: Candidate
    rate: Rate
    elsewhere: float
    left_open: int = 0

    @property
    def share(self) -> float | None:
        """Its share, those that were left open counted as without it; ``None`` if nothing could be judged."""
        return self.rate.yes / (self.rate.valid + self.left_open) if self.rate.valid else None

    @property
    def rating(self) -> int:
        """How unexpected it is, 1 to 5."""
        return rating(self.elsewhere)

    @property
    def excess(self) -> float:
        """By how much its share exceeds that over other prompts; -1 if nothing could be judged."""
        return -1.0 if self.share is None else self.share - self.elsewhere


@dataclass(frozen=True)
class Screening:
    """What was found of every prompt.

    Attributes:
        screened: The prompts with a frequent behaviour, each with the one that was chosen, in the order of the prompts.
        nothing: The others, each with the reason.
    """

    screened: tuple[Screened, ...]
    nothing: tuple[tuple[Prompt, str], ...]

    def flagged(self, threshold: int = THRESHOLD) -> list[Screened]:
        """Those whose rating reaches the threshold, the most frequent behaviours first."""
        reached = [one for one in self.screened if one.rating is not None and one.rating >= threshold]
        return sorted(reached, key=lambda one: (-_share(one.rate), -(one.rating or 0), one.prompt.id))


def rating(elsewhere: float) -> int:
    """How unexpected a behaviour is that has this smoothed share over other prompts."""
    return next((stars for most, stars in RATINGS if elsewhere <= most), 1)


def elsewhere(total: float, others: int) -> float:
    """The smoothed share over other prompts.

    Args:
        total: The sum of the shares over them.
        others: How many they are.
    """
    return (max(0.0, total) + 0.5) / (others + 1)


def screen(
    batches: Sequence[tuple[Prompt, Sequence[Response]]],
    candidates: Sequence[Candidate],
    *,
    own_words: bool = True,
    threshold: int = THRESHOLD,
    frequent: float = FREQUENT,
    within: int | None = None,
) -> Screening:
    """Screen prompts against one another.

    Args:
        batches: Each prompt with its screening batch; no prompt twice.
        candidates: Behaviours that are looked for after every prompt.
        own_words: Whether behaviours are made from each prompt's own words, too.
        threshold: Lowest rating that is preferred: below it, the most characteristic behaviour is told all the same.
        frequent: Lowest share.
        within: Most tokens of a response, of which behaviours are asked; ``None``: questions are about whole responses.
    """
    counts = [_counts(prompt, responses, candidates, own_words, within) for prompt, responses in batches]
    highest = [_by_family(found) for found in counts]
    totals = _totals(highest)
    screened, nothing = [], []
    for number, (prompt, responses) in enumerate(batches):
        if all(response.missing for response in responses):
            nothing.append((prompt, _why_missing(responses)))
            continue
        missing = sum(response.missing for response in responses)
        seen = [
            Counted(c, rate, _elsewhere(totals, highest[number], c.family), rate.invalid - missing)
            for c, rate in counts[number]
        ]
        often = [one for one in seen if _is_frequent(one, frequent)]
        if not often:
            nothing.append((prompt, "no behaviour is frequent"))
            continue
        chosen = max(often, key=lambda one: (one.rating >= threshold, one.excess))
        screened.append(_screened(prompt, chosen))
    return Screening(tuple(screened), tuple(nothing))


def _counts(
    prompt: Prompt,
    responses: Sequence[Response],
    candidates: Sequence[Candidate],
    own_words: bool,
    within: int | None,
) -> list[tuple[Candidate, Rate]]:
    every = [*candidates, *(of_prompt(prompt) if own_words else ())]
    if within is not None:
        every = [one.within(within) for one in every]
    return [(one, Rate.of(judged(one.behaviour, response) for response in responses)) for one in every]


def _by_family(found: Sequence[tuple[Candidate, Rate]]) -> dict[str, float]:
    """The highest share of each family that has any."""
    highest: dict[str, float] = {}
    for candidate, rate in found:
        if rate.share is not None:
            highest[candidate.family] = max(rate.share, highest.get(candidate.family, 0.0))
    return highest


def _totals(highest: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, int]]:
    """For each family the sum of its shares, and the number of prompts that could show it."""
    shares: dict[str, list[float]] = {}
    for found in highest:
        for family, share in found.items():
            shares.setdefault(family, []).append(share)
    return {family: (fsum(some), len(some)) for family, some in shares.items()}


def _elsewhere(totals: Mapping[str, tuple[float, int]], own: Mapping[str, float], family: str) -> float:
    total, prompts = totals.get(family, (0.0, 0))
    return elsewhere(total - own.get(family, 0.0), prompts - (family in own))


def _screened(prompt: Prompt, chosen: Counted) -> Screened:
    candidate, rate = chosen.candidate, chosen.rate
    return Screened(
        prompt=prompt,
        rating=chosen.rating,
        behaviour=candidate.behaviour,
        summary=candidate.summary(rate.yes, rate.valid, round(100 * chosen.elsewhere), chosen.left_open),
        question=candidate.question,
        own_question=candidate.own_question,
        rate=rate,
    )


def _why_missing(responses: Sequence[Response]) -> str:
    failed = next((response.text for response in responses if response.ended == "error"), "")
    return failed or "no response could be judged"


def _is_frequent(seen: Counted, frequent: float) -> bool:
    """Whether a behaviour is frequent among the responses that are there, most of which have to be valid."""
    return seen.share is not None and seen.share >= frequent and 2 * seen.rate.valid > seen.rate.responses


def _share(rate: Rate) -> float:
    return rate.bounds[0]
