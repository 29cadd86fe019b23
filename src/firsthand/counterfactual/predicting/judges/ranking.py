"""At which place the true cause stands among guesses that are made from a description of the behaviour alone.

After arXiv 2608.16747, appendix A.2: a cause that a tool "discovered" is no discovery if a model that never saw the
tool lists it among its first guesses.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import pandas as pd

from firsthand.analysis.findings import ALPHA
from firsthand.analysis.means import mean_of
from firsthand.analysis.results import Estimate
from firsthand.counterfactual.predicting.judges.asking import Ask, fence_of, number_said, replies, task
from firsthand.counterfactual.quoting import quoted
from firsthand.errors import CounterfactualError

GUESSES: Final = 5
SAMPLES: Final = 10
_LIMIT: Final = 8_000
_ITEM: Final = re.compile(r"^\s*(\d{1,2})[.):]\s+(\S.*)$", re.MULTILINE)

GUESSING: Final = (
    "You are given a description of something that a language model does. List the {count} likeliest causes, the "
    "likeliest first, one a line as '1. ...' to '{count}. ...', each in one sentence that is specific enough to be "
    "tested, and nothing else."
)
MATCHING: Final = (
    "You are given a numbered list of guessed causes of something that a language model does, and the cause that was "
    "found. Give the number of the first guess that names the same cause: the same mechanism, even in other words. A "
    "guess that is vaguer, or names a part only, does not count. Reply with one JSON object: "
    '{"rank": the number, or 0 if none names it}.'
)


class Case(NamedTuple):
    """A behaviour whose cause is known.

    Attributes:
        name: What it is called: cases are what is independent.
        description: What the model does, without any hint at the cause.
        cause: The cause that was found.
    """

    name: str
    description: str
    cause: str


class Ranked(NamedTuple):
    """Where the true cause stood in one sample.

    Attributes:
        case: Name of the case.
        guesses: How many guesses there were.
        rank: Its place, from 1; 0 if it is not among them; ``None`` if there were no guesses or no valid judgement.
    """

    case: str
    guesses: int
    rank: int | None


class Ranking(NamedTuple):
    """Where true causes stand.

    Attributes:
        reciprocal: Mean of 1/rank, with 0 where the cause is not among the guesses, over valid samples.
        top: For each number k the share of valid samples with the cause among the first k.
        invalid: Samples without guesses or without a valid judgement.
        samples: All samples.
        ranked: Every sample.
    """

    reciprocal: Estimate
    top: dict[int, Estimate]
    invalid: int
    samples: int
    ranked: tuple[Ranked, ...]


def rank_causes(
    guess: Ask, judge: Ask, cases: Sequence[Case], samples: int = SAMPLES, guesses: int = GUESSES
) -> Ranking:
    """Let a model guess causes, and a judge find the true one among them.

    Args:
        guess: Who guesses; it is asked the same ``samples`` times.
        judge: Who finds the true cause.
        cases: The cases.
        samples: Samples of each case.
        guesses: Guesses of each sample.

    Raises:
        CounterfactualError: If there is no case, or two have one name.
    """
    if not cases or len({case.name for case in cases}) < len(cases):
        raise CounterfactualError("There is no case, or two have the same name.", "Give each case a name of its own.")
    asked = [case for case in cases for _ in range(samples)]
    lists = [read_guesses(reply, guesses) for reply in replies(guess, [guessing(case, guesses) for case in asked])]
    able = [number for number, found in enumerate(lists) if found]
    said = replies(judge, [matching(asked[number], lists[number]) for number in able])
    ranks: list[int | None] = [None] * len(asked)
    for number, reply in zip(able, said, strict=True):
        rank = number_said(reply, "rank")
        ranks[number] = rank if rank is not None and rank <= len(lists[number]) else None
    return scored(
        [Ranked(case.name, len(found), rank) for case, found, rank in zip(asked, lists, ranks, strict=True)], guesses
    )


def guessing(case: Case, guesses: int = GUESSES) -> str:
    """What the guesser is asked."""
    shown = quoted(case.description, fence_of(case.description, guesses), "description", _LIMIT)
    return task(GUESSING.format(count=guesses), shown)


def matching(case: Case, guesses: Sequence[str]) -> str:
    """What the judge is asked."""
    listed = "\n".join(f"{number}. {guess}" for number, guess in enumerate(guesses, 1))
    fence = fence_of(case.cause, listed)
    return task(MATCHING, quoted(listed, fence, "guesses", _LIMIT), quoted(case.cause, fence, "cause found", _LIMIT))


def read_guesses(reply: str, guesses: int = GUESSES) -> list[str]:
    """The first guesses of a numbered list, in its order; none if it is no list that counts up from 1."""
    found = [(int(number), text.strip()) for number, text in _ITEM.findall(reply)]
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        return []
    return [text for _, text in found[:guesses]]


def scored(ranked: Sequence[Ranked], guesses: int = GUESSES) -> Ranking:
    """Add up ranks, cases being what is independent."""
    table = pd.DataFrame({"case": [one.case for one in ranked]})
    ranks = np.array([np.nan if one.rank is None else float(one.rank) for one in ranked])
    reciprocal = np.where(ranks > 0, 1.0 / np.maximum(ranks, 1.0), np.where(ranks == 0, 0.0, np.nan))

    def top(k: int) -> Estimate:
        inside = np.where(np.isnan(ranks), np.nan, ((ranks > 0) & (ranks <= k)).astype(np.float64))
        return mean_of(inside, table, ("case",)).estimate(ALPHA)

    return Ranking(
        reciprocal=mean_of(reciprocal, table, ("case",)).estimate(ALPHA),
        top={k: top(k) for k in sorted({1, min(3, guesses), guesses})},
        invalid=int(np.isnan(ranks).sum()),
        samples=len(ranked),
        ranked=tuple(ranked),
    )
