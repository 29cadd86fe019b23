"""Calls to models, each made once: what a call gave is kept under the name of what it was for, and found there again.

Inspect keeps what a call gave in a cache, by everything that decides it. Two calls that are equal but meant to be two
draws are told apart by a *place*, which is unique within a run: stage, prompt, batch and number. So a stage that is
interrupted makes only the calls that are missing, and the sum over all calls of the finished logs is what the run used,
whether they were made in this process or in one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import CachePolicy, ChatMessage, ChatMessageUser, GenerateConfig, ModelOutput, get_model
from inspect_ai.tool import ToolInfo
from inspect_ai.util import LimitExceededError

from firsthand.counterfactual.costs import money_text
from firsthand.counterfactual.inspecting.choices import CHOICES_REFUSED, PerCall
from firsthand.counterfactual.inspecting.failing import Fault, Line, cause_of, fault_of, reason_of, status_of, unusable
from firsthand.counterfactual.inspecting.ledger import used
from firsthand.counterfactual.inspecting.reaching import watched
from firsthand.counterfactual.inspecting.stages.settings import RoleName, StagesSettings
from firsthand.counterfactual.prices import PriceTable
from firsthand.counterfactual.quoting import Fence
from firsthand.counterfactual.usage import Entry, Usage
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest


class RunStopped(CounterfactualError):  # noqa: N818 - a clean stop, by its name
    """The whole run stops: nothing that is still to be done could be done now."""


class BudgetUsedUp(RunStopped):
    """The run's budget is used up; it goes on with a larger one."""


class CallLost(CounterfactualError):  # noqa: N818 - no fault of the sample: it is asked again
    """A call failed in passing, after all retries. Nothing is concluded from it: its sample waits for another run.

    Attributes:
        role: Whose call it was, where that is known.
    """

    def __init__(self, problem: str, remedy: str, role: RoleName | None = None) -> None:
        super().__init__(problem, remedy)
        self.role = role


class CallRefused(CounterfactualError):  # noqa: N818 - no error of the program
    """A provider would not take this call, and would not another time: nothing but its reason comes of it.

    Attributes:
        status: The HTTP status, if there is one.
    """

    def __init__(self, problem: str, status: int | None = None) -> None:
        super().__init__(problem, "Leave the prompt out, or ask another model.")
        self.status = status


@dataclass
class Standing:
    """How a run stands: its money, and whether its calls get through.

    Attributes:
        prices: Prices of its models.
        limit: Its budget; ``None``: no limit.
        give_up_after: Calls of one role that may fail in a row; ``None``: any number.
        spent: What finished logs and this process have spent.
        lines: Whether the calls of each role get through.
        per_call: How many choices the target gives in one call.
        stopped: Why the run stopped, if it did.
        waiting: Samples of this process whose call was lost, and why.
        unfinished: What such samples have spent, which is counted again when they are made again.
        refused_first: Those of them that wait since a prompt was refused, and its role has answered no other since.
        refusals: Calls of this process that were refused, by what they were for: why, and with which status.
    """

    prices: PriceTable = field(default_factory=PriceTable)
    limit: float | None = None
    give_up_after: int | None = None
    spent: float = 0.0
    lines: dict[RoleName, Line] = field(default_factory=dict)
    per_call: PerCall = field(default_factory=PerCall)
    stopped: str = ""
    waiting: dict[tuple[str, str], str] = field(default_factory=dict)
    unfinished: dict[tuple[str, str], float] = field(default_factory=dict)
    refused_first: dict[tuple[str, str], RoleName] = field(default_factory=dict)
    refusals: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    def stop(self, error: RunStopped) -> RunStopped:
        """Note that the run stops; returns the error, to be raised."""
        self.stopped = self.stopped or str(error)
        return error

    def check(self) -> None:
        """See whether another call may be made.

        Raises:
            BudgetUsedUp: If nothing is left.
            RunStopped: If the run stops.
        """
        if self.stopped:
            raise RunStopped(self.stopped, "Run the same command again; it goes on where it stopped.")
        if self.limit is not None and self.spent >= self.limit:
            spent, limit = (money_text(one, self.prices.currency) for one in (self.spent, self.limit))
            raise self.stop(
                BudgetUsedUp(
                    f"The run's budget is used up: {spent} of {limit}.",
                    "Raise `money` and run the same command again; it goes on where it stopped.",
                )
            )

    def line(self, role: RoleName) -> Line:
        """Whether calls of a role get through."""
        return self.lines.setdefault(role, Line(self.give_up_after))

    def settle(self) -> None:
        """Prompts that are refused at the end of a stage, with no outage, are refused for what they are."""
        for line in self.lines.values():
            line.settle()

    def answered(self, entry: Entry) -> float:
        """Note a call that was answered; returns what it cost, as far as that is known."""
        cost = self.cost(entry)
        self.spent += cost
        return cost

    def cost(self, entry: Entry) -> float:
        """What something cost, as far as that is known; where a cache has no price of its own, at most that much."""
        price = self.prices.price(entry.model) if entry.billed else None
        return price.at_most(entry) if price else 0.0


