"""What a target said to a prompt, and one batch of it."""

from collections.abc import Sequence
from typing import Annotated, Literal, Protocol

from pydantic import Field

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, ToolCall
from firsthand.trials.canonical import digest


class Response(Part):
    """One response.

    Attributes:
        text: What was said, without reasoning.
        reasoning: Thinking that came with it, kept apart.
        calls: Tool calls.
        ended: Why it ended: ``stop`` (by itself), ``length`` (cut off), ``filter`` (a provider withheld it) or
            ``error`` (there is none: the call failed for good, and ``text`` says why).
        tokens: Generated tokens, as counted by the target.
    """

    text: str
    reasoning: str | None = None
    calls: tuple[ToolCall, ...] = ()
    ended: Literal["stop", "length", "filter", "error"] = "stop"
    tokens: int = 0

    @property
    def missing(self) -> bool:
        """Whether there is nothing that could be judged: such a response is invalid, and never a "no"."""
        return self.ended in ("filter", "error") or not (self.text.strip() or self.calls)


class Sampling(Part):
    """How responses are drawn.

    Attributes:
        samples: Responses to each prompt, the same for every batch.
        temperature: Temperature.
        top_p: Nucleus. ``None``: the model's own default.
        top_k: Most tokens. ``None``: the model's own default.
        max_tokens: Longest response.
        thinking: Whether a model that can is to think first, and with how many tokens at most. 0: not at all.
        seed: Seed of all draws, where the target takes one.
    """

    samples: Annotated[int, Field(ge=2)] = 30
    temperature: Annotated[float, Field(gt=0.0)] = 1.0
    top_p: Annotated[float, Field(gt=0.0, le=1.0)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 500
    thinking: Annotated[int, Field(ge=0)] = 0
    seed: Annotated[int, Field(ge=0)] = 0


class Request(Part):
    """One batch that is wanted: so many responses to a prompt.

    Attributes:
        prompt: The prompt.
        batch: What the batch is for, such as ``screen``, ``baseline`` or ``explore.3.0``. It is part of the seed and of
            the key under which the batch is kept, so that a prompt that is asked twice is sampled anew.
        samples: How many responses.
    """

    prompt: Prompt
    batch: str
    samples: Annotated[int, Field(ge=1)]

    def key(self, target: str) -> str:
        """Under which the batch of this request is kept, for a target of some identity (model and sampling)."""
        return digest([target, self.prompt.id, self.batch, self.samples])


class Target(Protocol):
    """Something that answers prompts."""

    @property
    def identity(self) -> str:
        """Says which model, which weights and which sampling: equal only where responses come from one distribution."""
        ...

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        """Responses to each request, exactly as many as it wants; a call that fails for good gives ``error`` responses.

        Requests of one call are answered side by side.
        """
        ...
