"""What tools said about a claim, as judges are shown it, and the verdicts that come back."""

from collections.abc import Sequence
from typing import NamedTuple

from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.predicting.judges.asking import Ask, fence_of, replies, said_yes, task
from firsthand.counterfactual.quoting import quoted

_LIMIT = 8_000


class Outputs(NamedTuple):
    """A claim and everything that a tool put out while it was being predicted.

    Attributes:
        claim: The claim.
        texts: Outputs of the tool, each judged by itself.
    """

    claim: Claim
    texts: tuple[str, ...]


class Verdicts(NamedTuple):
    """What a judge found of the outputs on one claim: yes, no, or ``None`` where its reply was invalid."""

    claim: Claim
    found: tuple[bool | None, ...]

    @property
    def any(self) -> bool | None:
        """Whether it found anything; ``None`` if it did not, and an invalid reply may hide something."""
        if any(one is True for one in self.found):
            return True
        return None if None in self.found or not self.found else False

    @property
    def share(self) -> float | None:
        """Share of the valid replies that found something; ``None`` without any."""
        valid = [one for one in self.found if one is not None]
        return sum(valid) / len(valid) if valid else None


def judge_outputs(ask: Ask, instruction: str, material: Sequence[Outputs]) -> list[Verdicts]:
    """Put every output to a judge, by itself, with the behaviour and the edit but not with what the edit did.

    Args:
        ask: The judge.
        instruction: What is asked; it must not tell labels.
        material: The outputs.
    """
    prompts = [_prompt(instruction, one.claim, text) for one in material for text in one.texts]
    given = iter(replies(ask, prompts))
    return [Verdicts(one.claim, tuple(said_yes(next(given)) for _ in one.texts)) for one in material]


def _prompt(instruction: str, claim: Claim, text: str) -> str:
    fence = fence_of(claim.behaviour.question, claim.intervention, text)
    return task(
        instruction,
        quoted(claim.behaviour.question, fence, "behaviour", _LIMIT),
        quoted(claim.intervention, fence, "edit of the prompt", _LIMIT),
        quoted(text, fence, "output of the tool", _LIMIT),
    )
