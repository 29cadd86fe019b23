"""Stage 5: the edits that a report speaks of are measured again, on responses that nobody has chosen anything by."""

from typing import Any

from inspect_ai import Task
from inspect_ai.solver import TaskState

from firsthand.counterfactual.deciding import decided
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, opened, sample_of, staged
from firsthand.counterfactual.inspecting.together import side_by_side
from firsthand.counterfactual.investigation import Experiment, Report, Screened
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request


def build(run: str) -> Task:
    """Fresh batches for the prompt as it is and for every experiment that a report names, as a cause or as refuted.

    The paper labels claims by the investigator's own batches; these chose what was reported.

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "confirm", samples(opening), _work)


def samples(run: Run) -> list[Any]:
    """One sample for each investigation that ended with a report."""
    return [
        sample_of(
            Screened.model_validate(found["metadata"]["screened"]).prompt,
            name,
            screened=found["metadata"]["screened"],
            baseline=found["baseline"],
            experiments=found["experiments"],
            report=found["report"],
        )
        for name, found in left_by(run.folder, "investigate").items()
        if found.get("report") is not None
    ]


def named_in(report: Report) -> list[int]:
    """Numbers of the experiments that a report names, in their order."""
    return sorted({number for one in (*report.causes, *report.refuted) for number in one.experiments})


async def _work(calls: Calls, state: TaskState) -> Found:
    screened = Screened.model_validate(state.metadata["screened"])
    explored = {one["number"]: Experiment.model_validate(one) for one in state.metadata["experiments"]}
    named = named_in(Report.model_validate(state.metadata["report"]))

    async def measured(prompt: Prompt, batch: str) -> Rate:
        request = Request(prompt=prompt, batch=batch, samples=calls.settings.sampling.samples)
        return rate_of(await classify(calls, screened.behaviour, await respond(calls, request), batch))

    async def again(number: int, of: Experiment, baseline: Rate) -> Experiment:
        batch = f"confirm.{of.number}"
        rate = await measured(edited(screened.prompt, of.edit), batch)
        return Experiment(
            number=number,
            edit=of.edit,
            purpose=f"Experiment {of.number} on fresh responses. {of.purpose}",
            stage="confirmed",
            batch=batch,
            rate=rate,
            decision=decided(baseline, rate, edits=len(named)),
            error=None if rate.valid else "no response could be judged",
        )

    if not named:
        return {"status": "nothing to confirm", "experiments": [], "of": {}}
    # The investigator's own baseline chose what it reports, so neither decisions nor labels are made against it.
    baseline = await measured(screened.prompt, "confirm.baseline")
    first = len(explored) + 1
    made = await side_by_side(*[again(first + place, explored[number], baseline) for place, number in enumerate(named)])
    return {
        "status": "confirmed",
        "baseline": baseline.model_dump(mode="json"),
        "experiments": [one.model_dump(mode="json") for one in made],
        "of": {str(first + place): number for place, number in enumerate(named)},
    }
