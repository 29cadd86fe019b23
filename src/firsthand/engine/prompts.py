"""From turns of text to tokens, with exact places for edits.

A conversation ends in an open assistant turn whose beginning (the *stem*) the model continues. Text is rendered by the
model's own chat template, or plainly for a model that has none, and tokenised without adding special tokens a second
time. Places are given as markers in the text and found again through the tokenizer's offsets; each is decoded back to
prove it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from transformers import PreTrainedTokenizerBase

from firsthand.errors import EngineError

Message: TypeAlias = tuple[str, str]


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
        EngineError: If a marked substring is missing, has no tokens of its own, or the template lost content.
    """
    if not messages or messages[-1][0] != "assistant":
        raise EngineError("A rendered conversation must end in an open assistant turn.", "Append the answer's stem.")
    text = _to_text(tokenizer, messages)
    for role, content in messages:
        if content.strip() not in text:
            raise EngineError(
                f"The chat template of this model dropped or altered a {role} turn: {content[:60]!r}.",
                "Use a model whose template keeps every turn, or one without a template.",
            )
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens, offsets = [int(t) for t in encoded["input_ids"]], encoded["offset_mapping"]
    spans, cursor = [], 0
    for mark in marks:
        begin = text.find(mark, cursor)
        if begin < 0:
            raise EngineError(f"The text {mark!r} does not occur in the rendered prompt.", "Mark text that is there.")
        cursor = begin + len(mark)
        span = tuple(i for i, (a, b) in enumerate(offsets) if a < cursor and b > begin and b > a)
        if not span or mark.strip() not in tokenizer.decode([tokens[i] for i in span]):
            raise EngineError(f"The text {mark!r} has no tokens of its own in the prompt.", "Set it off by spaces.")
        spans.append(span)
    return Rendered(text, tuple(tokens), tuple(spans))


def _to_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    if tokenizer.chat_template is None:
        return _plain_text(tokenizer, messages)
    chat = [{"role": role, "content": content} for role, content in messages]
    try:
        text = tokenizer.apply_chat_template(chat, tokenize=False, continue_final_message=True)
    except Exception as error:
        if messages[0][0] != "system":
            raise EngineError(f"The model's chat template failed: {error}.", "Use a model with a working template.") from error
        system, (role, content), *rest = messages
        return _to_text(tokenizer, [(role, f"{system[1]}\n{content}"), *rest])
    return str(text)


def _plain_text(tokenizer: PreTrainedTokenizerBase, messages: Sequence[Message]) -> str:
    """A plain rendering for base models; one beginning-of-text token where the tokenizer itself would add one."""
    begins = tokenizer.bos_token_id is not None and tokenizer.bos_token_id in tokenizer("a")["input_ids"][:1]
    names = {"system": "Instruction", "user": "User", "assistant": "Assistant"}
    body = "\n".join(f"{names[role]}: {content}" for role, content in messages)
    return (tokenizer.bos_token if begins else "") + body


def common_prefix_length(sequences: Sequence[Sequence[int]]) -> int:
    """Tokens that all sequences share at their beginning, leaving at least one token of each to be run.

    Args:
        sequences: Token sequences, none empty.

    Returns:
        The number of shared leading tokens, at most one less than the shortest length.
    """
    limit = min(len(s) for s in sequences) - 1
    first = sequences[0]
    for i in range(limit):
        if any(s[i] != first[i] for s in sequences[1:]):
            return i
    return limit
