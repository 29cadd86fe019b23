"""Stage 7: measured edits become claims, in words that do not know what the edits did, and three filters judge them."""

from typing import Annotated, Any, Final

from inspect_ai import Task
from inspect_ai.solver import TaskState
from pydantic import Field

from firsthand.counterfactual.claiming import claims_of
from firsthand.counterfactual.claims import Claim, Reproduction
from firsthand.counterfactual.edits import Edit, Operation, edited
from firsthand.counterfactual.inspecting.stages.again import Baselines
from firsthand.counterfactual.inspecting.stages.asking import ask
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond, shown_prompt
from firsthand.counterfactual.inspecting.stages.bench import meant
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.from_logs import investigations_from_logs
from firsthand.counterfactual.inspecting.stages.showing import shown_changes
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, opened, sample_of, staged
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.quoting import quoted
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.reproducing import reproduces
from firsthand.counterfactual.responses import Request
from firsthand.errors import CounterfactualError


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
    left = left_by(opening.folder, "claim", finished=False).values()
    baselines = Baselines({one["drew"]: Rate.model_validate(one["baseline"]) for one in left if one.get("drew")})

    async def work(calls: Calls, state: TaskState) -> Found:
        return await _work(baselines, calls, state)

    return staged(opening, "claim", samples(opening), work)


def samples(run: Run) -> list[Any]:
    """One sample for each claim. Which experiments make claims, and with which labels, is not decided here."""
    verified = left_by(run.folder, "verify")
    return [
        sample_of(
            claim.prompt,
            f"{one.id}.{claim.experiment}",
            claim=claim.model_dump(mode="json"),
            hypothesis=hypothesis_of(one, claim.experiment),
        )
        for one in investigations_from_logs(run.folder)
        if verified.get(one.id, {}).get("status") == "accepted"
        for claim in claims_of(one).claims
    ]


def hypothesis_of(investigation: Investigation, experiment: int) -> str:
    """The hypothesis on which an experiment bears, by the report."""
    report = investigation.report
    cited = (
        [] if report is None else [one for one in (*report.causes, *report.refuted) if experiment in one.experiments]
    )
    return cited[0].hypothesis if cited else ""


async def _work(baselines: Baselines, calls: Calls, state: TaskState) -> Found:
    claim = Claim.model_validate(state.metadata["claim"])
    described = await ask(calls, "describer", _DESCRIBE, _two(calls, claim), Description, "describe")
    if described.value is None:
        return {"status": "undescribed", "problem": described.problem, "claim": None}
    words = described.value
    mechanism = _mechanism(calls, claim, words, state.metadata["hypothesis"])
    concrete = await ask(calls, "judge", _CONCRETENESS, mechanism, Concreteness, "concreteness")
    again, why = await _again(calls, claim, words.description)
    baseline = None if again is None else await baselines.of(calls, claim)
    claim = claim.model_copy(
        update={
            "intervention": words.description,
            "single_factor": words.single_factor,
            "concreteness": concrete.value.concreteness if concrete.value else None,
            "reproduced": None if again is None else reproduces(claim, again[1], baseline),
            "reproduction": None if again is None else Reproduction(edit=again[0], rate=again[1], baseline=baseline),
        }
    )
    return {
        "status": "described",
        "claim": claim.model_dump(mode="json"),
        "others": words.others,
        "baseline": None if baseline is None else baseline.model_dump(mode="json"),
        "drew": claim.investigation if baselines.drawn_by.get(claim.investigation) == calls.sample else None,
        "reproduction": None
        if again is None
        else {"edit": again[0].model_dump(mode="json"), "rate": again[1].model_dump(mode="json")},
        "problem": "; ".join(one for one in (concrete.problem, why) if one),
    }


def _two(calls: Calls, claim: Claim) -> str:
    before, after = claim.prompt, claim.edited
    return (
        f"The first version:\n{shown_prompt(before, calls)}\n\nThe second version:\n{shown_prompt(after, calls)}\n\n"
        f"Their difference:\n{shown_changes(before, after, calls, 'difference')}"
    )


def _mechanism(calls: Calls, claim: Claim, words: Description, hypothesis: str) -> str:
    text = (
        f"Behaviour, as a question about a response: {claim.behaviour.question}\n"
        f"Mechanism: {hypothesis}\nEdit that bears on it: {words.description}"
    )
    return quoted(text, calls.fence, "mechanism", 8_000)


async def _again(calls: Calls, claim: Claim, description: str) -> tuple[tuple[Edit, Rate] | None, str]:
    """Implement the description anew, by a model that has not seen the edit, and measure it; or why it could not be."""
    told = f"The prompt:\n{shown_prompt(claim.prompt, calls)}\n\nThe change:\n"
    material = told + quoted(description, calls.fence, "description of the change", 4_000)
    why = ""
    for attempt in range(2):
        correction = f"\n\nAn edit was tried before and could not be made. {why}" if why else ""
        answer = await ask(
            calls, "describer", _IMPLEMENT, material + correction, Implementation, f"implement.{attempt}"
        )
        if answer.value is None:
            return None, f"no implementation: {answer.problem}"
        edit = meant(answer.value.operations, claim.prompt)
        try:
            after = edited(claim.prompt, edit)
        except CounterfactualError as error:
            why = str(error)
            continue
        batch = f"reproduce.{claim.experiment}"
        request = Request(prompt=after, batch=batch, samples=calls.settings.sampling.samples)
        responses = await respond(calls, request)
        return (edit, rate_of(await classify(calls, claim.behaviour, responses, batch))), ""
    calls.count("describer", "implementation refused")
    return None, f"no implementation: {why}"