@dataclass
class Calls:
    """The calls of one sample of a stage.

    Attributes:
        settings: The run's settings.
        fence: What texts are quoted with.
        standing: How the run stands.
        stage: The stage.
        sample: The sample.
        scope: Under whose name answers are kept, where other samples are to find them, too; empty: the sample's.
        usage: What its calls used, by role.
        money: What they cost, as far as it is known.
        counts: Calls that failed, and replies that were repaired or invalid, by role and outcome.
        refused: Prompts that were refused, by role, and why.
    """

    settings: StagesSettings
    fence: Fence
    standing: Standing
    stage: str
    sample: str
    scope: str = field(default="", kw_only=True)
    usage: dict[RoleName, Usage] = field(default_factory=dict)
    money: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    refused: dict[tuple[RoleName, str], str] = field(default_factory=dict)

    async def generate(
        self,
        role: RoleName,
        messages: list[ChatMessage],
        place: str,
        *,
        tools: Sequence[ToolInfo] = (),
        config: GenerateConfig | None = None,
        several: bool = False,
    ) -> ModelOutput:
        """What a model gives.

        Args:
            role: Who is asked.
            messages: The conversation.
            place: What the call is for; unique within the sample.
            tools: Tools that it is told of.
            config: Generation settings over those of the role.
            several: Whether several choices are asked for, so that a refusal may be of their number.

        Raises:
            CallRefused: If the provider would not take this call.
            CallLost: If it failed in passing and all retries did.
            RunStopped: If the run's money is used up, the provider refuses the key or the model, or many calls in a row
                failed.
        """
        self.standing.check()
        model = get_model(role=role, required=True)
        where = f"{self.stage}/{self.scope or self.sample}/{place}"
        prompt = digest([[one.role, one.text] for one in messages])
        if where in self.standing.refusals and prompt in self.standing.line(role).own:  # the sample is made again
            raise self._refused(role, prompt, *self.standing.refusals[where])
        scopes = {"place": where, "role": role}
        policy = CachePolicy(expiry=None, per_epoch=False, scopes=scopes)
        try:
            with watched(model.api) as reached:
                output = await model.generate(
                    messages, tools=list(tools), config=config or GenerateConfig(), cache=policy
                )
        except LimitExceededError:
            raise
        except Exception as error:  # noqa: BLE001 - providers raise errors of their own, of any class
            raise self._failed(role, cause_of(error), model.api, several, prompt, where) from None
        used_now = used(output.usage)
        self.usage[role] = self.usage.get(role, Usage()) + used_now
        self.money += self.standing.answered(self.entry(role, used_now))
        if reached():
            self.standing.line(role).got_through()
        if output.empty:
            self.count(role, "empty call")
            raise CallRefused("the provider gave no choice")
        return output

    async def served(self, role: RoleName) -> bool:
        """Whether a role answers anything at all: a call that nobody could have a reason to refuse tells."""
        self.standing.check()
        asked: list[ChatMessage] = [ChatMessageUser(content="Reply with the word OK.")]
        try:
            output = await get_model(role=role, required=True).generate(asked, cache=False)
        except LimitExceededError:
            raise
        except Exception:  # noqa: BLE001 - providers raise errors of their own, of any class
            return False
        used_now = used(output.usage)
        self.usage[role] = self.usage.get(role, Usage()) + used_now
        self.money += self.standing.answered(self.entry(role, used_now))
        self.standing.line(role).got_through()
        return True

    def unsure(self) -> CallLost | None:
        """What to raise where a prompt was refused and nothing has been answered since: it may be an outage."""
        for (role, prompt), why in self.refused.items():
            if prompt in self.standing.line(role).refused:
                self.standing.refused_first[self.stage, self.sample] = role
                return CallLost(f"A call of the {role} was refused: {why}", "Run the same command again.", role)
        return None

    def _failed(
        self, role: RoleName, error: BaseException, api: Any, several: bool, prompt: str, where: str
    ) -> CounterfactualError:
        """What to raise for a call that failed for good."""
        secrets = tuple(key for key in (api.api_key, api.initial_api_key) if isinstance(key, str) and key)
        why, fault, line = reason_of(error, secrets), fault_of(error, api), self.standing.line(role)
        if fault is Fault.ACCOUNT:
            told = unusable(error, f"the {role}", secrets)
            return self.standing.stop(RunStopped(told.problem, told.remedy))
        if several and fault is Fault.PROMPT and status_of(error) in CHOICES_REFUSED:
            line.several_refused(prompt)
            return CallRefused(why, status_of(error))
        if line.lost(fault, prompt):
            return self.standing.stop(
                RunStopped(
                    f"{line.in_a_row} calls of the {role} in a row failed for good, the last with: {why}",
                    "Wait until the provider answers, and run the same command again; it goes on where it stopped.",
                )
            )
        if fault is Fault.PROMPT:
            self.standing.refusals[where] = why, status_of(error)
            if line.answered:
                return self._refused(role, prompt, why, status_of(error))
        self.count(role, "failed call")
        if fault is Fault.PROMPT:
            self.standing.refused_first[self.stage, self.sample] = role
        return CallLost(f"A call of the {role} failed: {why}", "Run the same command again; it makes it again.", role)

    def _refused(self, role: RoleName, prompt: str, why: str, status: int | None) -> CallRefused:
        self.count(role, "refused call")
        self.refused[role, prompt] = why
        return CallRefused(why, status)

    def entry(self, role: RoleName, usage: Usage) -> Entry:
        """A line of the ledger."""
        playing = self.settings.playing(role)
        return Entry(stage=self.stage, role=role, model=playing.model, usage=usage, billed=playing.billed)

    def count(self, role: RoleName, what: str) -> None:
        """Count something that happened to a role."""
        name = f"{role}: {what}"
        self.counts[name] = self.counts.get(name, 0) + 1

    @property
    def tokens(self) -> int:
        """Tokens of all roles."""
        return sum(one.tokens for one in self.usage.values())

    def account(self) -> dict[str, Any]:
        """What is kept of it in the log."""
        entries = [self.entry(role, usage).model_dump(mode="json") for role, usage in self.usage.items()]
        return {"used": entries, "counts": dict(self.counts)}
