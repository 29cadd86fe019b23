"""Any model of Inspect as the target of an investigation.

A batch of responses is asked for in as few calls as the provider allows (:mod:`.choices`): that is seen by what comes,
and never assumed. A call that fails for good gives ``error`` responses, which are invalid; what a provider withholds is
``filter``; a prompt that is too long is an ``error``. Every response that has arrived is written down before it is
used, if a journal is given.
"""

import asyncio
import contextvars
import queue
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from inspect_ai.model import GenerateConfig, Model

from firsthand.counterfactual.inspecting.choices import CHOICES_REFUSED, PerCall, Refusal, drawn
from firsthand.counterfactual.inspecting.converting import concerns_all, messages_of, responses_of, tools_of
from firsthand.counterfactual.inspecting.failing import Fault, Line, cause_of, fault_of, reason_of, status_of, unusable
from firsthand.counterfactual.inspecting.journal import Journal
from firsthand.counterfactual.inspecting.ledger import Ledger, used
from firsthand.counterfactual.inspecting.looping import Loop
from firsthand.counterfactual.inspecting.settings import address_of, model_of, settings_of
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.usage import Entry
from firsthand.errors import CounterfactualError, FirsthandError
from firsthand.trials.canonical import digest

Kept: TypeAlias = Callable[[Request, list[Response]], None]
"""Is given each batch as soon as it is complete."""


_OWN: Final = ("firsthand/", "mockllm/")
"""Models of this process, which nobody charges for."""


