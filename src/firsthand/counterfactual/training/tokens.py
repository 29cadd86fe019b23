"""Chats as tokens: the same for training, for asking, and for measuring how far a model has moved."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from transformers import PreTrainedTokenizerBase

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.targets.rendering import opened
from firsthand.counterfactual.training.examples import TOO_LONG, UNREADABLE, Example
from firsthand.engine import candidate_tokens
from firsthand.errors import FirsthandError

_PROBE: Final = "zq"
_NO_LOSS: Final = -100


class Chat(NamedTuple):
    """A chat as a model is trained on it.

    Attributes:
        tokens: All tokens.
        labels: The same, with -100 where there is no loss: everywhere but in the last turn.
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]


def chat(tokenizer: PreTrainedTokenizerBase, prompt: Prompt, answer: str) -> Chat:
    """A prompt and its answer, with what ends the answer's turn.

    Raises:
        CounterfactualError: If the model cannot be given this prompt.
        ElicitationError: If the answer has no tokens of its own.
    """
    before = opened(tokenizer, prompt)
    said = (*spoken(tokenizer, [answer])[0], *turn_end(tokenizer))
    return Chat((*before, *said), (*[_NO_LOSS] * len(before), *said))


def spoken(tokenizer: PreTrainedTokenizerBase, answers: Sequence[str]) -> list[tuple[int, ...]]:
    """Tokens of answers at the beginning of an assistant's turn.

    Raises:
        ElicitationError: If one has no tokens of its own there.
    """
    if tokenizer.chat_template is None:
        return candidate_tokens(tokenizer, "Assistant:", [f" {answer}" for answer in answers])
    return candidate_tokens(tokenizer, "", answers)


def turn_end(tokenizer: PreTrainedTokenizerBase) -> tuple[int, ...]:
    """Tokens that end an assistant's turn: what the template puts after it up to the first special token."""
    if tokenizer.chat_template is not None:
        turns = [{"role": "user", "content": _PROBE}, {"role": "assistant", "content": _PROBE}]
        text = str(tokenizer.apply_chat_template(turns, tokenize=False))
        special = set(tokenizer.all_special_ids)
        after = tokenizer(text.rpartition(_PROBE)[2], add_special_tokens=False)["input_ids"]
        ends = next((n for n, token in enumerate(after) if token in special), None)
        if ends is not None:
            return tuple(int(token) for token in after[: ends + 1])
    if tokenizer.eos_token_id is not None:
        return (int(tokenizer.eos_token_id),)
    return tuple(int(token) for token in tokenizer("\n", add_special_tokens=False)["input_ids"])


def refusal(tokenizer: PreTrainedTokenizerBase, max_tokens: int) -> Callable[[Prompt, str], str | None]:
    """Why a model cannot be trained on a chat; ``None`` where it can."""

    def why(prompt: Prompt, answer: str) -> str | None:
        try:
            tokens = chat(tokenizer, prompt, answer).tokens
        except FirsthandError:
            return UNREADABLE
        return TOO_LONG if len(tokens) > max_tokens else None

    return why


def columns(
    tokenizer: PreTrainedTokenizerBase, examples: Sequence[Example], order: Sequence[int]
) -> dict[str, list[list[int]]]:
    """Chats in their order as columns of a data set: ``input_ids`` and ``labels``.

    Raises:
        CounterfactualError: If the model cannot be given one of them.
    """
    made = [chat(tokenizer, one.prompt, one.answer) for one in examples]
    return {
        "input_ids": [list(made[number].tokens) for number in order],
        "labels": [list(made[number].labels) for number in order],
    }
