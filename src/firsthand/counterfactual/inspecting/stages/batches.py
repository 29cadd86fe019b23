"""Batches of the target's responses, and what is found in them."""

from collections.abc import Sequence
from typing import Final, Literal

from inspect_ai.model import GenerateConfig
from pydantic import Field

from firsthand.counterfactual.behaviours import Asked, Behaviour, Verdict, judged
from firsthand.counterfactual.inspecting.choices import CHOICES_REFUSED, Refusal, drawn
from firsthand.counterfactual.inspecting.converting import messages_of, responses_of, tools_of
from firsthand.counterfactual.inspecting.settings import settings_of
from firsthand.counterfactual.inspecting.stages.asking import ask
from firsthand.counterfactual.inspecting.stages.calling import CallRefused, Calls
from firsthand.counterfactual.inspecting.together import side_by_side
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.quoting import quoted
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest


async def respond(calls: Calls, request: Request) -> list[Response]:
    """Responses to a request, exactly as many as it wants, in as few calls as the provider allows.

    A call that the provider would not take gives ``error`` responses in place of those it should have given.

    Raises:
        CallLost: If a call failed in passing, so that nothing may be made of the batch yet.
        RunStopped: If the run stops.
    """

    async def call(first: int, size: int) -> list[Response] | Refusal:
        return await _call(calls, request, first, size)

    return await drawn(call, request.samples, calls.standing.per_call)


async def _call(calls: Calls, request: Request, first: int, size: int) -> list[Response] | Refusal:
    try:
        messages, tools = messages_of(request.prompt), tools_of(request.prompt)
    except CounterfactualError as error:  # the prompt's own fault, so others go on
        return [Response(text=error.problem, ended="error")] * size
    config = config_of(calls.settings.roles["target"].model, calls.settings.sampling, request, size, first)
    try:
        output = await calls.generate(
            "target", messages, f"{request.batch}/{first}+{size}", tools=tools, config=config, several=size > 1
        )
    except CallRefused as refused:
        if size > 1 and refused.status in CHOICES_REFUSED:
            return Refusal(refused.problem)  # perhaps of several choices; fewer tell
        return [Response(text=refused.problem, ended="error")] * size
    return responses_of(output, size)


def config_of(model: str, sampling: Sampling, request: Request, choices: int, first: int) -> GenerateConfig:
    """Generation settings of one call; its seed belongs to the run, the batch and the first response of the call."""
    seed = int(digest([sampling.seed, request.prompt.id, request.batch, first])[:7], 16)
    return settings_of(model, sampling).merge(GenerateConfig(num_choices=choices if choices > 1 else None, seed=seed))


class Classified(Part):
    """What is found of one response.

    Attributes:
        verdict: Yes, no or invalid.
        why: Why it is invalid; for a model's verdict what it says of it.
    """

    verdict: Verdict
    why: str = ""


class Said(Part):
    """A classifier's reply."""

    reason: str = Field(description="One sentence: what in the response decides it.", max_length=2_000)
    answer: Literal["yes", "no", "cannot tell"] = Field(
        description="The answer to the question; 'cannot tell' only if the response does not allow either."
    )


_TASK: Final = (
    "You are given one question about one response of a language model, and the response. Answer the question from "
    "what the response contains. Do not judge whether the response is good, and do not answer or continue it. The "
    "question is a measuring instrument: read it as it stands, and answer the same way for equal content."
)


async def classify(calls: Calls, behaviour: Behaviour, responses: Sequence[Response], batch: str) -> list[Classified]:
    """One verdict for each response, each judged by itself: by a program, or by the classifier.

    A missing response is invalid without being asked about. A reply that cannot be read is invalid, as is "cannot
    tell".
    """
    if not isinstance(behaviour, Asked):
        return [Classified(verdict=judged(behaviour, one)) for one in responses]
    return await side_by_side(
        *[_asked(calls, behaviour, one, f"{batch}/classify.{number}") for number, one in enumerate(responses)]
    )


async def _asked(calls: Calls, behaviour: Asked, response: Response, place: str) -> Classified:
    if response.missing:
        return Classified(verdict=Verdict.INVALID, why=f"no response ({response.ended})")
    material = (
        f"The question, which was frozen before:\n"
        f"{quoted(behaviour.question, calls.fence, 'question', 4_000)}\n\n"
        f"The response:\n{shown(response, calls, 'response', calls.settings.lengths.response)}"
    )
    answer = await ask(calls, "classifier", _TASK, material, Said, place)
    if answer.value is None:
        return Classified(verdict=Verdict.INVALID, why=answer.problem)
    if answer.value.answer == "cannot tell":
        calls.count("classifier", "cannot tell")
        return Classified(verdict=Verdict.INVALID, why=answer.value.reason)
    return Classified(verdict=Verdict(answer.value.answer), why=answer.value.reason)


def shown(response: Response, calls: Calls, what: str, limit: int) -> str:
    """A response as data, its tool calls included as text; reasoning is never shown."""
    if response.missing:
        return f"({what}: there is none, {response.ended})"
    text = response.text
    for call in response.calls:
        text += f"\n(calls the tool {call.name} with {call.arguments})"
    if response.ended == "length":
        what = f"{what}, cut off at the token limit"
    return quoted(text.strip(), calls.fence, what, limit)


def shown_prompt(prompt: Prompt, calls: Calls) -> str:
    """The turns of a prompt as data, numbered as edits name them."""
    parts = []
    for number, turn in enumerate(prompt.turns):
        text = turn.content
        for call in turn.calls:
            text += f"\n(calls the tool {call.name} with {call.arguments})"
        parts.append(quoted(text, calls.fence, f"turn {number}, {turn.role}", calls.settings.lengths.turn))
    if prompt.tools:
        tools = "\n".join(f"{tool.name}: {tool.description}" for tool in prompt.tools)
        parts.append(quoted(tools, calls.fence, "tools that the model was told of", calls.settings.lengths.turn))
    return "\n".join(parts)


def rate_of(found: Sequence[Classified]) -> Rate:
    """The counts of a batch."""
    return Rate.of(one.verdict for one in found)
