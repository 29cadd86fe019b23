"""A prompt as the tokens that a local model is given, up to where it is to speak.

As in :mod:`firsthand.engine.prompts`, but with an empty stem: the template opens the assistant's turn, and says nothing
in it. What a turn says is data: a text that holds a special token of the model would end its own turn, and is refused.
So are turns that the template drops, alters or was never made for.
"""

import json
from typing import Any, Final

from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.errors import CounterfactualError

_PLAIN: Final = {"system": "Instruction", "user": "User", "assistant": "Assistant"}
PLAIN_STOP: Final = ("\nUser:", "\nInstruction:")
"""Where an answer of a model without a template ends: it would go on with the next turn by itself."""


def opened(tokenizer: PreTrainedTokenizerBase, prompt: Prompt) -> tuple[int, ...]:
    """Tokens of a prompt with the assistant's turn open.

    Args:
        tokenizer: The model's tokenizer.
        prompt: The prompt.

    Raises:
        CounterfactualError: If a turn holds a special token, or the model's template has no place for what the prompt
            holds.
    """
    contents = [text for turn in prompt.turns for text in _texts(turn)]
    contents += [text for tool in prompt.tools for text in (tool.name, tool.description)]
    special = [token for token in tokenizer.all_special_tokens if any(token in text for text in contents)]
    if special:
        raise CounterfactualError(
            f"The prompt holds {', '.join(special)}, which this model's tokenizer would read as part of the template.",
            "Leave special tokens out of the text.",
        )
    with_tools = bool(prompt.tools) or any(turn.role == "tool" or turn.calls for turn in prompt.turns)
    if tokenizer.chat_template is None:
        if with_tools:
            raise _no_tools()
        text = _plain(tokenizer, prompt)
    else:
        text = _templated(tokenizer, prompt, with_tools)
    _check(text, prompt)
    return tuple(int(token) for token in tokenizer(text, add_special_tokens=False)["input_ids"])


def _texts(turn: Turn) -> list[str]:
    return [turn.content, *(text for call in turn.calls for text in (call.name, json.dumps(call.arguments)))]


def _plain(tokenizer: PreTrainedTokenizerBase, prompt: Prompt) -> str:
    begins = tokenizer.bos_token_id is not None and tokenizer.bos_token_id in tokenizer("a")["input_ids"][:1]
    turns = [f"{_PLAIN[turn.role]}: {turn.content}" for turn in prompt.turns]
    return (str(tokenizer.bos_token) if begins else "") + "\n".join([*turns, "Assistant:"])


def _templated(tokenizer: PreTrainedTokenizerBase, prompt: Prompt, with_tools: bool) -> str:
    tools = [_tool(one.name, one.description, one.parameters) for one in prompt.tools] or None
    if with_tools and "tool" not in _template(tokenizer, tools):
        raise _no_tools()
    messages = [_message(turn) for turn in prompt.turns]
    try:
        return _applied(tokenizer, messages, tools)
    except Exception as error:  # templates raise errors of their own, of any class, for a role that they lack
        if [one["role"] for one in messages[:2]] != ["system", "user"]:
            raise CounterfactualError(
                f"The model's chat template failed: {error}.", "Use a model whose template has these turns."
            ) from error
        system, user, *rest = messages
        merged = {"role": "user", "content": f"{system['content']}\n{user['content']}"}
        try:
            return _applied(tokenizer, [merged, *rest], tools)
        except Exception as again:
            raise CounterfactualError(
                f"The model's chat template failed: {again}.", "Use a model whose template has these turns."
            ) from again


def _template(tokenizer: PreTrainedTokenizerBase, tools: list[dict[str, Any]] | None) -> str:
    """The template that will be used: some tokenizers have another one for tools."""
    try:
        return str(tokenizer.get_chat_template(None, tools))
    except ValueError as error:
        raise _no_tools() from error


def _applied(
    tokenizer: PreTrainedTokenizerBase, messages: list[dict[str, Any]], tools: list[dict[str, Any]] | None
) -> str:
    # Models that can think are told not to; a template that does not know the word ignores it.
    return str(
        tokenizer.apply_chat_template(
            messages, tools=tools, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
    )


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": turn.content}
    if turn.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in turn.calls
        ]
    if turn.answers is not None:
        message["tool_call_id"] = turn.answers
    return message


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    given = parameters or {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": given}}


def _check(text: str, prompt: Prompt) -> None:
    """Every content must be there as often as the prompt has it, and every tool at all."""
    contents = [turn.content.strip() for turn in prompt.turns if turn.content.strip()]
    for content in contents:
        if text.count(content) < sum(other.count(content) for other in contents):
            raise CounterfactualError(
                f"The chat template of this model dropped or altered a turn: {content[:60]!r}.",
                "Use a model whose template keeps every turn.",
            )
    names = [tool.name for tool in prompt.tools] + [call.name for turn in prompt.turns for call in turn.calls]
    lost = [name for name in names if name not in text]
    if lost:
        raise CounterfactualError(
            f"The chat template of this model drops the tool {lost[0]}.", "Use a model whose template has tools."
        )


def _no_tools() -> CounterfactualError:
    return CounterfactualError(
        "The prompt has tools or their results, and the chat template of this model has no place for them.",
        "Use a model whose template has tools, or prompts without.",
    )
