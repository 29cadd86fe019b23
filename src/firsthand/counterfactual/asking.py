"""Batches that are wanted: taken from the store, else asked of the target and kept before anything is made of them.

A batch some of whose calls failed is asked for once more by each later run; within a run it is taken as it is.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, TypeAlias

from firsthand.counterfactual.behaviours import Asked, Behaviour, Verdict, judged
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response, Target
from firsthand.counterfactual.store import Spent, Store, behaviour_key
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

AT_ONCE: Final = 256
"""Responses of one call to the target: many prompts side by side, and what a kill loses at most."""

Batch: TypeAlias = tuple[Behaviour, Sequence[Response]]
Judge: TypeAlias = Callable[[Sequence[Batch]], list[list[Verdict]]]
"""Judges batches side by side: one verdict for each response of each."""


def by_program(batches: Sequence[Batch]) -> list[list[Verdict]]:
    """Verdicts on behaviours that a program can judge.

    Raises:
        CounterfactualError: If a behaviour needs a model, or a program fails.
    """
    found = []
    for behaviour, responses in batches:
        if isinstance(behaviour, Asked):
            raise CounterfactualError(
                f"No program can answer {behaviour.question!r}.",
                "Name a model that classifies, or a behaviour that is a pattern, a call or a function.",
            )
        found.append([judged(behaviour, response) for response in responses])
    return found


@dataclass(frozen=True)
class Budget:
    """What a folder may cost, all runs in it together.

    Attributes:
        responses: Most responses. ``None``: any number.
        tokens: Most generated tokens. ``None``: any number.
        longest: Most tokens of one response. With it no call is made that could exceed ``tokens``; without it the last
            one may.
        seconds: Time by the clock of one run; no call begins after it.
        money: Most money, in the unit of whatever counts it; no call begins after it.
    """

    responses: int | None = None
    tokens: int | None = None
    longest: int | None = None
    seconds: float | None = None
    money: float | None = None

    def allowed(self, requests: Sequence[Request], spent: Spent, seconds: float = 0.0, money: float = 0.0) -> int:
        """How many of the first requests may be asked, after so much has been spent of everything."""
        if (self.seconds is not None and seconds >= self.seconds) or (self.money is not None and money >= self.money):
            return 0
        count, responses = 0, spent.responses
        tokens = float(spent.tokens)
        for request in requests:
            responses += request.samples
            if self.responses is not None and responses > self.responses:
                break
            if self.tokens is not None:
                if tokens >= self.tokens:
                    break
                tokens += request.samples * (self.longest or 0)
                if tokens > self.tokens:
                    break
            count += 1
        return count

    @property
    def words(self) -> str:
        """The budget, for a reader."""
        limits = [f"{self.responses:,} responses"] if self.responses is not None else []
        limits += [f"{self.tokens:,} tokens"] if self.tokens is not None else []
        limits += [f"{self.seconds:,.0f} seconds"] if self.seconds is not None else []
        limits += [f"{self.money:,.2f} in money"] if self.money is not None else []
        return " and ".join(limits) or "no limit"


class Bench:
    """Where batches come from and are judged: the store, else the target and the judge.

    Args:
        target: Who answers.
        judge: Who judges.
        store: Where everything is kept.
        budget: What may be spent.
        at_once: Responses of one call.
        paid: Says what has been paid in this folder so far, for a budget of money.
        clock: Says what time it is, in seconds.

    Attributes:
        store: Where everything is kept.
        budget: What may be spent.
        identity: Identity of the target.
    """

    def __init__(
        self,
        target: Target,
        judge: Judge,
        store: Store,
        budget: Budget | None = None,
        at_once: int = AT_ONCE,
        *,
        paid: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.store, self.budget, self.identity = store, budget or Budget(), target.identity
        if self.budget.money is not None and paid is None:
            raise CounterfactualError(
                "Nobody says what this target costs, so a budget of money cannot be kept.", "Limit responses or tokens."
            )
        self._target, self._judge, self._at_once, self._paid, self._clock = target, judge, at_once, paid, clock
        self._begun = clock()
        self._known: set[str] = set()

    def key(self, request: Request) -> str:
        """Under which the batch of a request is kept."""
        return request.key(self.identity)

    def has(self, key: str) -> bool:
        """Whether a batch has been drawn, and this run need not ask for any of it again."""
        if key not in self._known and self.store.whole(key):
            self._known.add(key)
        return key in self._known

    def ask(self, wanted: Mapping[str, Request]) -> list[str]:
        """Ask for the first of some requests in one call, and keep what comes.

        Args:
            wanted: Requests that have not been answered, by their keys; looked at in order, as far as one call goes.

        Returns:
            Keys of those that were answered; none if the budget allows none. Batches some of whose calls failed in an
            earlier run, and that the budget does not allow to be asked for again, are taken as they are.
        """
        call: dict[str, Request] = {}
        room = self._at_once
        for key, request in wanted.items():
            room -= request.samples
            if room < 0 and call:
                break
            call[key] = request
        seconds, money = self._clock() - self._begun, self._paid() if self._paid is not None else 0.0
        allowed = self.budget.allowed(list(call.values()), self.store.spent(), seconds, money)
        call = dict(islice(call.items(), allowed))
        if not call:
            held = [key for key in wanted if self.store.has(key)]
            self._known.update(held)
            return held
        answers = self._target.respond(list(call.values()))
        if len(answers) != len(call):
            raise CounterfactualError(
                f"The target was asked for {len(call)} batches and gave {len(answers)}.", "Mend the target."
            )
        for request, responses in zip(call.values(), answers, strict=True):
            self.store.keep_responses(request, self.identity, responses)
        self._known |= call.keys()
        return list(call)

    def responses(self, request: Request) -> list[Response]:
        """The responses to a request that has been answered."""
        found = self.store.responses(request, self.identity)
        if found is None:
            raise CounterfactualError(f"The batch {request.batch} has not been drawn.", "Ask for it first.")
        return found

    def rates(self, wanted: Sequence[tuple[Behaviour, Request]]) -> list[Rate]:
        """Counts of batches that have been answered; those that have not been judged are judged side by side."""
        held = [self.store.verdicts(behaviour, request, self.identity) for behaviour, request in wanted]
        missing = {
            (behaviour_key(behaviour), request.key(self.identity)): (behaviour, request)
            for (behaviour, request), verdicts in zip(wanted, held, strict=True)
            if verdicts is None
        }
        judged_now = self._judge([(b, self.responses(r)) for b, r in missing.values()]) if missing else []
        for (behaviour, request), verdicts in zip(missing.values(), judged_now, strict=True):
            self.store.keep_verdicts(behaviour, request, self.identity, verdicts)
        fresh = dict(zip(missing, judged_now, strict=True))
        return [
            Rate.of(fresh[behaviour_key(b), r.key(self.identity)] if verdicts is None else verdicts)
            for (b, r), verdicts in zip(wanted, held, strict=True)
        ]


def sample(bench: Bench, requests: Sequence[Request], stage: str, progress: Progress) -> list[list[Response] | None]:
    """Responses to some requests, from the store or drawn now.

    Args:
        bench: Where batches come from.
        requests: What is wanted.
        stage: What this is called where progress is shown.
        progress: Who is told.

    Returns:
        For each request its responses; ``None`` where the budget did not allow for them.
    """
    progress.start(stage, len(requests))
    keys = [bench.key(request) for request in requests]
    open_ = {key: request for key, request in zip(keys, requests, strict=True) if not bench.has(key)}
    for _ in range(len(requests) - len(open_)):
        progress.step()
    while open_ and (done := bench.ask(open_)):
        for key in done:
            del open_[key]
            progress.step()
    return [bench.responses(request) if bench.has(key) else None for key, request in zip(keys, requests, strict=True)]
