"""Runs many searches at once: what they want is pooled into few calls of the target.

A search is pure: it yields the batches that it wants, is sent their rates, and returns an investigation. Everything it
wanted is kept before it is told, so a run that was stopped replays the searches from the store and goes on where it
stopped. A search must therefore want the same after the same rates.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from firsthand.counterfactual.asking import Bench
from firsthand.counterfactual.behaviours import Behaviour
from firsthand.counterfactual.investigation import Investigation, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request
from firsthand.errors import CounterfactualError
from firsthand.progress import Progress

Search: TypeAlias = Generator[list[Request], list[Rate], Investigation]

INVESTIGATION = "investigation"
"""Kind under which finished investigations are kept, each under its id."""


@dataclass(eq=False)
class _Running:
    """A search that waits for batches.

    Attributes:
        screened: What it investigates.
        search: The search.
        wants: What it waits for, each with its key.
        steps: Responses that it was told of.
        baseline: Counts on the prompt as it is, as far as it was sent any.
        found: What it returned, or what stands for it if it was stopped.
    """

    screened: Screened
    search: Search
    wants: list[tuple[str, Request]] = field(default_factory=list)
    steps: int = 0
    baseline: Rate | None = None
    found: Investigation | None = None

    @property
    def behaviour(self) -> Behaviour:
        return self.screened.behaviour


def drive(
    searches: Sequence[tuple[Screened, Search]],
    bench: Bench,
    progress: Progress,
    *,
    investigator: str = "without a model",
    most: int = 1,
) -> list[Investigation]:
    """Run searches to their end.

    Args:
        searches: What each investigates, and the search. What the first ones want is asked first, and what room a call
            has left goes to the next, so that a budget finishes as many as it can.
        bench: Where batches come from and are judged; finished investigations are kept in its store.
        progress: Who is told.
        investigator: Who investigates, for investigations that end without a report.
        most: Responses that a search wants at most, from which the time left is told.

    Returns:
        One investigation for each search, in their order. One that could not be finished, because the budget was spent
        or the search failed, has no report, says why in ``ended``, and is not kept: the same command with more budget
        finishes it.
    """
    running = [_Running(screened, search) for screened, search in searches]
    progress.start("investigating", len(running) * most)
    for one in running:
        _advance(one, None, bench, investigator)
        _told(one, 0, most, progress)
    while waiting := [one for one in running if one.found is None]:
        if ready := [one for one in waiting if all(bench.has(key) for key, _ in one.wants)]:
            _feed(ready, bench, investigator, progress, most)
            continue
        if not bench.ask({key: request for one in waiting for key, request in one.wants if not bench.has(key)}):
            for one in waiting:
                one.search.close()
                one.found = _unfinished(
                    one, bench.identity, investigator, f"The budget of {bench.budget.words} was spent."
                )
                _told(one, one.steps, most, progress)
    return [one.found for one in running if one.found is not None]


def _feed(ready: Sequence[_Running], bench: Bench, investigator: str, progress: Progress, most: int) -> None:
    """Send searches what they wait for."""
    rates = iter(bench.rates([(one.behaviour, request) for one in ready for _, request in one.wants]))
    for one in ready:
        own = [next(rates) for _ in one.wants]
        for (_, request), rate in zip(one.wants, own, strict=True):
            if request.prompt.id == one.screened.prompt.id:
                one.baseline = rate if one.baseline is None else one.baseline + rate
        before, one.steps = one.steps, one.steps + sum(request.samples for _, request in one.wants)
        _advance(one, own, bench, investigator)
        _told(one, before, most, progress)


def _advance(one: _Running, rates: list[Rate] | None, bench: Bench, investigator: str) -> None:
    """Let a search go on until it wants something or ends."""
    try:
        wants = next(one.search) if rates is None else one.search.send(rates)
        one.wants = [(bench.key(request), request) for request in wants]
    except StopIteration as ended:
        found = ended.value
        if not isinstance(found, Investigation):
            raise CounterfactualError(
                f"A search of {investigator} returned {type(found).__name__}.", "Let it return an Investigation."
            ) from None
        bench.store.keep_part(INVESTIGATION, found.id, found)
        one.found = found
    except CounterfactualError as error:
        one.found = _unfinished(one, bench.identity, investigator, error.problem)


def _unfinished(one: _Running, target: str, investigator: str, why: str) -> Investigation:
    """What stands for a search that did not end: nothing is claimed of a baseline that was not drawn."""
    nothing = Rate(yes=0, no=0, invalid=one.screened.rate.responses)
    return Investigation(
        target=target, investigator=investigator, screened=one.screened, baseline=one.baseline or nothing, ended=why
    )


def _told(one: _Running, before: int, most: int, progress: Progress) -> None:
    """Tell of the responses that a search was told of; one that has ended counts as if it had wanted all it could."""
    now = most if one.found is not None else min(one.steps, most - 1)
    for _ in range(max(0, now - min(before, most - 1))):
        progress.step()
