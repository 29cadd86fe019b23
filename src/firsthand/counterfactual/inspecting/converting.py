"""Prompts as Inspect's messages and tools, and Inspect's answers as responses."""

from collections.abc import Sequence
from typing import Any, Final

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentReasoning,
    ContentText,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from pydantic import ValidationError

from firsthand.counterfactual.inspecting.asking import KEY
from firsthand.counterfactual.prompts import Prompt, Tool, Turn
from firsthand.counterfactual.prompts import ToolCall as Call
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

_SCHEMA_WORDS: Final = frozenset({"type", "properties", "required", "additionalProperties"})


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """A prompt's turns as messages, with identifiers that depend on the prompt alone."""
    names = {call.id: call.name for turn in prompt.turns for call in turn.calls}
    return [_message(turn, f"{prompt.id}-{number}", names) for number, turn in enumerate(prompt.turns)]


def _message(turn: Turn, identifier: str, names: dict[str, str]) -> ChatMessage:
    match turn.role:
        case "system":
            return ChatMessageSystem(id=identifier, content=turn.content)
        case "user":
            return ChatMessageUser(id=identifier, content=turn.content)
        case "assistant":
            calls = [ToolCall(id=call.id, function=call.name, arguments=call.arguments) for call in turn.calls]
            return ChatMessageAssistant(id=identifier, content=turn.content, tool_calls=calls or None)
        case "tool":
            name = names.get(turn.answers or "")
            return ChatMessageTool(id=identifier, content=turn.content, tool_call_id=turn.answers, function=name)


def tools_of(prompt: Prompt) -> list[ToolInfo]:
    """The tools that a prompt tells of.

    Raises:
        CounterfactualError: If a tool's parameters are no JSON schema of an object. Words of JSON schema that Inspect
            has no place for are left out, on every prompt alike.
    """
    return [_tool(tool) for tool in prompt.tools]


def _tool(tool: Tool) -> ToolInfo:
    schema = {"type": "object", **tool.parameters}
    try:
        parameters = ToolParams.model_validate({name: schema[name] for name in schema if name in _SCHEMA_WORDS})
    except ValidationError as error:
        raise CounterfactualError(
            f"The parameters of the tool {tool.name!r} are no JSON schema of an object: {error.errors()[0]['msg']}.",
            "Mend the prompt's tools.",
        ) from None
    if "additionalProperties" not in schema:
        parameters.additionalProperties = True  # as a schema that does not say
    return ToolInfo(name=tool.name, description=tool.description, parameters=parameters)


def concerns_all(output: ModelOutput) -> bool:
    """Whether an answer is about the prompt, and not one of the responses that were asked for.

    Inspect hands on a prompt that is too long, or that a provider refuses to read, as one choice that quotes the
    provider's message; nothing was generated, so no usage comes with it.
    """
    if not output.choices or output.stop_reason not in ("model_length", "content_filter"):
        return False
    return output.usage is None or not output.usage.output_tokens


def responses_of(output: ModelOutput, wanted: int) -> list[Response]:
    """What an answer holds, at most as much as was wanted.

    Args:
        output: The answer.
        wanted: How many responses were asked for.

    Returns:
        One response for each choice; as many as wanted where the answer concerns the prompt as a whole. None if the
        answer holds no choice.
    """
    if concerns_all(output):
        ended = "filter" if output.stop_reason == "content_filter" else "error"
        return [Response(text=clean(output.completion), ended=ended)] * wanted
    choices = output.choices[:wanted]
    counts = _tokens(output, len(choices))
    return [_response(choice, tokens) for choice, tokens in zip(choices, counts, strict=True)]


def _response(choice: ChatCompletionChoice, tokens: int) -> Response:
    message = choice.message
    parts = [] if isinstance(message.content, str) else message.content
    # Thinking that a provider keeps to itself is not readable; some give a summary of it.
    thought = [
        (part.summary or "") if part.redacted else part.reasoning
        for part in parts
        if isinstance(part, ContentReasoning)
    ]
    refused = any(isinstance(part, ContentText) and part.refusal for part in parts)
    broken = [call.parse_error for call in message.tool_calls or () if call.parse_error]
    text, reasoning = clean(message.text), clean("\n".join(thought)) or None
    if broken:
        why = f"A tool call could not be read: {clean(broken[0])[:300]}"
        return Response(text=f"{why}\n{text}".strip(), reasoning=reasoning, ended="error", tokens=tokens)
    calls = tuple(
        Call(id=call.id, name=call.function, arguments=_clean_json(call.arguments)) for call in message.tool_calls or ()
    )
    return Response(
        text=text,
        reasoning=reasoning,
        calls=calls,
        ended="filter" if refused else _ended(choice.stop_reason),
        tokens=tokens,
    )


def _ended(reason: str) -> Any:
    match reason:
        case "max_tokens" | "model_length":
            return "length"
        case "content_filter":
            return "filter"
        case _:
            return "stop"


def _tokens(output: ModelOutput, choices: int) -> list[int]:
    """Generated tokens of each choice: as the provider tells them, else equal shares of their sum.

    A choice that was cut off had more than its share, and is given none: 0 says that its tokens are not known.
    """
    own = ((output.metadata or {}).get(KEY) or {}).get("tokens")
    if isinstance(own, Sequence) and len(own) >= choices:
        return [int(count) for count in own[:choices]]
    total = output.usage.output_tokens if output.usage is not None else 0
    shares = [total * (i + 1) // choices - total * i // choices for i in range(choices)]
    cut = [choices > 1 and _ended(choice.stop_reason) == "length" for choice in output.choices[:choices]]
    return [0 if unknown else share for share, unknown in zip(shares, cut, strict=True)]


def clean(text: str) -> str:
    """A text without halves of surrogate pairs, which JSON can hold and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean_json(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {clean(str(key)): _clean_json(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_clean_json(one) for one in value]
    return value
