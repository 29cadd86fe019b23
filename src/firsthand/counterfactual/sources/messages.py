"""Messages as other people write them, as turns.

A message that cannot be a turn spoils every prompt that it would be in, and no other: a trajectory with a picture in
its ninth message still gives the prompts before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from firsthand.counterfactual.prompts import Role, Tool, ToolCall, Turn
from firsthand.counterfactual.sources.files import parsed
from firsthand.counterfactual.sources.found import Unusable

ROLES: Final[dict[str, Role]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
}
"""Names of those who speak, and who that is here."""

_TEXTS: Final = ("text", "input_text", "output_text")
_THOUGHTS: Final = ("reasoning", "thinking", "redacted_thinking")


@dataclass(frozen=True, slots=True)
class Said:
    """A message.

    Attributes:
        role: Who speaks; ``None`` if that is not known.
        turn: The turn, or why there is none.
        given: Whether an assistant's turn was written by someone else, such as an example in a prompt.
    """

    role: Role | None
    turn: Turn | Unusable
    given: bool = False


def said_in(messages: object) -> list[Said]:
    """The messages of a conversation, in the forms of OpenAI, Inspect and ShareGPT.

    A result without the id of its call answers the first call that is still open. Reasoning in a past turn is left
    out, as chat templates leave it out. A system message without text is left out.

    Raises:
        Unusable: If they are no list, or there are none.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages:
        raise Unusable("no messages")
    found: list[Said] = []
    waiting: list[str] = []
    known: set[str] = set()
    for number, message in enumerate(messages):
        role = _role(message)
        try:
            turn = _turn(message, number, waiting, known)
        except Unusable as fault:
            found.append(Said(role, fault))
            continue
        if turn.role == "system" and not turn.content.strip() and not found:
            continue
        found.append(Said(role, turn, isinstance(message, Mapping) and message.get("source") == "input"))
    return found


def _role(message: object) -> Role | None:
    if not isinstance(message, Mapping):
        return None
    name = message.get("role") or message.get("from")
    return ROLES.get(name.lower()) if isinstance(name, str) else None


def _turn(message: object, number: int, waiting: list[str], known: set[str]) -> Turn:
    if not isinstance(message, Mapping):
        raise Unusable("a message that is no object", f"message {number}")
    role = _role(message)
    if role is None:
        who = message.get("role") or message.get("from")
        raise Unusable("a speaker that is not known", f"message {number}: {str(who)[:40]!r}")
    content = _content(message, number)
    if not _is_unicode(content):
        raise Unusable("text that is no Unicode", f"message {number}")
    if role == "assistant":
        calls = _calls(message, number)
        waiting += [call.id for call in calls]
        known.update(call.id for call in calls)
        return Turn(role=role, content=content, calls=calls)
    answers = _answered(message, number, waiting, known) if role == "tool" else None
    return Turn(role=role, content=content, answers=answers)


def _answered(message: Mapping[str, Any], number: int, waiting: list[str], known: set[str]) -> str | None:
    named = message.get("tool_call_id") or message.get("call_id")
    if named is None:
        return waiting.pop(0) if waiting else None
    named = str(named)
    if named not in known:
        raise Unusable("a tool's result without its call", f"message {number}")
    if named in waiting:
        waiting.remove(named)
    return named


def _content(message: Mapping[str, Any], number: int) -> str:
    value = next((message[key] for key in ("content", "value", "text") if message.get(key) is not None), "")
    if isinstance(value, str):
        return value
    if not isinstance(value, Sequence):
        raise Unusable("a message whose content is no text", f"message {number}")
    texts = []
    for part in value:
        kind = part.get("type", "text") if isinstance(part, Mapping) else "text"
        text = part.get("text") if isinstance(part, Mapping) else part
        if kind in _THOUGHTS:
            continue
        if kind not in _TEXTS or not isinstance(text, str):
            raise Unusable("a message that holds more than text", f"message {number}: {str(kind)[:40]}")
        texts.append(text)
    return "\n".join(texts)


def _is_unicode(text: str) -> bool:
    """Whether a text holds no half of a pair of surrogates, which JSON can write and UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _calls(message: Mapping[str, Any], number: int) -> tuple[ToolCall, ...]:
    given = message.get("tool_calls")
    if given is None and message.get("function_call"):
        given = [message["function_call"]]
    if given is None:
        return ()
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise Unusable("tool calls in a form that is not known", f"message {number}")
    return tuple(_call(call, number, place) for place, call in enumerate(given))


def _call(call: object, number: int, place: int) -> ToolCall:
    if not isinstance(call, Mapping) or call.get("parse_error"):
        raise Unusable("a tool call that cannot be read", f"message {number}")
    function = call.get("function")
    inner = function if isinstance(function, Mapping) else call
    name = function if isinstance(function, str) else inner.get("name")
    arguments = inner.get("arguments") or {}
    if isinstance(arguments, str):
        try:
            arguments = parsed(arguments)
        except ValueError:
            arguments = None
    if not isinstance(name, str) or not isinstance(arguments, Mapping):
        raise Unusable("a tool call that cannot be read", f"message {number}")
    return ToolCall(id=str(call.get("id") or f"call_{number}_{place}"), name=name, arguments=dict(arguments))


def tools_in(value: object) -> tuple[Tool, ...]:
    """The tools that a record declares, in the forms of OpenAI and Inspect, as a list or as JSON of one.

    Raises:
        Unusable: If there are some and they cannot be read.
    """
    if isinstance(value, str) and value.strip():
        try:
            value = parsed(value)
        except ValueError:
            raise Unusable("tools that cannot be read") from None
    if not value:
        return ()
    if not isinstance(value, Sequence):
        raise Unusable("tools that cannot be read")
    return tuple(_tool(one) for one in value)


def _tool(one: object) -> Tool:
    inner = one.get("function", one) if isinstance(one, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(inner.get("name"), str):
        raise Unusable("tools that cannot be read")
    description, parameters = inner.get("description") or "", inner.get("parameters") or {}
    if not isinstance(description, str) or not isinstance(parameters, Mapping):
        raise Unusable("tools that cannot be read", str(inner["name"])[:40])
    return Tool(name=inner["name"], description=description, parameters=dict(parameters))
