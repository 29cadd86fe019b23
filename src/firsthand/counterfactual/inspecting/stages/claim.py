"""Stage 7: measured edits become claims, in words that do not know what the edits did, and three filters judge them."""

from collections.abc import Iterator
from itertools import product
from typing import Annotated, Any, Final

from inspect_ai import Task
from inspect_ai.solver import TaskState
from pydantic import Field

from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.edits import Edit, Operation, edited
from firsthand.counterfactual.inspecting.stages.asking import ask
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond, shown_prompt
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.quoting import quoted
from firsthand.counterfactual.inspecting.stages.showing import shown_changes
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, opened, sample_of, staged
from firsthand.counterfactual.investigation import Experiment, Report, Screened
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request
from firsthand.errors import CounterfactualError

TRUE_FROM: Final = 0.5
FALSE_TO: Final = 0.15
OF_EACH: Final = 2
"""A claim is true from a measured change of 50 points and false up to 15; at most two of each from one investigation
(arXiv 2608.16747, sections 2.2 and B.3)."""


class Description(Part):
    """A describer's reply."""

    description: str = Field(
        description="What was changed, as an instruction that somebody else could carry out on the first prompt.",
        min_length=1,
        max_length=2_000,
    )
    single_factor: bool = Field(
        description="Whether one thing was changed: one factor, however many places it stands in."
    )
    others: str = Field(description="What else was changed, if anything; else empty.", max_length=2_000)


class Concreteness(Part):
    """A judge's reply on how concrete a mechanism is."""

    reason: str = Field(description="One or two sentences.", max_length=2_000)
    concreteness: int = Field(description="1 to 4, by the scale.", ge=1, le=4)


class Implementation(Part):
    """A description made into an edit."""

    operations: Annotated[tuple[Operation, ...], Field(min_length=1, max_length=40)]


_DESCRIBE: Final = """\
You are shown two versions of a prompt for a language model, and their difference. Describe what was changed from the
first to the second, by its intent and concretely enough that somebody else could make the same change on the first
version without seeing the second: "The names of the two parameters were replaced by neutral letters", not a list of
character edits, and not "the prompt was modified". You do not know what the prompt is for, nor what models answer to
either version; do not guess at effects or purposes. Say whether one factor was changed. A change of wording in
several places that belongs to one factor is one; a second, independent difference, however small, is not."""

_CONCRETENESS: Final = """\
You rate how concrete a proposed mechanism is: does it say which feature of a prompt drives which behaviour, and why the
one would lead to the other?
1: a loose association ("the overall setting makes this answer more probable"), which no reader could have foreseen.
2: a feature is named, but how it should lead to the behaviour is left open, or the feature is a bundle.
3: one feature and a plausible route from it to the behaviour; a reader who knows it could predict other cases.
4: as 3, and unambiguous: it says what would happen under which change, and one would bet on it."""

_IMPLEMENT: Final = """\
You are given a prompt for a language model, turn by turn, and a description of a change. Make exactly this change,
and no other, as operations on its turns. "replace" replaces the text `find`, which must stand in the turn exactly as
you give it (once, or say `which`: an index from 0, or "all"), by `text`; "rewrite" gives a turn another `content`;
"drop" leaves a turn out; "insert" puts a turn of `role` with `content` before turn `turn`. Turns are numbered from 0,
each operation counting on what the ones before it left. Leave out fields that an operation does not have."""


def build(run: str) -> Task:
    """Claims from reports that the judges accept (arXiv 2608.16747, sections 2.2, B.3 and B.4).

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "claim", samples(opening), _work)


def samples(run: Run) -> list[Any]:
    """One sample for each claim."""
    made: list[Any] = []
    for name, found in left_by(run.folder, "verify").items():
        if found["status"] != "accepted":
            continue
        metadata = found["metadata"]
        prompt = Screened.model_validate(metadata["screened"]).prompt
        for experiment, label, hypothesis in chosen(metadata):
            made.append(
                sample_of(
                    prompt,
                    f"{name}.{experiment.number}",
                    investigation=name,
                    screened=metadata["screened"],
                    baseline=metadata["baseline"],
                    experiment=experiment.model_dump(mode="json"),
                    label=label,
                    hypothesis=hypothesis,
                )
            )
    return made


def chosen(metadata: dict[str, Any]) -> Iterator[tuple[Experiment, bool, str]]:
    """The experiments that make claims, with their labels and the hypothesis that they were cited for.

    Only confirmed ones are asked, in the order in which the report cites them: not by how large their change came out.
    """
    baseline = Rate.model_validate(metadata["baseline"])
    report = Report.model_validate(metadata["report"])
    cited = {n: one.hypothesis for one in reversed((*report.causes, *report.refuted)) for n in one.experiments}
    order = list(dict.fromkeys(n for one in (*report.causes, *report.refuted) for n in one.experiments))
    confirmed = {
        metadata["of"][str(one["number"])]: Experiment.model_validate(one)
        for one in metadata["experiments"]
        if one["stage"] == "confirmed"
    }
    taken = {True: 0, False: 0}
    for number in order:
        if number not in confirmed:
            continue
        label = label_of(baseline, confirmed[number].rate)
        if label is not None and taken[label] < OF_EACH:
            taken[label] += 1
            yield confirmed[number], label, cited[number]


def label_of(before: Rate, after: Rate) -> bool | None:
    """Whether the claim is true; ``None`` where the change makes no claim, or invalid responses could decide it."""
    if before.share is None or after.share is None:
        return None
    pairs = product((before.share, *before.bounds), (after.share, *after.bounds))
    found = {True if abs(b - a) >= TRUE_FROM else False if abs(b - a) <= FALSE_TO else None for a, b in pairs}
    return found.pop() if len(found) == 1 else None


def reproduces(label: bool, before: Rate, measured: Rate, again: Rate) -> bool | None:
    """Whether another implementation had the effect that the label says, by the claim's own threshold of 30 points."""
    if before.share is None or measured.share is None or again.share is None:
        return None
    first, second = measured.share - before.share, again.share - before.share
    if not label:
        return abs(second) < POINTS / 100
    return abs(second) >= POINTS / 100 and (first > 0) == (second > 0)


