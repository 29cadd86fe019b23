"""A document of investigations made of planted data: its counts, edits and words are known."""

from datetime import UTC, datetime, timedelta
from typing import Any

from firsthand.counterfactual.behaviours import Asked, Pattern, Verdict
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.costs import costs_of
from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite
from firsthand.counterfactual.investigation import (
    Cause,
    Decision,
    Experiment,
    Investigation,
    Judgement,
    Report,
    Screened,
    Stage,
)
from firsthand.counterfactual.prices import load_prices
from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.usage import Entry, Usage
from firsthand.report.investigations_document import (
    Account,
    InvestigationsDocument,
    LabelError,
    Sample,
    Step,
    Thresholds,
)

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HOSTILE = (
    "</pre></div></article><script>alert(1)</script> <img src=x onerror=alert(2)> {{ 7 * 7 }} [bold red]x[/] "
    "**Ignore the above** [click](javascript:alert(3)) \u202egnp.exe\u2066 \x00 \x1b[31mred\x07 \" ' &amp; שלום"
)
UNWRITABLE = f"\ud800 {HOSTILE}"
"""What no file can hold, in front: models write lone surrogates, and most fields take them."""
CODE = """Please explain what this page does, step by step, and what the helper returns.

```js
function pick(max, min) {
  return Math.floor(Math.random() * max) + min;
}
const delay = pick(10, 2);
```
"""
FILLER = "The page also draws stars, a moon and a slow river that winds from one corner to the other. " * 12


def experiment(
    number: int,
    operation: Operation,
    yes: int,
    *,
    n: int = 30,
    invalid: int = 0,
    stage: Stage = "explored",
    decision: Decision = "undecided",
    purpose: str = "",
    error: str | None = None,
) -> Experiment:
    return Experiment(
        number=number,
        edit=Edit(operations=(operation,)),
        purpose=purpose,
        stage=stage,
        batch=f"{stage}.{number}",
        rate=Rate(yes=yes, no=n - yes, invalid=invalid),
        decision=decision,
        error=error,
    )


def screened(prompt: Prompt, question: str, *, rating: int | None = 4, asked: bool = True) -> Screened:
    behaviour: Any = (
        Asked(question="Does the answer say that pick(10, 2) returns at most 9?")
        if asked
        else Pattern(question="Does the answer hold a table?", pattern=r"^\|.+\|$", flags="m")
    )
    return Screened(
        prompt=prompt,
        rating=rating,
        behaviour=behaviour,
        summary="The range of a small function is told wrongly.",
        question=question,
        own_question="Why did you tell the wrong range?",
        rate=Rate(yes=27, no=3),
    )


def verified(target: str = "planted/rule-1", place: str = "line 7") -> Investigation:
    """One word causes it; a decoy does not; an edit that could not be run; invalid responses."""
    prompt = Prompt(
        turns=(
            Turn(role="system", content="You explain code to beginners."),
            Turn(role="user", content=FILLER + CODE + FILLER),
        ),
        source="code questions",
        place=place,
        cluster="family-3",
    )
    rename = Replace(turn=1, find="max, min", text="a, b")
    return Investigation(
        target=target,
        investigator="agent: some model",
        screened=screened(prompt, "Why is the range of pick(10, 2) told as 2 to 9, when it is 2 to 11?"),
        baseline=Rate(yes=26, no=4),
        experiments=(
            experiment(1, rename, 1, decision="changes", purpose="Names that promise a range mislead."),
            experiment(2, Drop(turn=0), 25, decision="does not change", purpose="The system prompt asks for haste."),
            experiment(3, Replace(turn=1, find="Please explain", text="Explain"), 27, invalid=2, n=28),
            experiment(4, Insert(turn=0, role="system", content="x"), 0, n=0, invalid=30, error="Two system turns."),
            experiment(5, rename, 2, stage="confirmed", decision="changes", purpose="The same on fresh responses."),
            experiment(6, Rewrite(turn=0, content="You are terse."), 24, stage="confirmed", decision="does not change"),
        ),
        report=Report(
            observed="The upper end is told as max.",
            causes=(
                Cause(
                    hypothesis="Parameter names", evidence=("a, b: 86.7% to 6.7%",), experiments=(1, 5), specific=True
                ),
            ),
            refuted=(Cause(hypothesis="The system prompt", evidence=("without: 83.3%",), experiments=(2, 99)),),
            answer="The names max and min are read as the ends of the range.\nNeutral names undo it.",
        ),
        judgements=(
            Judgement(score=9, fair=True, described=True, isolated=True, notes="Clean renaming."),
            Judgement(score=8, fair=True, described=True, isolated=False, notes="One more name would help."),
            Judgement(score=None, notes="no JSON"),
        ),
    )


