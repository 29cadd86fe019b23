"""Small investigations and claims to test with."""

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Edit, Operation, Replace
from firsthand.counterfactual.investigation import Experiment, Investigation, Screened, Stage
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate

WORDS = ("alpha", "bravo", "carol", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet")
BEHAVIOUR = Pattern(question="Does the response apologise?", pattern="sorry", flags="i")


def prompt(text: str = " ".join(WORDS), source: str = "made", cluster: str = "") -> Prompt:
    turns = (Turn(role="system", content="Be brief."), Turn(role="user", content=text))
    return Prompt(turns=turns, source=source, cluster=cluster)


def deleted(word: str, turn: int = 1) -> Edit:
    return edit(Replace(turn=turn, find=word))


def edit(*operations: Operation) -> Edit:
    return Edit(operations=operations)


def rate(yes: int, valid: int = 30, invalid: int = 0) -> Rate:
    return Rate(yes=yes, no=valid - yes, invalid=invalid)


def experiment(
    number: int, change: Edit | str, counts: Rate, stage: Stage = "confirmed", batch: str = "", error: str | None = None
) -> Experiment:
    made = deleted(change) if isinstance(change, str) else change
    return Experiment(
        number=number, edit=made, purpose="", stage=stage, batch=batch or f"{stage}.{number}", rate=counts, error=error
    )


def investigation(*experiments: Experiment, baseline: Rate | None = None, start: Prompt | None = None) -> Investigation:
    screened = Screened(
        prompt=start or prompt(),
        rating=4,
        behaviour=BEHAVIOUR,
        summary="It apologises.",
        question="Why does the model apologise?",
        own_question="Why did you apologise?",
        rate=rate(30),
    )
    return Investigation(
        target="tiny@1",
        investigator="nobody",
        screened=screened,
        baseline=baseline or rate(27),
        experiments=experiments,
    )


def claim(number: int = 0, label: bool = True, cluster: str = "", **changes: object) -> Claim:
    """One of many different claims."""
    start = prompt(f"{WORDS[0]} {WORDS[1]} number {number}", cluster=cluster or f"c{number}")
    made = Claim(
        investigation=f"i{number}",
        target="tiny@1",
        prompt=start,
        edit=deleted(WORDS[0]),
        experiment=1,
        behaviour=BEHAVIOUR,
        baseline=rate(27),
        rate=rate(1 if label else 26),
        intervention="A word is deleted.",
        label=label,
        concreteness=3,
        reproduced=True,
        single_factor=True,
        cluster=start.cluster,
    )
    return made.model_copy(update=changes)
