"""Stage 3: how often does the behaviour occur in the batch that was screened?"""

from typing import Any

from inspect_ai import Task
from inspect_ai.solver import TaskState
from pydantic import TypeAdapter

from firsthand.counterfactual.behaviours import Behaviour
from firsthand.counterfactual.inspecting.stages.batches import classify as verdicts_of
from firsthand.counterfactual.inspecting.stages.batches import rate_of
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.inspecting.stages.stage import (
    Found,
    Run,
    left_by,
    opened,
    prompt_of,
    sample_of,
    staged,
)
from firsthand.counterfactual.investigation import Screened
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Response
from firsthand.trials.canonical import digest


def build(run: str) -> Task:
    """One verdict for each screened response, and by them which behaviours are frequent enough.

    Args:
        run: Folder of the run.
    """
    opening = opened(run)
    return staged(opening, "classify", samples(opening), _work)


def samples(run: Run) -> list[Any]:
    """One sample for each behaviour that was flagged on a prompt; its identifier is that of its investigation."""
    prompts = {one.id: one for one in run.prompts()}
    said = left_by(run.folder, "sample")
    return [
        sample_of(
            prompts[name],
            investigation_id(prompts[name], behaviour),
            behaviour=behaviour,
            screening={key: found.get(key) for key in ("rating", "summary", "question", "own_question")},
            responses=said[name]["responses"],
        )
        for name, found in left_by(run.folder, "screen").items()
        if found["status"] == "flagged"
        for behaviour in found["behaviours"]
    ]


def investigation_id(prompt: Prompt, behaviour: dict[str, Any]) -> str:
    """Identifier of an investigation, before it has begun; equal to the one that it will have."""
    return digest([prompt.id, TypeAdapter[Any](Behaviour).validate_python(behaviour).model_dump(mode="json")])[:16]


async def _work(calls: Calls, state: TaskState) -> Found:
    behaviour = TypeAdapter[Any](Behaviour).validate_python(state.metadata["behaviour"])
    responses = [Response.model_validate(one) for one in state.metadata["responses"]]
    found = await verdicts_of(calls, behaviour, responses, "screen")
    rate = rate_of(found)
    screening = state.metadata["screening"]
    screened = Screened(
        prompt=prompt_of(state),
        rating=screening["rating"],
        behaviour=behaviour,
        summary=screening["summary"] or behaviour.question,
        question=screening["question"] or f"Why do responses of the model count here? {behaviour.question}",
        own_question=screening["own_question"] or f"Why do your responses count here? {behaviour.question}",
        rate=rate,
    )
    frequent = rate.bounds[0] >= calls.settings.least_frequency
    return {
        "status": "frequent" if frequent else "rare",
        "screened": screened.model_dump(mode="json"),
        "verdicts": [one.model_dump(mode="json") for one in found],
    }