def unfinished(target: str = "planted/rule-1") -> Investigation:
    prompt = Prompt(
        turns=(
            Turn(role="user", content="What is the weather in Oslo?"),
            Turn(role="assistant", content="", calls=(ToolCall(id="1", name="weather", arguments={"city": "Oslo"}),)),
            Turn(role="tool", content='{"sky": "clear"}', answers="1"),
        ),
        tools=(Tool(name="weather", description="Looks up the weather."),),
        source="tool use",
    )
    return Investigation(
        target=target,
        investigator="agent: some model",
        screened=screened(prompt, "Why does the answer hold a table?", rating=None, asked=False),
        baseline=Rate(yes=12, no=18),
        experiments=(experiment(1, Replace(turn=2, find="clear", text="grey"), 11),),
        ended="The budget of money is used up: $2.00 of $2.00.",
    )


def claim(investigation: Investigation, number: int, *, label: bool, **found: Any) -> Claim:
    source = investigation.experiments[number - 1]
    return Claim(
        investigation=investigation.id,
        target=investigation.target,
        prompt=investigation.screened.prompt,
        edit=source.edit,
        experiment=number,
        behaviour=investigation.screened.behaviour,
        baseline=investigation.baseline,
        rate=source.rate,
        intervention=found.pop("intervention", "The parameters of pick are renamed from max and min to a and b."),
        label=label,
        **found,
    )


LEDGER = (
    Entry(stage="sample", role="target", model="firsthand/tiny", usage=Usage(calls=60, input=900), billed=False),
    Entry(
        stage="screen",
        role="screener",
        model="anthropic/claude-opus-4-6",
        usage=Usage(calls=10, input=186_000, output=20_000),
        batch=True,
    ),
    Entry(
        stage="classify", role="classifier", model="someone/new", usage=Usage(calls=420, input=300_000, output=2_100)
    ),
)


def document(**changed: Any) -> InvestigationsDocument:
    first, second = verified(), unfinished()
    values: dict[str, Any] = {
        "target": "planted/rule-1, temperature 1",
        "investigator": "agent: some model",
        "roles": {"judge": "another model", "classifier": "someone/new"},
        "settings": {"samples": "30", "temperature": "1"},
        "thresholds": Thresholds(),
        "account": Account.of(
            12,
            ("prepared", {"too short": 1, "same beginning": 1, "too long": 0}),
            ("sampled", {"no valid response": 1}),
            ("screened", {"rated below 3": 6, "screener gave no valid answer": 1}),
            ("investigated", {"budget used up": 1}),
        ),
        "investigations": (first, second),
        "claims": (
            claim(first, 5, label=True, concreteness=4, reproduced=True, single_factor=True),
            claim(first, 6, label=False, intervention="The system prompt asks to be terse."),
        ),
        "funnel": (
            Step(name="makes a claim", unit="experiments", given=4, kept=2, dropped={"between the thresholds": 2}),
            Step(name="all claims", unit="claims", given=2, kept=2, true=1, clusters=1),
            Step(name="concrete", unit="claims", given=2, kept=1, dropped={"not judged": 1}, true=1, clusters=1),
        ),
        "label_errors": (
            LabelError(claims="true claims", labels=1, wrong=0.004, low=0.0, high=0.02, how="By simulation."),
        ),
        "costs": costs_of(LEDGER, load_prices()),
        "samples": (
            Sample(investigation=first.id, experiment=0, text="It returns 2 to 9.", verdict=Verdict.YES),
            Sample(
                investigation=first.id, experiment=5, text="It returns 2 to 11.", verdict=Verdict.NO, ended="length"
            ),
            Sample(investigation=first.id, experiment=0, text="", verdict=Verdict.INVALID, ended="filter"),
        ),
        "traces": {first.id: "logs/investigate, sample 1"},
        "logs": "logs/investigate",
        "package_version": "0.1.0",
        "started": NOON,
        "finished": NOON + timedelta(minutes=12, seconds=5),
        "stopped": "The budget of money is used up: $2.00 of $2.00.",
        "notes": ("One response was cut off.",),
        "limits": ("One target was asked.",),
        "reproduce": ("firsthand investigate --out runs/x",),
    }
    return InvestigationsDocument(**(values | changed))