async def _work(calls: Calls, state: TaskState) -> Found:
    metadata = state.metadata
    screened = Screened.model_validate(metadata["screened"])
    experiment = Experiment.model_validate(metadata["experiment"])
    baseline = Rate.model_validate(metadata["baseline"])
    after = edited(screened.prompt, experiment.edit)
    described = await ask(calls, "describer", _DESCRIBE, _two(calls, screened.prompt, after), Description, "describe")
    if described.value is None:
        return {"status": "undescribed", "problem": described.problem, "claim": None}
    words = described.value
    concrete = await ask(
        calls, "judge", _CONCRETENESS, _mechanism(calls, screened, words, metadata), Concreteness, "concreteness"
    )
    again, why = await _again(calls, screened, experiment, words.description)
    claim = Claim(
        investigation=metadata["investigation"],
        target=calls.settings.target,
        prompt=screened.prompt,
        edit=experiment.edit,
        experiment=experiment.number,
        behaviour=screened.behaviour,
        baseline=baseline,
        rate=experiment.rate,
        intervention=words.description,
        label=metadata["label"],
        concreteness=concrete.value.concreteness if concrete.value else None,
        reproduced=None if again is None else reproduces(metadata["label"], baseline, experiment.rate, again[1]),
        single_factor=words.single_factor,
        cluster=screened.prompt.cluster or screened.prompt.id,
    )
    return {
        "status": "described",
        "claim": claim.model_dump(mode="json"),
        "others": words.others,
        "reproduction": None
        if again is None
        else {"edit": again[0].model_dump(mode="json"), "rate": again[1].model_dump(mode="json")},
        "problem": "; ".join(one for one in (concrete.problem, why) if one),
    }


def _two(calls: Calls, before: Prompt, after: Prompt) -> str:
    return (
        f"The first version:\n{shown_prompt(before, calls)}\n\nThe second version:\n{shown_prompt(after, calls)}\n\n"
        f"Their difference:\n{shown_changes(before, after, calls, 'difference')}"
    )


def _mechanism(calls: Calls, screened: Screened, words: Description, metadata: dict[str, Any]) -> str:
    text = (
        f"Behaviour, as a question about a response: {screened.behaviour.question}\n"
        f"Mechanism: {metadata['hypothesis']}\nEdit that bears on it: {words.description}"
    )
    return quoted(text, calls.key, "mechanism", 8_000)


async def _again(
    calls: Calls, screened: Screened, experiment: Experiment, description: str
) -> tuple[tuple[Edit, Rate] | None, str]:
    """Implement the description anew, by a model that has not seen the edit, and measure it; or why it could not be."""
    told = f"The prompt:\n{shown_prompt(screened.prompt, calls)}\n\nThe change:\n"
    material = told + quoted(description, calls.key, "description of the change", 4_000)
    why = ""
    for attempt in range(2):
        correction = f"\n\nAn edit was tried before and could not be made. {why}" if why else ""
        answer = await ask(
            calls, "describer", _IMPLEMENT, material + correction, Implementation, f"implement.{attempt}"
        )
        if answer.value is None:
            return None, f"no implementation: {answer.problem}"
        edit = Edit(operations=answer.value.operations)
        try:
            after = edited(screened.prompt, edit)
        except CounterfactualError as error:
            why = str(error)
            continue
        batch = f"reproduce.{experiment.number}"
        request = Request(prompt=after, batch=batch, samples=calls.settings.sampling.samples)
        responses = await respond(calls, request)
        return (edit, rate_of(await classify(calls, screened.behaviour, responses, batch))), ""
    calls.count("describer", "implementation refused")
    return None, f"no implementation: {why}"
