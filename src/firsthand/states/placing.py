"""Puts a word or a text into a prompt, and finds the tokens that are its own.

A prompt is plain text, or the turns of a chat, with ``{word}`` in one place. Turns are rendered by the engine, which
refuses templates that lose or alter content. The place of the word is found in the rendered text, not by looking for
the word, which may stand elsewhere too ("art" in "start"): the prompt is rendered a second time with a word of another
first letter, and the first difference between the two texts is where the word begins. The tokens there are decoded to
prove that they hold the word and nothing else.
"""

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from transformers import PreTrainedTokenizerBase

from firsthand.engine.prompts import Message, render
from firsthand.errors import StatesError

Template: TypeAlias = str | tuple[Message, ...]
"""Text, or ``(role, content)`` turns with the roles ``system``, ``user`` and ``assistant``."""
Pool: TypeAlias = Literal["span", "last"]
"""Which tokens are read: those of the word, or the last one of the whole prompt."""

WORD: Final = "{word}"
_OPENING: Final = "Well"  # begins the assistant's turn while it is rendered, and is cut off again


@dataclass(frozen=True)
class Placed:
    """A word in its prompt.

    Attributes:
        tokens: Token ids up to the last position that is read; what follows cannot be felt there.
        positions: Absolute positions that are read.
    """

    tokens: tuple[int, ...]
    positions: tuple[int, ...]


def check_template(template: Template) -> None:
    """Refuse a template that has no single place for the word.

    Raises:
        StatesError: If ``{word}`` does not occur exactly once, or no turn is given.
    """
    texts = [template] if isinstance(template, str) else [content for _, content in template]
    if sum(text.count(WORD) for text in texts) != 1:
        raise StatesError(
            f"The template {template!r} has {WORD} {sum(text.count(WORD) for text in texts)} times.",
            f"Write {WORD} exactly once, where the word is to stand.",
        )


def place(tokenizer: PreTrainedTokenizerBase, template: Template, word: str, pool: Pool) -> Placed:
    """Put a word into a template and find the tokens to be read.

    Args:
        tokenizer: The model's tokenizer.
        template: Text or turns with ``{word}`` once. Turns that do not end in one of the assistant's are followed by
            the opening of that turn, as for generation. Text gets a beginning-of-text token where the tokenizer itself
            would add one.
        word: A word or a text, without spaces around it.
        pool: ``"span"`` for the tokens of the word, ``"last"`` for the last token of the whole prompt.

    Raises:
        EngineError: If the turns cannot be rendered without loss.
        StatesError: If the word is empty, has no tokens of its own, or would be read at position 0, where models park
            attention and residuals are of another size (an attention sink).
    """
    check_template(template)
    if not word or word != word.strip():
        raise StatesError(f"{word!r} is not a word to be put into a prompt.", "Give it without spaces around it.")
    text, begin = _text(tokenizer, template, word)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    tokens, offsets = [int(t) for t in encoded["input_ids"]], encoded["offset_mapping"]
    if pool == "last":
        positions: tuple[int, ...] = (len(tokens) - 1,)
    else:
        positions = _own_tokens(tokenizer, text, tokens, offsets, begin, begin + len(word))
    if positions[0] == 0:
        raise StatesError(
            f"{word!r} would be read at position 0, which is an attention sink in most models.",
            "Let something stand before it in the template.",
        )
    return Placed(tuple(tokens[: positions[-1] + 1]), positions)


def _text(tokenizer: PreTrainedTokenizerBase, template: Template, word: str) -> tuple[str, int]:
    """The whole prompt, and the index of the word in it."""
    if isinstance(template, str):
        special = [token for token in tokenizer.all_special_tokens if token in template or token in word]
        if special:
            raise StatesError(
                f"The text holds {', '.join(special)}, which this model's tokenizer would read as a special token.",
                "Leave special tokens out of the text.",
            )
        begins = tokenizer.bos_token_id is not None and tokenizer.bos_token_id in tokenizer("a")["input_ids"][:1]
        start = str(tokenizer.bos_token) if begins else ""
        return start + template.replace(WORD, word), len(start) + template.index(WORD)
    text = _rendered(tokenizer, template, word)
    other = _rendered(tokenizer, template, "B" if word[0] == "A" else "A")
    begin = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), len(text))
    if text[begin : begin + len(word)] != word:
        raise StatesError(f"The chat template of this model altered {word!r}.", "Use text instead of turns.")
    return text, begin


def _rendered(tokenizer: PreTrainedTokenizerBase, template: tuple[Message, ...], word: str) -> str:
    messages = [(role, content.replace(WORD, word)) for role, content in template]
    if messages[-1][0] == "assistant":
        return render(tokenizer, messages).text
    text = render(tokenizer, [*messages, ("assistant", _OPENING)]).text.removesuffix(_OPENING)
    return text if tokenizer.chat_template is not None else text.rstrip(" ")


def _own_tokens(
    tokenizer: PreTrainedTokenizerBase,
    text: str,
    tokens: list[int],
    offsets: list[tuple[int, int]],
    begin: int,
    end: int,
) -> tuple[int, ...]:
    """Positions of the tokens between two places in the text, proved to hold what stands there and nothing else."""
    word = text[begin:end]
    span = tuple(i for i, (a, b) in enumerate(offsets) if a < end and b > begin and b > a)
    covered = text[offsets[span[0]][0] : offsets[span[-1]][1]] if span else ""
    decoded = str(tokenizer.decode([tokens[i] for i in span], clean_up_tokenization_spaces=False))
    if covered.strip() != word or decoded.strip() != word:
        raise StatesError(
            f"{word!r} has no tokens of its own in the prompt: the tokens that hold it read {decoded!r}.",
            "Set the place of the word off by spaces, or use another word.",
        )
    return span
