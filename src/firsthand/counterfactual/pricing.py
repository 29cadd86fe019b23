"""What a run costs before it is made."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.counterfactual.claiming import ClaimRule
from firsthand.counterfactual.investigators import Investigator
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Request, Sampling, Target
from firsthand.counterfactual.running import RunSettings

_PROMPTS: Final = 8
_SAMPLES: Final = 8
MEASURED_TOKENS: Final = 16
"""Longest response of the measured pass."""


@dataclass(frozen=True)
class Price:
    """The cost of a run, at most: how many prompts screening will flag is not known before.

    Attributes:
        prompts: Prompts that are sampled.
        investigations: Investigations at most.
        screening: Responses that are drawn to be screened.
        investigating: Responses that are drawn for investigations, at most.
        reproducing: Responses that are drawn to reproduce claims, at most.
        tokens: Generated tokens, at most.
        rate: Tokens a second of a measured pass; ``None`` where none was made.
    """

    prompts: int
    investigations: int
    screening: int
    investigating: int
    reproducing: int
    tokens: int
    rate: float | None

    @property
    def seconds(self) -> float | None:
        """Time at most, at the measured rate."""
        return self.tokens / self.rate if self.rate else None


def price(prompts: Sequence[Prompt], settings: RunSettings, investigator: Investigator, rate: float | None) -> Price:
    """Price a run.

    Args:
        prompts: The prompts.
        settings: How they are investigated.
        investigator: Who investigates.
        rate: Tokens a second, if they were measured.
    """
    sampling, unique = settings.sampling, len({prompt.id for prompt in prompts})
    investigations = unique if settings.most is None else min(unique, settings.most)
    screening = unique * sampling.samples
    investigating = investigations * investigator.most
    rule = ClaimRule()
    reproducing = investigations * (1 + rule.true + rule.false) * settings.reproductions  # each with a new baseline
    return Price(
        prompts=unique,
        investigations=investigations,
        screening=screening,
        investigating=investigating,
        reproducing=reproducing,
        tokens=(screening + investigating + reproducing) * sampling.max_tokens,
        rate=rate,
    )


def short(sampling: Sampling) -> Sampling:
    """The sampling of the measured pass."""
    return sampling.model_copy(update={"max_tokens": min(MEASURED_TOKENS, sampling.max_tokens)})


def measured(target: Target, prompts: Sequence[Prompt]) -> float | None:
    """Tokens a second of a short pass over some prompts; ``None`` if nothing was generated.

    Args:
        target: A target of the sampling of :func:`short`.
        prompts: Prompts, of which a few are asked.
    """
    requests = [Request(prompt=prompt, batch="price", samples=_SAMPLES) for prompt in prompts[:_PROMPTS]]
    target.respond([request.model_copy(update={"samples": 2}) for request in requests[:1]])  # the first pass is slower
    begun = time.perf_counter()
    tokens = sum(one.tokens for batch in target.respond(requests) for one in batch)
    return tokens / (time.perf_counter() - begun) if tokens else None
