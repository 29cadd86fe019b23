"""Where a generated text ends, and what it reads.

A row is a list of generated token ids, without its prompt. It ends at an end token, at a stop string, or at its
longest length. Its text is decoded as the continuation that it is: after another token, since many tokenizers drop the
space before a text's first word.
"""

import string
from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from firsthand.errors import EngineError

Reason: TypeAlias = Literal["eos", "stop", "length"]

_BROKEN: Final = "\ufffd"
"""What decoders write for bytes that are no character, or not yet one."""

_LONGEST_UNFINISHED: Final = 3
"""A character of UTF-8 has at most four bytes, so at most three tokens at the end are an unfinished one."""


class Stopper:
    """Says whether a row has ended, and reads it.

    Args:
        tokenizer: The model's tokenizer.
        max_tokens: The longest length, in generated tokens, an end token included.
        eos_tokens: Ids of tokens that end a text; may be none.
        stop_strings: One string, or several, before which a text is cut.

    Raises:
        EngineError: If the length is below 1, a stop string could never be found (it is empty, or holds a special token
            or the replacement character), or the tokenizer has no token for any letter.
    """

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        *,
        max_tokens: int,
        eos_tokens: Iterable[int],
        stop_strings: str | Sequence[str] = (),
    ) -> None:
        if max_tokens < 1:
            raise EngineError(f"A text of at most {max_tokens} tokens is none.", "Allow at least one token.")
        self.max_tokens = max_tokens
        self.eos_tokens = frozenset(int(token) for token in eos_tokens)
        self.stop_strings = (stop_strings,) if isinstance(stop_strings, str) else tuple(stop_strings)
        self._tokenizer = tokenizer
        for stop in self.stop_strings:
            self._check(stop)
        self._anchor, self._anchor_text = _anchor(tokenizer)

    def ended(self, tokens: Sequence[int]) -> Reason | None:
        """Why the row has ended, or ``None`` if it goes on.

        To be asked after every token, so that a row is never longer than what ended it.

        Args:
            tokens: The row's generated tokens so far.

        Returns:
            ``"stop"`` if a stop string is complete, else ``"eos"`` if there is an end token, else ``"length"`` if the
            longest length is reached. A stop string stands before the end token that follows it.
        """
        text_tokens, at_eos = self._cut(tokens)
        if self.stop_strings and self._find(self._whole(text_tokens)) is not None:
            return "stop"
        if at_eos:
            return "eos"
        return "length" if len(text_tokens) >= self.max_tokens else None

    def text(self, tokens: Sequence[int]) -> str:
        """What the row reads: before its end token and its first stop string, without special tokens.

        Args:
            tokens: The row's generated tokens.

        Returns:
            The text, with the space that separates it from its prompt, if it begins with one. A character that is
            unfinished at the end is left out.
        """
        text = self._whole(self._cut(tokens)[0])
        return text[: self._find(text)]

    def _cut(self, tokens: Sequence[int]) -> tuple[list[int], bool]:
        """Tokens before the end token, as far as the longest length, and whether there was an end token."""
        allowed = list(tokens[: self.max_tokens])
        end = next((i for i, token in enumerate(allowed) if token in self.eos_tokens), None)
        return allowed[:end], end is not None

    def _find(self, text: str) -> int | None:
        return min((text.index(stop) for stop in self.stop_strings if stop in text), default=None)

    def _whole(self, tokens: list[int]) -> str:
        """The text as far as its last whole character.

        Decoders differ in what an unfinished character does. Byte-level ones write it alone as broken, so leaving out
        its marks is right. Those that fall back to bytes write the whole run of byte tokens before it as broken too;
        there the text without the last few tokens has more. The longer one has all that is whole in either case.
        """
        text = self._decode(tokens)
        whole = text.rstrip(_BROKEN)
        if whole == text:
            return text
        for dropped in range(1, min(_LONGEST_UNFINISHED, len(tokens)) + 1):
            shorter = self._decode(tokens[:-dropped])
            if not shorter.endswith(_BROKEN):
                return max(whole, shorter, key=len)
        return whole

    def _decode(self, tokens: list[int]) -> str:
        return _decoded(self._tokenizer, [*self._anchor, *tokens])[len(self._anchor_text) :]

    def _check(self, stop: str) -> None:
        if not stop:
            raise EngineError("A stop string is empty, which every text holds.", "Leave it out.")
        if _BROKEN in stop:
            raise EngineError(
                "A stop string holds the replacement character, which also stands for half a character.",
                "Stop at other text.",
            )
        special = [token for token in self._tokenizer.all_special_tokens if token in stop]
        if special:
            raise EngineError(
                f"The stop string {stop!r} holds the special token {special[0]}, which a text never shows.",
                "Give that token's id among the end tokens instead.",
            )


def stopper_for(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    *,
    max_tokens: int,
    stop_strings: str | Sequence[str] = (),
) -> Stopper:
    """A stopper with the model's own ends: those of its generation configuration, and the tokenizer's end token.

    Args:
        model: The model.
        tokenizer: Its tokenizer.
        max_tokens: The longest length, in generated tokens.
        stop_strings: Strings to stop at, besides those of the generation configuration.

    Raises:
        EngineError: As :class:`Stopper` does.
    """
    given = (stop_strings,) if isinstance(stop_strings, str) else tuple(stop_strings)
    own = getattr(model.generation_config, "stop_strings", None) or ()
    own = (own,) if isinstance(own, str) else tuple(own)
    return Stopper(
        tokenizer,
        max_tokens=max_tokens,
        eos_tokens=end_tokens(model, tokenizer),
        stop_strings=tuple(dict.fromkeys(given + own)),
    )


def end_tokens(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids that end a text: one, several or none of the model's generation configuration, and the tokenizer's."""
    own = getattr(model.generation_config, "eos_token_id", None)
    listed = [] if own is None else [own] if isinstance(own, int) else list(own)
    return frozenset(int(token) for token in (*listed, tokenizer.eos_token_id) if token is not None)


def _anchor(tokenizer: PreTrainedTokenizerBase) -> tuple[list[int], str]:
    """Tokens to decode after, and what they read: some letter, which no token that follows can alter."""
    for letter in string.ascii_letters + string.digits:
        tokens = tokenizer.encode(letter, add_special_tokens=False)
        if tokenizer.unk_token_id not in tokens and _decoded(tokenizer, tokens).strip() == letter:
            return tokens, _decoded(tokenizer, tokens)
    raise EngineError("This tokenizer has no token for any letter or digit.", "Use the tokenizer of a language model.")


def _decoded(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[int]) -> str:
    return str(tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False))
