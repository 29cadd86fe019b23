"""Stage 6: judges say how well the experiments support the report."""

from typing import Any, Final

from inspect_ai import Task
from inspect_ai.solver import TaskState
from pydantic import Field

from firsthand.counterfactual.deciding import change_interval
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.inspecting.stages.asking import ask
from firsthand.counterfactual.inspecting.stages.batches import shown_prompt
from firsthand.counterfactual.inspecting.stages.bench import described
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.showing import shown_changes
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, opened, sample_of, staged
from firsthand.counterfactual.inspecting.together import side_by_side
from firsthand.counterfactual.investigation import Cause, Experiment, Judgement, Report, Screened, mean_score
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.quoting import quoted
from firsthand.counterfactual.rates import Rate


class Judged(Part):
    """A judge's reply."""

    notes: str = Field(description="What speaks for and against, experiment by experiment; short.", max_length=6_000)
    fair: bool = Field(description="Does the classifier question ask for the behaviour, no more and no less?")
    described: bool = Field(description="Is each edit, as described, what was changed, and nothing else?")
    isolated: bool = Field(description="Do the experiments tell the reported causes from their rivals?")
    score: int = Field(description="How well the experiments support the report, 1 to 10.", ge=1, le=10)


_TASK: Final = """\
You referee an investigation of why a language model does something. Somebody edited its prompt, measured after each
edit how often a behaviour occurs, and wrote a report. You have the prompt, the frozen question that measures the
behaviour, all experiments with their edits as differences, and the report. Rates were measured and are right; what is
in doubt is what follows from them. Experiments marked "confirmed" are repetitions on fresh responses, and count for
more than the ones they repeat, which were chosen after they were seen.

Check three things. Is the classifier question a fair measure of the behaviour that the report speaks of? Is every edit
what its line says, or did it change more, or something else? Do the experiments isolate the cause, or could a rival
explain them just as well; were the salient rivals tested?

Then give a score for how well the experiments support the report:
1-2: they do not support it, or speak against it. 3-4: weak; the central claim rests on chance or on an edit that
changed several things. 5-6: moderate; the cause is plausible, but an evident rival was left standing. 7-8: good;
minor gaps that would hardly change the answer. 9-10: full; cause shown by confirmed experiments, rivals refuted, edits
clean."""


def build(run: str) -> Task:
    """Judgements of each report (arXiv 2608.16747, section B.1, stage 4).

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "verify", samples(opening), _work)


def samples(run: Run) -> list[Any]:
    """One sample for each report, with the experiments that confirm it."""
    investigated = left_by(run.folder, "investigate")
    return [
        sample_of(
            Screened.model_validate(found["metadata"]["screened"]).prompt,
            name,
            screened=found["metadata"]["screened"],
            baseline=found.get("baseline") or found["metadata"]["baseline"],
            experiments=found["metadata"]["experiments"] + found.get("experiments", []),
            report=found["metadata"]["report"],
            lines=investigated[name]["lines"],
            of=found.get("of", {}),
        )
        for name, found in left_by(run.folder, "confirm").items()
    ]


async def _work(calls: Calls, state: TaskState) -> Found:
    material = material_of(calls, state.metadata)
    answers = await side_by_side(
        *[ask(calls, "judge", _TASK, material, Judged, f"judge.{n + 1}") for n in range(calls.settings.panel)]
    )
    judgements = [
        Judgement(score=None, notes=f"invalid: {one.problem}")
        if one.value is None
        else Judgement(**one.value.model_dump())
        for one in answers
    ]
    score = mean_score(judgements)
    status = "invalid" if score is None else "accepted" if score >= calls.settings.bar else "rejected"
    return {"status": status, "score": score, "judgements": [one.model_dump(mode="json") for one in judgements]}


def material_of(calls: Calls, metadata: dict[str, Any]) -> str:
    """What a judge is shown."""
    screened = Screened.model_validate(metadata["screened"])
    baseline = Rate.model_validate(metadata["baseline"])
    experiments = [Experiment.model_validate(one) for one in metadata["experiments"]]
    report = Report.model_validate(metadata["report"])
    lines: dict[str, str] = metadata["lines"]
    parts = [
        f"The prompt:\n{shown_prompt(screened.prompt, calls)}",
        "The frozen question that measures the behaviour:\n"
        + quoted(screened.behaviour.question, calls.fence, "classifier question", 4_000),
        f"On the prompt as it is: {described(baseline)}",
    ]
    for one in experiments:
        line = lines.get(str(metadata["of"].get(str(one.number), one.number)), "")
        parts.append(_experiment(calls, screened.prompt, baseline, one, line))
    parts.append(f"The report:\n{quoted(report_text(screened, report), calls.fence, 'report', 20_000)}")
    return "\n\n".join(parts)


def _experiment(calls: Calls, prompt: Prompt, baseline: Rate, one: Experiment, line: str) -> str:
    low, high = change_interval(baseline, one.rate)
    return "\n".join(
        [
            f"Experiment {one.number} ({one.stage}). {described(one.rate)} "
            f"Change between {100 * low:+.0f} and {100 * high:+.0f} points.",
            quoted(line, calls.fence, f"the edit of experiment {one.number} as described", 2_000),
            shown_changes(prompt, edited(prompt, one.edit), calls, f"what experiment {one.number} changed"),
        ]
    )


def report_text(screened: Screened, report: Report) -> str:
    """A report as text."""
    return "\n".join(
        [
            f"Question: {screened.question}",
            f"Observed: {report.observed}",
            *_causes("Cause", report.causes),
            *_causes("Refuted", report.refuted),
            f"Answer: {report.answer}",
        ]
    )


def _causes(what: str, causes: tuple[Cause, ...]) -> list[str]:
    return [line for one in causes for line in (f"{what}: {one.hypothesis}", *(f"  {e}" for e in one.evidence))]
