"""Questions that a model answers with one JSON object, which is read strictly, once repaired, and never guessed.

Only a reply that is there and malformed is asked for again: a call that failed, or that a provider withheld, is not.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
)
from inspect_ai.tool import ToolInfo
from inspect_ai.util import json_schema
from pydantic import ValidationError

from firsthand.counterfactual.inspecting.converting import concerns_all
from firsthand.counterfactual.inspecting.stages.calling import CallRefused, Calls
from firsthand.counterfactual.inspecting.stages.settings import RoleName
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.quoting import RULE

ReplyT = TypeVar("ReplyT", bound=Part)

_FENCED: Final = re.compile(r"\A```(?:json)?\s*\n(.*)\n\s*```\Z", re.DOTALL)
AGAIN: Final = (
    "Your reply could not be read: {problem}. Reply once more with the JSON object alone: no text before or after it, "
    "every field present, no other fields."
)


@dataclass(frozen=True)
class Answer(Generic[ReplyT]):
    """What a model answered.

    Attributes:
        value: The reply; ``None`` if there was none, or neither it nor its repair could be read.
        problem: Why not.
        repaired: Whether the first reply could not be read.
    """

    value: ReplyT | None
    problem: str = ""
    repaired: bool = False


async def ask(
    calls: Calls, role: RoleName, task: str, material: str, reply: type[ReplyT], place: str
) -> Answer[ReplyT]:
    """Ask a model for one JSON object.

    A reply counts only if the whole of it is the object that was asked for; a JSON object somewhere in a longer text is
    not looked for, since it may be one that a quoted text told the model to repeat.

    Args:
        calls: The sample's calls.
        role: Who is asked.
        task: What is to be done, in our words; the rule on quoted texts and the form of the reply are added.
        material: What it is to be done with, quoted where it is not ours.
        reply: Form of the reply.
        place: What the call is for; unique within the sample.
    """
    messages: list[ChatMessage] = [
        ChatMessageSystem(content=f"{task}\n\n{RULE}\n\n{form_of(reply)}"),
        ChatMessageUser(content=material),
    ]
    config = _config(calls, role, reply)
    first = await replied(calls, role, messages, place, config)
    if isinstance(first, str):
        calls.count(role, "no reply")
        return Answer(None, first)
    read = parsed(first, reply)
    if not isinstance(read, str):
        return Answer(read)
    said = first.completion.strip()
    again = [ChatMessageAssistant(content=said)] if said else []
    correction = ChatMessageUser(content=AGAIN.format(problem=read))
    second = await replied(calls, role, [*messages, *again, correction], f"{place}/repair", config)
    reread = second if isinstance(second, str) else parsed(second, reply)
    if isinstance(reread, str):
        calls.count(role, "invalid")
        return Answer(None, reread, repaired=True)
    calls.count(role, "repaired")
    return Answer(reread, repaired=True)


async def replied(
    calls: Calls,
    role: RoleName,
    messages: list[ChatMessage],
    place: str,
    config: GenerateConfig,
    tools: Sequence[ToolInfo] = (),
) -> ModelOutput | str:
    """What a model said, or why there is nothing that could be read."""
    try:
        output = await calls.generate(role, messages, place, tools=tools, config=config)
    except CallRefused as refused:
        return f"the call failed ({refused.problem})"
    if output.stop_reason == "content_filter":
        return "the provider withheld it"
    if concerns_all(output):
        return f"the call failed ({output.completion[:300]})"
    return output


def form_of(reply: type[Part]) -> str:
    """What the model is told of the form: the JSON schema, without what a model has no use for."""
    schema = reply.model_json_schema()
    return (
        "Reply with one JSON object and nothing else: no text before or after it. It has to fit this JSON schema:\n"
        + json.dumps(_plain(schema), ensure_ascii=False)
    )


def _plain(schema: object) -> object:
    if isinstance(schema, dict):
        unused = {"title", "description"} if "properties" in schema else {"title"}
        return {k: _plain(v) for k, v in schema.items() if not (k in unused and isinstance(v, str))}
    return [_plain(one) for one in schema] if isinstance(schema, list) else schema


def _config(calls: Calls, role: RoleName, reply: type[Part]) -> GenerateConfig:
    if not calls.settings.playing(role).constrained:
        return GenerateConfig()
    return GenerateConfig(response_schema=ResponseSchema(name=reply.__name__, json_schema=json_schema(reply)))


def parsed(output: ModelOutput, reply: type[ReplyT]) -> ReplyT | str:
    """The reply, or why it cannot be read; what it said is not repeated there."""
    if output.stop_reason in ("max_tokens", "model_length"):
        return "it was cut off"
    text = output.completion.strip()
    fenced = _FENCED.match(text)
    try:
        return reply.model_validate_json(fenced.group(1) if fenced else text, strict=True)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        return f"{where}: {first['msg']}" if where else str(first["msg"]).split(" at line")[0]