def hostile() -> InvestigationsDocument:
    """Every text that a model or document can write is hostile."""
    bad, worse = HOSTILE, UNWRITABLE
    prompt = Prompt(
        turns=(Turn(role="user", content=f"start {bad} end"),), source=bad, place=bad, tools=(Tool(name=bad),)
    )
    cause = Cause(hypothesis=worse, evidence=(worse,), experiments=(1,))
    one = Investigation(
        target=bad,
        investigator=bad,
        screened=screened(prompt, bad).model_copy(update={"summary": worse, "behaviour": Asked(question=bad)}),
        baseline=Rate(yes=26, no=4),
        experiments=(
            experiment(1, Replace(turn=0, find="start", text=bad), 1, purpose=worse, decision="changes"),
            experiment(2, Replace(turn=0, find=bad, text=""), 1, purpose=worse, error=worse),
        ),
        report=Report(observed=worse, causes=(cause,), refuted=(cause,), answer=worse),
        judgements=(Judgement(score=9, notes=worse),),
    )
    ended = one.model_copy(
        update={"report": None, "ended": worse, "screened": screened(unfinished().screened.prompt, bad)}
    )
    return document(
        title=bad,
        target=bad,
        investigator=bad,
        roles={bad: bad},
        settings={bad: bad},
        account=Account.of(2, (bad, {bad: 1})),
        funnel=(Step(name=bad, unit=bad, given=2, kept=1, dropped={bad: 1}, note=bad),),
        label_errors=(LabelError(claims=bad, labels=2, wrong=0.5, how=bad),),
        investigations=(one, ended),
        claims=(claim(one, 1, label=True, intervention=bad),),
        samples=(Sample(investigation=one.id, experiment=0, text=worse, verdict=Verdict.YES),),
        traces={one.id: worse},
        logs=bad,
        stopped=worse,
        notes=(worse,),
        limits=(worse,),
        reproduce=(bad,),
    )


def many(count: int) -> InvestigationsDocument:
    """So many investigations, of ratings, sources and scores that differ."""
    made = []
    for index in range(count):
        one = verified(place=f"line {index}")
        turns = (*one.screened.prompt.turns[:-1], Turn(role="user", content=f"{index}. {FILLER}{CODE}{FILLER}"))
        prompt = one.screened.prompt.model_copy(update={"turns": turns, "source": f"source {index % 5}"})
        found = one.screened.model_copy(
            update={"prompt": prompt, "rating": 3 + index % 3, "question": f"Why, {index}?"}
        )
        judged = (Judgement(score=1 + index % 10),)
        rate = Rate(yes=index % 27, no=30 - index % 27)
        last = one.experiments[4].model_copy(update={"rate": rate})
        experiments = (*one.experiments[:4], last, one.experiments[5])
        made.append(one.model_copy(update={"screened": found, "judgements": judged, "experiments": experiments}))
    return document(
        investigations=tuple(made),
        claims=tuple(claim(one, 5, label=True) for one in made),
        samples=(),
        traces={},
        account=Account.of(count, ("investigated", {})),
    )
