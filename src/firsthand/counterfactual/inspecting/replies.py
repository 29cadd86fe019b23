"""What a local model wrote, read as a message: thinking kept apart, and calls of tools as calls.

A call that cannot be read is a call with an error and without arguments, as Inspect expects it; it is never taken for
text, and never for a call of something else.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspect_ai.tool import ToolCall, ToolInfo

from firsthand.trials.canonical import digest

_TAGGED: Final = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)
_CLOSES, _OPENS = "</think>", "<think>"


@dataclass(frozen=True)
class Reply:
    """One generated text, taken apart.

    Attributes:
        text: What was said.
        reasoning: What was thought before; ``None`` if nothing was.
        calls: Calls of tools.
    """

    text: str
    reasoning: str | None
    calls: tuple[ToolCall, ...]


def read_reply(written: str, tools: Sequence[ToolInfo], seed: int, prompt: str = "") -> Reply:
    """Take a generated text apart.

    Args:
        written: The text.
        tools: Tools that the model was told of; without any, nothing is taken for a call.
        seed: Seed of the sample, from which the calls get identifiers of their own.
        prompt: The rendered prompt: a template may have begun the thinking.
    """
    reasoning, text = _thought(written, prompt.rstrip().endswith(_OPENS))
    if not tools:
        return Reply(text, reasoning, ())
    known = {tool.name for tool in tools}
    pieces = _TAGGED.findall(text)
    if pieces:
        text = _TAGGED.sub("", text).strip()
    elif (bare := _bare(text, known)) is not None:
        pieces, text = bare, ""
    calls = [_call(piece, digest([seed, number, piece])[:12]) for number, piece in enumerate(pieces)]
    return Reply(text, reasoning, tuple(calls))


def _thought(written: str, begun: bool) -> tuple[str | None, str]:
    if _CLOSES in written:
        before, _, after = written.partition(_CLOSES)
        return before.strip().removeprefix(_OPENS).strip() or None, after.lstrip("\n")
    if begun or written.lstrip().startswith(_OPENS):
        return written.strip().removeprefix(_OPENS).strip() or None, ""
    return None, written


def _bare(text: str, known: set[str]) -> list[str] | None:
    """Calls that are all of the text: an object, or a list of objects, that names tools of the prompt."""
    try:
        read = json.loads(text)
    except ValueError:
        return None
    listed = read if isinstance(read, list) else [read]
    if not listed or not all(isinstance(one, dict) and one.get("name") in known for one in listed):
        return None
    return [json.dumps(one) for one in listed]


def _call(piece: str, identifier: str) -> ToolCall:
    try:
        read: Any = json.loads(piece)
        name = read["name"]
        arguments = read.get("arguments", read.get("parameters", {}))
        if isinstance(arguments, str):
            arguments = json.loads(arguments)
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise TypeError("its name is no text, or its arguments are no object")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"This is no call of a tool: {piece[:200]!r} ({type(error).__name__}: {error})."
        return ToolCall(id=f"call_{identifier}", function="unknown", arguments={}, parse_error=why)
    return ToolCall(id=f"call_{identifier}", function=name, arguments=arguments)
