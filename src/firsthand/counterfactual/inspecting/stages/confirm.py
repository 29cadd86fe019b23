"""Stage 5: the edits that a report speaks of are measured again, on responses that nobody has chosen anything by."""

from typing import Any

from inspect_ai import Task
from inspect_ai.solver import TaskState
from inspect_ai.util import collect

from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.inspecting.stages.batches import classify, rate_of, respond
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.deciding import decided
from firsthand.counterfactual.inspecting.stages.stage import Found, Run, left_by, opened, sample_of, staged
from firsthand.counterfactual.investigation import Experiment, Report, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request


def build(run: str) -> Task:
    """Fresh batches for every experiment that a report names, as a cause or as refuted.

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
        if found["report"] is not None
    ]


def named_in(report: Report) -> list[int]:
    """Numbers of the experiments that a report names, in their order."""
    return sorted({number for one in (*report.causes, *report.refuted) for number in one.experiments})


async def _work(calls: Calls, state: TaskState) -> Found:
    screened = Screened.model_validate(state.metadata["screened"])
    baseline = Rate.model_validate(state.metadata["baseline"])
    explored = {one["number"]: Experiment.model_validate(one) for one in state.metadata["experiments"]}
    named = named_in(Report.model_validate(state.metadata["report"]))

    async def again(number: int, of: Experiment) -> Experiment:
        batch = f"confirm.{of.number}"
        after = edited(screened.prompt, of.edit)
        request = Request(prompt=after, batch=batch, samples=calls.settings.sampling.samples)
        responses = await respond(calls, request)
        rate = rate_of(await classify(calls, screened.behaviour, responses, batch))
        return Experiment(
            number=number,
            edit=of.edit,
            purpose=f"Experiment {of.number} on fresh responses. {of.purpose}",
            stage="confirmed",
            batch=batch,
            rate=rate,
            decision=decided(baseline, rate),
            error=None if rate.valid else "no response could be judged",
        )

    first = len(explored) + 1
    made = await collect(*[again(first + place, explored[number]) for place, number in enumerate(named)])
    return {
        "status": "confirmed" if made else "nothing to confirm",
        "experiments": [one.model_dump(mode="json") for one in made],
        "of": {str(first + place): number for place, number in enumerate(named)},
    }
