"""Prompts as Inspect's messages, and what Inspect gives back as responses."""

from collections.abc import Sequence
from typing import Final, Literal

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams

from firsthand.counterfactual.prompts import Prompt, Tool, Turn
from firsthand.counterfactual.prompts import ToolCall as OurCall
from firsthand.counterfactual.responses import Response

_ENDED: Final[dict[str, Literal["stop", "length", "filter"]]] = {
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "filter",
}


def messages_of(prompt: Prompt) -> list[ChatMessage]:
    """The turns of a prompt. Inspect gives them identifiers, which do not count when it looks for a kept call."""
    return [_message(turn, prompt) for turn in prompt.turns]


def tools_of(prompt: Prompt) -> list[ToolInfo]:
    """The tools that the target is told of. They have no body, so that nothing can run them."""
    return [_tool(tool) for tool in prompt.tools]


def responses_of(output: ModelOutput) -> list[Response]:
    """The responses of one call, one for each choice. Tokens are the call's, shared out evenly where it had several."""
    written = output.usage.output_tokens if output.usage else 0
    return [
        Response(
            text=choice.message.text,
            reasoning=_reasoning(choice.message),
            calls=tuple(
                OurCall(id=call.id, name=call.function, arguments=call.arguments)
                for call in choice.message.tool_calls or ()
            ),
            ended=_ENDED.get(choice.stop_reason, "stop"),
            tokens=round(written / len(output.choices)),
        )
        for choice in output.choices
    ]


def _message(turn: Turn, prompt: Prompt) -> ChatMessage:
    match turn.role:
        case "system":
            return ChatMessageSystem(content=turn.content)
        case "user":
            return ChatMessageUser(content=turn.content)
        case "assistant":
            calls = [ToolCall(id=call.id, function=call.name, arguments=call.arguments) for call in turn.calls]
            return ChatMessageAssistant(content=turn.content, tool_calls=calls or None)
        case "tool":
            return ChatMessageTool(
                content=turn.content, tool_call_id=turn.answers, function=_called(prompt.turns, turn.answers)
            )


def _called(turns: Sequence[Turn], answers: str | None) -> str | None:
    return next((call.name for turn in turns for call in turn.calls if call.id == answers), None)


def _tool(tool: Tool) -> ToolInfo:
    return ToolInfo(
        name=tool.name,
        description=tool.description or tool.name,
        parameters=ToolParams(
            properties=tool.parameters.get("properties", {}), required=tool.parameters.get("required", [])
        ),
    )


def _reasoning(message: ChatMessageAssistant) -> str | None:
    if isinstance(message.content, str):
        return None
    found = [part.reasoning for part in message.content if part.type == "reasoning"]
    return "\n".join(found) or None
