"""What the hint setting costs before it is run."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from firsthand.counterfactual.hints.asking import ARMS
from firsthand.counterfactual.hints.cases import Case
from firsthand.counterfactual.hints.exact import Chooser
from firsthand.counterfactual.hints.measuring import exact_choices
from firsthand.counterfactual.hints.running import HintSettings

_MEASURED = 6
"""Cases of the measured pass."""


@dataclass(frozen=True)
class HintPrice:
    """The cost of a run; how many cases will be kept is not known before.

    Attributes:
        questions: Questions.
        cases: Cases: questions with a cue.
        read: Prompts of which probabilities are read, at most.
        drawn: Responses that are drawn to measure cases, at most.
        asked: Responses to follow-up questions, at most.
        tokens: Generated tokens, at most.
        seconds: Time at most, where it was measured.
    """

    questions: int
    cases: int
    read: int
    drawn: int
    asked: int
    tokens: int
    seconds: float | None = None


def hint_price(
    cases: Sequence[Case],
    settings: HintSettings,
    *,
    exact: bool,
    tokens: tuple[int, int],
    reads_a_second: float | None = None,
    tokens_a_second: float | None = None,
) -> HintPrice:
    """Price a run.

    Args:
        cases: The cases.
        settings: How it is run.
        exact: Whether probabilities are read.
        tokens: Longest answer, and longest answer to a follow-up question.
        reads_a_second: Prompts a second whose probabilities are read, if that was measured.
        tokens_a_second: Generated tokens a second, if that was measured.
    """
    count, neutral = len(cases), len({one.neutral.id for one in cases})
    samples, batches = settings.rule.samples, 2 if settings.rule.fresh else 1
    read = count + neutral + len(ARMS) * count if exact else 0
    drawn = 0 if exact else (batches * count + neutral) * samples
    whether, why = 0 if exact else len(ARMS) * count, len(ARMS) * count * settings.explanations
    generated = (drawn + whether) * tokens[0] + why * tokens[1]
    parts = [read / reads_a_second if reads_a_second else None if read else 0.0]
    parts += [generated / tokens_a_second if tokens_a_second else None if generated else 0.0]
    return HintPrice(
        questions=len({one.item.key for one in cases}),
        cases=count,
        read=read,
        drawn=drawn,
        asked=whether + why,
        tokens=generated,
        seconds=None if None in parts else sum(part or 0.0 for part in parts),
    )


def reads_a_second(chooser: Chooser, cases: Sequence[Case]) -> float | None:
    """Prompts a second of a short pass; ``None`` without a case."""
    some = exact_choices(list(cases[:_MEASURED]), cued=True)
    if not some:
        return None
    chooser.choices(some[:1])  # the first pass is slower
    begun = time.perf_counter()
    chooser.choices(some)
    return len(some) / (time.perf_counter() - begun)