class InspectTarget:
    """A target that answers through Inspect. Use as a context manager.

    Args:
        model: Inspect's name of the model, such as ``openai/gpt-5-mini`` or ``firsthand/smollm2``, or a model. A model
            must not be in use elsewhere, since its client belongs to one event loop.
        sampling: How responses are drawn.
        role: What the model is asked as, for the ledger.
        max_connections: Most calls at a time.
        max_retries: How often a call that failed in passing (429, 5xx, timeouts, cut connections) is repeated.
        timeout: Seconds after which a call is not repeated any more.
        attempt_timeout: Seconds after which one attempt is given up.
        per_call: Most responses asked for in one call; by default as many as the batch wants.
        give_up_after: Calls in a row that fail for good before the run is stopped, so that an outage does not become
            thousands of invalid responses; a prompt that is refused counts once. ``None``: never.
        ledger: Where usage is noted, by the first word of a request's batch, the role and the model.
        billed: Whether anybody charges for the calls; by default for all but those of this process.
        journal: File for responses of batches that are not complete yet.
        kept: Told of each complete batch (see :meth:`respond`).
        revision: Says which weights a name stands for, where the name does not.
        config: Further settings of requests; they are part of the identity.
        model_args: Arguments of the provider, such as ``base_url``.

    Attributes:
        ledger: Where usage is noted.
        failed: Calls that failed for good.

    Raises:
        CounterfactualError: If the model cannot be had (no key, no such provider), or does not take ``top_k``.
    """

    def __init__(
        self,
        model: str | Model,
        sampling: Sampling,
        *,
        role: str = "target",
        max_connections: int = 16,
        max_retries: int = 6,
        timeout: int = 1800,
        attempt_timeout: int = 600,
        per_call: int | None = None,
        give_up_after: int | None = 25,
        ledger: Ledger | None = None,
        billed: bool | None = None,
        journal: Path | None = None,
        kept: Kept | None = None,
        revision: str = "",
        config: GenerateConfig | None = None,
        model_args: Mapping[str, Any] | None = None,
    ) -> None:
        self.ledger, self.failed = ledger or Ledger(), 0
        self._model = model_of(model, model_args or {})
        self._sampling, self._role, self._revision = sampling, role, revision
        self._name = str(self._model)
        limits = GenerateConfig(
            max_connections=max_connections, max_retries=max_retries, timeout=timeout, attempt_timeout=attempt_timeout
        )
        self._own = (config or GenerateConfig()).model_dump(mode="json", exclude_none=True)
        self._config = settings_of(self._name, sampling).merge(config or GenerateConfig()).merge(limits)
        self._secrets = tuple(
            key for key in (self._model.api.api_key, self._model.api.initial_api_key) if isinstance(key, str) and key
        )
        self._at_once, self._per_call, self._line = max_connections, PerCall(per_call), Line(give_up_after)
        self._journal, self._kept = Journal(journal), kept
        self._billed = not self._name.startswith(_OWN) if billed is None else billed
        self._identity: str | None = None
        self._loop = Loop(f"target {self._name}")

    def __enter__(self) -> Self:
        """The target itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it, whatever happened."""
        self.close()

    def close(self) -> None:
        """Close the model's connections."""

        async def closed() -> None:
            await self._model.api.aclose()

        self._loop.submit(closed()).result()
        self._loop.close()

    @property
    def identity(self) -> str:
        """Model, address, weights as far as they are known, sampling and further settings."""
        if self._identity is None:
            api = self._model.api
            weights = getattr(api, "identity", None) or address_of(api.base_url)
            what = [self._name, weights, self._revision, self._own]
            sampling = self._sampling.model_dump(mode="json", exclude={"samples"})
            self._identity = f"{self._name} {digest([what, sampling])[:16]}"
        return self._identity

    def respond(self, requests: Sequence[Request], kept: Kept | None = None) -> list[list[Response]]:
        """Responses to each request, exactly as many as it wants.

        Args:
            requests: The requests, which are answered side by side.
            kept: Called in this thread with each batch as soon as it is complete; by default what the target was made
                with. Batches that are complete when something stops the run are handed over too.

        Raises:
            CounterfactualError: If the provider refuses the key or the model, or so many calls in a row failed that
                going on makes no sense.
        """
        complete: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        found: list[list[Response]] = [[] for _ in requests]
        work = self._loop.submit(self._all(requests, found, complete))
        work.add_done_callback(lambda _: complete.put(None))
        tell = kept or self._kept

        def hand_over(number: int) -> None:
            if tell is not None:
                tell(requests[number], found[number])
            self._journal.done(requests[number].key(self.identity))

        try:
            while (number := complete.get()) is not None:
                hand_over(number)
        except BaseException:
            _stopped(work)
            while not complete.empty():
                if (number := complete.get()) is not None:
                    hand_over(number)
            raise
        try:
            work.result()
        except BaseExceptionGroup as group:
            raise _first(group) from group
        return found

    async def _all(
        self, requests: Sequence[Request], found: list[list[Response]], complete: "queue.SimpleQueue[int | None]"
    ) -> None:
        limit = asyncio.Semaphore(self._at_once)

        async def answered(number: int) -> None:
            found[number] = await self._answer(requests[number], limit)
            complete.put(number)

        async with asyncio.TaskGroup() as group:
            for number in range(len(requests)):
                # A context of its own: Inspect notes every call in the transcript of the context, and calls of a long
                # run would pile up there.
                group.create_task(answered(number), context=contextvars.Context())

    async def _answer(self, request: Request, limit: asyncio.Semaphore) -> list[Response]:
        """All responses of one batch: what has arrived before, and what is missing of it."""
        key = request.key(self.identity)

        async def call(first: int, size: int) -> list[Response] | Refusal:
            return await self._call(request, key, first, size, limit)

        return await drawn(call, request.samples, self._per_call, self._journal.held(key))

    async def _call(
        self, request: Request, key: str, first: int, size: int, limit: asyncio.Semaphore
    ) -> list[Response] | Refusal:
        """At least one response, from one call; where that fails for good, as many failures as were wanted."""
        try:
            messages, tools = messages_of(request.prompt), tools_of(request.prompt)
        except CounterfactualError as error:  # the prompt's own fault, so others go on
            return [Response(text=error.problem, ended="error")] * size
        seed = int(digest([self._sampling.seed, request.prompt.id, request.batch, first])[:7], 16)
        try:
            async with limit:
                size = min(size, self._per_call.most or size)  # what was learnt while this call waited
                settings = {"num_choices": size if size > 1 else None, "seed": seed}
                config = self._config.model_copy(update=settings)
                output = await self._model.generate(messages, tools, config=config, cache=False)
        except CounterfactualError:
            raise
        except Exception as error:  # noqa: BLE001  every provider has errors of its own; each becomes a recorded one
            return self._went_wrong(cause_of(error), request.prompt.id, size)
        self.ledger.note(
            Entry(
                stage=request.batch.partition(".")[0] or self._role,
                role=self._role,
                model=self._name,
                usage=used(output.usage),
                billed=self._billed,
            )
        )
        responses = responses_of(output, size)
        if not responses:
            return self._failures(f"{self._name} returned no choice.", Fault.PASSING, request.prompt.id, size)
        self._line.got_through()
        if len(responses) == 1 < size and not concerns_all(output):
            self._per_call.most = 1  # it gives one choice a call, whatever is asked for
        self._journal.note(key, first, responses)
        return responses

    def _went_wrong(self, error: BaseException, prompt: str, size: int) -> list[Response] | Refusal:
        fault = fault_of(error, self._model.api)
        if fault is Fault.ACCOUNT:
            raise unusable(error, self._name, self._secrets) from None
        if isinstance(error, FirsthandError) and fault is Fault.PROMPT:  # the engine cannot take it, so others go on
            return [Response(text=error.problem, ended="error")] * size
        why = reason_of(error, self._secrets)
        if size > 1 and status_of(error) in CHOICES_REFUSED:
            self._line.several_refused(prompt)
            return Refusal(why)  # perhaps of several choices; fewer tell
        return self._failures(why, fault, prompt, size)

    def _failures(self, why: str, fault: Fault, prompt: str, size: int) -> list[Response]:
        self.failed += 1
        if self._line.lost(fault, prompt):
            raise CounterfactualError(
                f"{self._line.in_a_row} calls of {self._name} in a row failed for good; the last one: {why}",
                "See what is wrong with the provider, and run the same command again: what has arrived is kept.",
            )
        return [Response(text=why, ended="error")] * size


def _stopped(work: "Future[None]") -> None:
    work.cancel()
    with suppress(BaseException):  # it was cancelled, and something else is being raised
        work.result(timeout=5)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that stopped a group of tasks: ours, if one of them is."""
    leaves: list[BaseException] = []

    def walk(one: BaseException) -> None:
        if isinstance(one, BaseExceptionGroup):
            for inner in one.exceptions:
                walk(inner)
        else:
            leaves.append(one)

    walk(group)
    return next((leaf for leaf in leaves if isinstance(leaf, CounterfactualError)), leaves[0])
