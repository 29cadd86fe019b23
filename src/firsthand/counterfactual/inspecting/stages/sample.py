"""Stage 1: the target answers each prompt, as often as every later batch will."""

from inspect_ai import Task
from inspect_ai.solver import TaskState

from firsthand.counterfactual.inspecting.stages.batches import respond
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.stage import Found, opened, prompt_of, sample_of, staged
from firsthand.counterfactual.responses import Request


def build(run: str) -> Task:
    """Responses to each prompt, under the run's sampling settings (arXiv 2608.16747, section B.1, stage 1).

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "sample", [sample_of(one, one.id) for one in opening.prompts()], _work)


async def _work(calls: Calls, state: TaskState) -> Found:
    request = Request(prompt=prompt_of(state), batch="screen", samples=calls.settings.sampling.samples)
    responses = await respond(calls, request)
    missing = sum(one.missing for one in responses)
    why = next((one.text for one in responses if one.ended == "error"), "") if missing == len(responses) else ""
    return {
        "status": "nothing said" if missing == len(responses) else "sampled",
        "missing": missing,
        "problem": why,
        "responses": [one.model_dump(mode="json") for one in responses],
    }
