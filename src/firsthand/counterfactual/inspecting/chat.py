"""From Inspect's messages and tools to the tokens of a local model.

The model's own chat template is used, with its own way of showing tools where it has one. Where it has none, tools are
described in the system's turn and calls are written as ``<tool_call>{...}</tool_call>``. Text is tokenised without
adding special tokens a second time. Whatever a template drops or alters is refused.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, ContentReasoning, ContentText
from inspect_ai.tool import ToolInfo
from transformers import PreTrainedTokenizerBase

from firsthand.errors import EngineError

_TOOLS: Final = (
    "You have tools. To call one, write a line of its own that reads\n"
    '<tool_call>{{"name": "NAME", "arguments": {{...}}}}</tool_call>\n'
    "with the arguments as JSON, and then wait for its result. The tools are:\n{tools}"
)
_NAMES: Final = {"system": "Instruction", "user": "User", "assistant": "Assistant", "tool": "Result"}

Message = dict[str, Any]


@dataclass(frozen=True)
class Chat:
    """A conversation as tokens, open where the model is to speak.

    Attributes:
        text: The rendered text.
        tokens: Its tokens.
        offsets: Where each of them lies in the text.
    """

    text: str
    tokens: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]


def rendered(
    tokenizer: PreTrainedTokenizerBase,
    messages: Sequence[ChatMessage],
    tools: Sequence[ToolInfo] = (),
    thinking: bool | None = None,
) -> Chat:
    """Render a conversation.

    Args:
        tokenizer: The model's tokenizer.
        messages: The messages; where the last one is the assistant's, it is continued.
        tools: Tools that the model is told of.
        thinking: Whether a template that leaves a choice lets the model think first; ``None``: its own default.

    Raises:
        EngineError: If a message holds more than text, or one of the model's special tokens, the template fails, or it
            drops or alters a turn.
    """
    plain = [_plain(message) for message in messages]
    _refuse_special(tokenizer, plain)
    template = tokenizer.chat_template
    with_tools = bool(tools) or any("tool_calls" in message or message["role"] == "tool" for message in plain)
    if with_tools and "tools" not in str(template):
        plain, tools = _written_out(plain, tools), ()
    text = _without_template(tokenizer, plain) if template is None else _by_template(tokenizer, plain, tools, thinking)
    _check_kept(text, plain)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    offsets = tuple((int(a), int(b)) for a, b in encoded["offset_mapping"])
    return Chat(text, tuple(int(token) for token in encoded["input_ids"]), offsets)


def _plain(message: ChatMessage) -> Message:
    if not isinstance(message.content, str) and not all(
        isinstance(part, ContentText | ContentReasoning) for part in message.content
    ):
        raise EngineError(
            f"A {message.role} message holds more than text.", "Give text alone: the engine serves language models."
        )
    plain: Message = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        plain["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": call.arguments}}
            for call in message.tool_calls
        ]
    if isinstance(message, ChatMessageTool):
        plain |= {"name": message.function or "", "tool_call_id": message.tool_call_id or ""}
        if message.error is not None:
            plain["content"] = f"Error: {message.error.message}"
    return plain


def _refuse_special(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> None:
    if not tokenizer.is_fast:
        raise EngineError("This tokenizer cannot say where its tokens lie in the text.", "Use a fast tokenizer.")
    texts = [json.dumps(m.get("tool_calls", ""), ensure_ascii=False) + m["content"] for m in messages]
    special = [token for token in tokenizer.all_special_tokens if any(token in text for text in texts)]
    if special:
        raise EngineError(
            f"A message holds {', '.join(special)}, which this model's tokenizer would read as part of the template.",
            "Leave special tokens out of the text.",
        )


def _written_out(messages: Sequence[Message], tools: Sequence[ToolInfo]) -> list[Message]:
    """Tools, calls and results as text of the turns that every template knows."""
    out: list[Message] = []
    for message in messages:
        content = message["content"]
        for call in message.get("tool_calls", ()):
            content += f"\n<tool_call>{json.dumps(call['function'], ensure_ascii=False)}</tool_call>"
        if message["role"] == "tool":
            name, content = message["name"], f"<tool_response>{content}</tool_response>"
            content = f"Result of {name}: {content}" if name else content
        role = "user" if message["role"] == "tool" else message["role"]
        if out and out[-1]["role"] == role == "user":
            out[-1] = {"role": role, "content": f"{out[-1]['content']}\n{content.strip()}"}
        else:
            out.append({"role": role, "content": content.strip()})
    if tools:
        lines = "\n".join(json.dumps(_function(tool)["function"], ensure_ascii=False) for tool in tools)
        told = _TOOLS.format(tools=lines)
        if out and out[0]["role"] == "system":
            out[0] = {"role": "system", "content": f"{out[0]['content']}\n\n{told}"}
        else:
            out.insert(0, {"role": "system", "content": told})
    return out


def _function(tool: ToolInfo) -> Message:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters.model_dump(exclude_none=True),
        },
    }


def _by_template(
    tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], tools: Sequence[ToolInfo], thinking: bool | None
) -> str:
    going_on = messages[-1]["role"] == "assistant"
    try:
        return str(
            tokenizer.apply_chat_template(
                list(messages),
                tools=[_function(tool) for tool in tools] or None,
                tokenize=False,
                add_generation_prompt=not going_on,
                continue_final_message=going_on,
                **({} if thinking is None else {"enable_thinking": thinking}),
            )
        )
    except Exception as error:  # templates raise errors of their own, of any class, for a role that they lack
        if [message["role"] for message in messages[:2]] != ["system", "user"]:
            raise EngineError(
                f"The model's chat template failed: {error}.", "Use a model with a working template."
            ) from error
        system, user, *rest = messages
        both = {"role": "user", "content": f"{system['content']}\n{user['content']}"}
        return _by_template(tokenizer, [both, *rest], tools, thinking)


def _without_template(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """A plain rendering for base models; one beginning-of-text token where the tokenizer itself would add one."""
    begins = tokenizer.bos_token_id is not None and tokenizer.bos_token_id in tokenizer("a")["input_ids"][:1]
    body = "\n".join(f"{_NAMES[message['role']]}: {message['content']}" for message in messages)
    opened = "" if messages[-1]["role"] == "assistant" else "\nAssistant:"
    return (tokenizer.bos_token if begins else "") + body + opened


def _check_kept(text: str, messages: Sequence[Message]) -> None:
    contents = [message["content"].strip() for message in messages]
    for message, content in zip(messages, contents, strict=True):
        # A template may write calls and results of tools in a form of its own, such as JSON.
        if message["role"] == "tool" or "tool_calls" in message or not content:
            continue
        if text.count(content) < sum(other.count(content) for other in contents):
            raise EngineError(
                f"The chat template of this model dropped or altered a {message['role']} turn: {content[:60]!r}.",
                "Use a model whose template keeps every turn, or one without a template.",
            )
