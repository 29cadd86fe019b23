"""From turns of text to tokens, with exact places for edits.

A conversation ends in an open assistant turn whose beginning (the *stem*) the model continues. Text is rendered by the
model's own chat template, or plainly for a model that has none, and tokenised without adding special tokens a second
time. Places are given as markers in the text and found again through the tokenizer's offsets; each is decoded back to
prove it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from transformers import PreTrainedTokenizerBase

from firsthand.errors import EngineError

Message: TypeAlias = tuple[str, str]

_PLAIN_NAMES: Final = {"system": "Instruction", "user": "User", "assistant": "Assistant"}


@dataclass(frozen=True)
class Rendered:
    """A conversation as tokens.

    Attributes:
        text: The rendered text.
        tokens: Token ids of all of it.
        spans: For each marked substring, in order, the absolute positions of its tokens.
    """

    text: str
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, ...], ...]


def render(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message], marks: Sequence[str] = ()) -> Rendered:
    """Render a conversation whose last turn is an open assistant turn.

    Args:
        tokenizer: The model's tokenizer.
        messages: ``(role, content)`` pairs; the last one is the assistant's stem.
        marks: Substrings to be located; the ``n``-th mark is searched after the end of the one before it.

    Returns:
        Text, tokens and spans.

    Raises:
        EngineError: If the conversation cannot be rendered, the template lost content or closed the last turn, content
            holds a special token of the model, or a marked substring is missing or has no tokens of its own.
    """
    _check_messages(tokenizer, messages)
    text = _to_text(tokenizer, messages)
    _check_rendering(text, messages)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens, offsets = [int(t) for t in encoded["input_ids"]], encoded["offset_mapping"]
    spans, cursor = [], 0
    for mark in marks:
        begin = text.find(mark, cursor)
        if begin < 0:
            raise EngineError(f"The text {mark!r} does not occur in the rendered prompt.", "Mark text that is there.")
        cursor = begin + len(mark)
        span = tuple(i for i, (a, b) in enumerate(offsets) if a < cursor and b > begin and b > a)
        covered = text[offsets[span[0]][0] : offsets[span[-1]][1]] if span else ""
        decoded = tokenizer.decode([tokens[i] for i in span], clean_up_tokenization_spaces=False)
        if not mark.strip() or covered.strip() != mark.strip() or decoded.strip() != mark.strip():
            raise EngineError(
                f"The text {mark!r} has no tokens of its own in the prompt: the tokens that hold it read {decoded!r}.",
                "Set it off by spaces.",
            )
        spans.append(span)
    return Rendered(text, tuple(tokens), tuple(spans))


def _check_messages(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> None:
    if not messages or messages[-1][0] != "assistant" or not messages[-1][1].strip():
        raise EngineError("A rendered conversation must end in an open assistant turn.", "Append the answer's stem.")
    unknown = {role for role, _ in messages} - set(_PLAIN_NAMES)
    if unknown:
        raise EngineError(f"There is no role {', '.join(sorted(unknown))}.", f"Use one of {', '.join(_PLAIN_NAMES)}.")
    if not tokenizer.is_fast:
        raise EngineError("This tokenizer cannot say where its tokens lie in the text.", "Use a fast tokenizer.")
    special = [token for token in tokenizer.all_special_tokens if any(token in content for _, content in messages)]
    if special:
        raise EngineError(
            f"The text holds {', '.join(special)}, which this model's tokenizer would read as part of the template.",
            "Leave special tokens out of the text.",
        )


def _check_rendering(text: str, messages: Sequence[Message]) -> None:
    """Every content must be there as often as the conversation has it, and the last one must be the end of the text."""
    contents = [content.strip() for _, content in messages]
    for role, content in messages:
        needed = sum(other.count(content.strip()) for other in contents if content.strip())
        if text.count(content.strip()) < needed:
            raise EngineError(
                f"The chat template of this model dropped or altered a {role} turn: {content[:60]!r}.",
                "Use a model whose template keeps every turn, or one without a template.",
            )
    if not text.endswith(messages[-1][1]):
        raise EngineError(
            f"The rendered prompt does not end in the answer's stem {messages[-1][1]!r}, but in {text[-30:]!r}.",
            "Use a stem without spaces at its end, or a model whose template leaves the last turn open.",
        )


def _to_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    if tokenizer.chat_template is None:
        return _plain_text(tokenizer, messages)
    chat = [{"role": role, "content": content} for role, content in messages]
    try:
        return str(tokenizer.apply_chat_template(chat, tokenize=False, continue_final_message=True))
    except Exception as error:  # templates raise errors of their own, of any class, for a role that they lack
        if [role for role, _ in messages[:2]] != ["system", "user"]:
            raise EngineError(
                f"The model's chat template failed: {error}.", "Use a model with a working template."
            ) from error
        (_, system), (_, content), *rest = messages
        return _to_text(tokenizer, [("user", f"{system}\n{content}"), *rest])


def _plain_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """A plain rendering for base models; one beginning-of-text token where the tokenizer itself would add one."""
    begins = tokenizer.bos_token_id is not None and tokenizer.bos_token_id in tokenizer("a")["input_ids"][:1]
    body = "\n".join(f"{_PLAIN_NAMES[role]}: {content}" for role, content in messages)
    return (tokenizer.bos_token if begins else "") + body


def common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """Tokens that all sequences share at their beginning, leaving at least one token of each to be run.

    Args:
        sequences: Token sequences, none empty.

    Returns:
        The number of shared leading tokens, at most one less than the shortest length.

    Raises:
        EngineError: If there is no sequence, or an empty one.
    """
    limit = min((len(s) for s in sequences), default=0) - 1
    if limit < 0:
        raise EngineError("A common prefix needs sequences of at least one token.", "Leave empty sequences out.")
    first = sequences[0]
    for i in range(limit):
        if any(s[i] != first[i] for s in sequences[1:]):
            return i
    return limit
