"""Calls to models, each made once: what a call gave is kept under the name of what it was for, and found there again.

Inspect keeps what a call gave in a cache, by everything that decides it. Two calls that are equal but meant to be two
draws are told apart by a *place*, which is unique within a run: stage, prompt, batch and number. So a stage that is
interrupted makes only the calls that are missing, and the sum over all calls of the finished logs is what the run cost,
whether they were made in this process or in one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import CachePolicy, ChatMessage, GenerateConfig, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolInfo
from inspect_ai.util import LimitExceededError

from firsthand.counterfactual.inspecting.stages.settings import Price, RoleName, StagesSettings
from firsthand.errors import CounterfactualError


class BudgetUsedUp(CounterfactualError):  # noqa: N818 - a clean stop, by the name of its reason
    """The whole run's budget is used up."""


class KeyRefused(CounterfactualError):  # noqa: N818 - likewise
    """A provider refuses the key: no call to it can succeed."""


@dataclass
class Spent:
    """What was used up by one role.

    Attributes:
        calls: Calls that gave something.
        failed: Calls that failed for good.
        input: Tokens read at the full price.
        output: Tokens written.
        cache_read: Tokens read from the provider's cache.
        cache_write: Tokens written to it.
        dollars: Money; 0 where no price is known.
    """

    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    dollars: float = 0.0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cache_read + self.cache_write

    def add(self, usage: ModelUsage | None, price: Price | None) -> float:
        """Count one call; returns what it cost."""
        self.calls += 1
        if usage is None:
            return 0.0
        read, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
        self.input += usage.input_tokens
        self.output += usage.output_tokens
        self.cache_read += read
        self.cache_write += written
        cost = usage.total_cost or 0.0
        if price is not None:
            of_read = price.input if price.cache_read is None else price.cache_read
            of_written = price.input if price.cache_write is None else price.cache_write
            cost = usage.input_tokens * price.input + usage.output_tokens * price.output
            cost = (cost + read * of_read + written * of_written) / 1e6
        self.dollars += cost
        return cost


@dataclass
class Purse:
    """The money of a whole run.

    Attributes:
        limit: How much there is; ``None``: no limit.
        spent: What finished logs and this process have spent.
    """

    limit: float | None = None
    spent: float = 0.0

    def check(self) -> None:
        """Raise if nothing is left."""
        if self.limit is not None and self.spent >= self.limit:
            raise BudgetUsedUp(
                f"The run's budget of ${self.limit:,.2f} is used up: ${self.spent:,.2f} were spent.",
                "Raise `dollars` and run the same command again; it goes on where it stopped.",
            )


@dataclass
class Calls:
    """The calls of one sample of a stage.

    Attributes:
        settings: The run's settings.
        key: Key of the run's fences.
        purse: The run's money.
        place: Name of the sample, such as ``screen/PROMPT``.
        spent: What its calls used up, by role.
        counts: Replies that were repaired or invalid, by role and outcome.
    """

    settings: StagesSettings
    key: bytes
    purse: Purse
    place: str
    spent: dict[str, Spent] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    async def generate(
        self,
        role: RoleName,
        messages: list[ChatMessage],
        place: str,
        *,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
    ) -> ModelOutput | str:
        """What a model gives, or why it gave nothing after all retries.

        Args:
            role: Who is asked.
            messages: The conversation.
            place: What the call is for; unique within the sample.
            tools: Tools that it is told of.
            config: Generation settings over those of the role.

        Raises:
            BudgetUsedUp: If the run's money is used up.
            KeyRefused: If the provider refuses the key.
        """
        self.purse.check()
        model = get_model(role=role, required=True)
        policy = CachePolicy(expiry=None, per_epoch=False, scopes={"place": f"{self.place}/{place}", "role": role})
        spent = self.spent.setdefault(role, Spent())
        try:
            output = await model.generate(messages, tools=list(tools), config=config or GenerateConfig(), cache=policy)
        except LimitExceededError:
            raise
        except Exception as error:
            if model.api.is_auth_failure(error) or getattr(error, "status_code", None) in (401, 403):
                raise KeyRefused(
                    f"The provider of {model} refuses the key: {error}.", "Set the right key and run the command again."
                ) from error
            spent.failed += 1
            self.count(role, "failed call")
            return f"{type(error).__name__}: {str(error).strip().splitlines()[-1] if str(error).strip() else ''}"[:500]
        self.purse.spent += spent.add(output.usage, self.settings.prices.get(self.settings.playing(role).model))
        if output.empty:
            self.count(role, "empty call")
            return "The provider gave no choice."
        return output

    def count(self, role: RoleName, what: str) -> None:
        """Count something that happened to a role."""
        name = f"{role}: {what}"
        self.counts[name] = self.counts.get(name, 0) + 1

    @property
    def tokens(self) -> int:
        """Tokens of all roles."""
        return sum(one.tokens for one in self.spent.values())

    @property
    def dollars(self) -> float:
        """Money of all roles."""
        return sum(one.dollars for one in self.spent.values())

    def account(self) -> dict[str, Any]:
        """What is kept of it in the log."""
        return {"spent": {role: vars(one) for role, one in self.spent.items()}, "counts": dict(self.counts)}
