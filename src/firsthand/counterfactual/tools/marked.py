"""A question to a reader model, with marked tokens at which activations are written."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.targets.rendering import opened
from firsthand.errors import CounterfactualError


@dataclass(frozen=True)
class Marked:
    """A rendered question.

    Attributes:
        tokens: Its tokens, the assistant's turn open.
        places: Positions of the marks, in order.
    """

    tokens: tuple[int, ...]
    places: tuple[int, ...]


def marked(
    tokenizer: PreTrainedTokenizerBase, before: str, mark: str, count: int, after: str, system: str | None
) -> Marked:
    """Render a user's turn of a text, some marks and another text, and find the marks among its tokens.

    Args:
        tokenizer: The reader's tokenizer.
        before: Text before the marks.
        mark: The mark, which has to be one token where it stands.
        count: How many marks.
        after: Text after them.
        system: The system's turn; ``None``: whatever the template says without one.

    Raises:
        CounterfactualError: If the marks are not one token each, one after the other.
    """
    turns = [Turn(role="user", content=before + mark * count + after)]
    if system is not None:
        turns.insert(0, Turn(role="system", content=system))
    tokens = opened(tokenizer, Prompt(turns=tuple(turns)))
    alone = tokenizer(mark, add_special_tokens=False)["input_ids"]
    places = _run_of(tokens, alone[0], count) if len(alone) == 1 else ()
    if len(places) != count:
        raise CounterfactualError(
            f"The mark {mark!r} is not one token of its own in the reader's prompt, so nothing can be written there.",
            "Use the reader with the tokenizer that it was trained with, or another mark.",
        )
    return Marked(tokens, places)


def _run_of(tokens: Sequence[int], token: int, count: int) -> tuple[int, ...]:
    """The first run of exactly so many equal tokens."""
    begin = 0
    while begin < len(tokens):
        end = begin
        while end < len(tokens) and tokens[end] == token:
            end += 1
        if end - begin == count:
            return tuple(range(begin, end))
        begin = max(end, begin + 1)
    return ()
