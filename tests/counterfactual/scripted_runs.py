"""A target, a search and a whole run without any model."""

import time
from collections.abc import Sequence
from pathlib import Path

from firsthand.counterfactual.asking import Bench, Budget, by_program
from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.driving import Search
from firsthand.counterfactual.edits import Edit, Replace, edited
from firsthand.counterfactual.investigation import Cause, Experiment, Investigation, Report, Screened
from firsthand.counterfactual.investigators import Investigator
from firsthand.counterfactual.library.candidates import Candidate
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.running import RunSettings, investigate
from firsthand.counterfactual.store import Store
from firsthand.progress import Silent
from firsthand.trials.canonical import digest

SAMPLES = 20
WORD = "lantern"
SPARKLES = Pattern(question="Does the response sparkle?", pattern="sparkle")
BEHAVIOURS = (Candidate("sparkling", SPARKLES, "sparkle"),)


def prompt(text: str, place: str = "") -> Prompt:
    """A prompt of one turn."""
    return Prompt(turns=(Turn(role="user", content=text),), source="tests", place=place)


PROMPTS = [prompt(f"Describe the {thing} by the {WORD} at the door.", str(i)) for i, thing in enumerate(("cup", "map"))]
THINGS = "pen key nail coin ring lid cork bell rope fork vase"
PROMPTS += [prompt(f"Describe the {thing} in a drawer.", thing) for thing in THINGS.split()]


class Scripted:
    """Sparkles in 90% of its responses to prompts with a certain word, and in 5% of the others.

    Args:
        log: File that gets a line for each request that is asked, before it is answered.
        seconds: How long a call takes.
    """

    identity = "scripted"

    def __init__(self, log: Path | None = None, seconds: float = 0.0) -> None:
        self.calls: list[list[Request]] = []
        self._log, self._seconds = log, seconds

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        self.calls.append(list(requests))
        if self._log is not None:
            with self._log.open("a") as lines:
                lines.writelines(f"{request.key(self.identity)}\n" for request in requests)
        time.sleep(self._seconds)
        return [[self._one(request, number) for number in range(request.samples)] for request in requests]

    def _one(self, request: Request, number: int) -> Response:
        drawn = int(digest([request.prompt.id, request.batch, number])[:8], 16) / 16**8
        share = 0.9 if WORD in request.prompt.turns[-1].content else 0.05
        return Response(text="It may sparkle." if drawn < share else "It is plain.", tokens=4)


def search(screened: Screened, target: str) -> Search:
    """Leaves out one word after the other, and confirms the one that mattered most."""
    given = screened.prompt
    (baseline,) = yield [Request(prompt=given, batch="baseline", samples=SAMPLES)]
    words = [word for word in dict.fromkeys(given.turns[-1].content.split(" ")) if len(word) > 3]
    edits = [Edit(operations=(Replace(turn=0, find=word, text="thing", which=0),)) for word in words]
    wanted = [edited(given, edit) for edit in edits]
    rates = yield [Request(prompt=p, batch=f"explore.{i}", samples=SAMPLES) for i, p in enumerate(wanted, 1)]
    first = min(range(len(rates)), key=lambda i: rates[i].share or 0.0)
    (again,) = yield [Request(prompt=wanted[first], batch="confirm", samples=SAMPLES)]
    tried = [
        Experiment(number=i, edit=edit, purpose=word, stage="explored", batch=f"explore.{i}", rate=rate)
        for i, (edit, word, rate) in enumerate(zip(edits, words, rates, strict=True), 1)
    ]
    last = Experiment(
        number=len(tried) + 1,
        edit=edits[first],
        purpose=words[first],
        stage="confirmed",
        batch="confirm",
        rate=again,
        decision="changes" if abs((baseline.share or 0) - (again.share or 0)) >= 0.3 else "does not change",
    )
    cause = Cause(hypothesis=f"the word {words[first]}", evidence=("one line",), experiments=(last.number,))
    report = Report(observed=screened.summary, causes=(cause,), answer=f"Because of {words[first]}.")
    return Investigation(
        target=target,
        investigator="scripted",
        screened=screened,
        baseline=baseline,
        experiments=(*tried, last),
        report=report,
    )


INVESTIGATOR = Investigator("scripted", search, 10 * SAMPLES)


def flagged(text: str) -> Screened:
    """A prompt that was flagged for sparkling."""
    return Screened(
        prompt=prompt(text),
        rating=5,
        behaviour=SPARKLES,
        summary="It sparkles.",
        question="Why does it?",
        own_question="Why do you?",
        rate=Rate(yes=18, no=2),
    )


def run(folder: Path, target: Scripted, at_once: int = 60, budget: Budget | None = None) -> object:
    """A whole run of everything above."""
    settings = RunSettings(sampling=Sampling(samples=SAMPLES, max_tokens=8))
    with Store(folder) as store:
        bench = Bench(target, by_program, store, budget, at_once)
        return investigate(PROMPTS, bench, INVESTIGATOR, BEHAVIOURS, settings, Silent())
