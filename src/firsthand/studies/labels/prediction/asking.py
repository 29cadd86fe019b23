"""Questions as tokens, and the letters of classes read exactly over the whole vocabulary.

A reply is valid if the likeliest token of the vocabulary is one of the letters; otherwise it is invalid, and never a
class. Every question is put twice, with the classes listed in one order and in the other: what a model says because of
a letter or a place cancels out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine import Anatomy, LoadedModel, Row, candidate_tokens, run
from firsthand.engine.candidates import check_candidates
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import code_token
from firsthand.errors import ElicitationError

_TAIL = 3  # tokens at the end of a stem that decide by which token a letter continues it


@dataclass(frozen=True)
class Asked:
    """A question as tokens.

    Attributes:
        tokens: Token ids, up to the end of the stem.
        labels: The token of each class, in the order of the classes.
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Replies:
    """What was replied to questions, each put in several orders.

    Attributes:
        logprobs_NC: Mean over the orders of the log-probability of each class among the classes, ``[questions,
            classes]``, in nats.
        coverage_N: Mean probability of all letters together, ``[questions]``.
        choice_N: The likelier class by those log-probabilities, NaN where two are equal, ``[questions]``.
        answer_N: The same, NaN also where a reply in some order is invalid, ``[questions]``.
    """

    logprobs_NC: NDArray[np.float64]
    coverage_N: NDArray[np.float64]
    choice_N: NDArray[np.float64]
    answer_N: NDArray[np.float64]


def usable_letters(tokenizer: PreTrainedTokenizerBase, stems: Sequence[str], letters: Sequence[str]) -> tuple[str, ...]:
    """Those letters that are one token, and a different one each, after every stem."""
    able: dict[str, tuple[int, ...]] = {}
    for letter in letters:
        found = [code_token(tokenizer, stem, letter) for stem in stems]
        tokens = tuple(token for token in found if token is not None)
        if len(tokens) == len(found) and tokens not in able.values():
            able[letter] = tokens
    return tuple(able)


class Layout:
    """Lays questions out that end in the same stem.

    Args:
        tokenizer: The model's tokenizer.
        stem: How every reply begins.
        letters: The letters.

    Raises:
        ElicitationError: If a letter is not one token of its own after the first question, or the stem ends in other
            tokens after a later one.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, stem: str, letters: Sequence[str]) -> None:
        self._tokenizer, self._stem, self._letters = tokenizer, stem, tuple(letters)
        self._tokens: dict[str, int] = {}
        self._tail: tuple[int, ...] = ()

    def __call__(self, text: str, letters: Sequence[str]) -> Asked:
        """A user's turn followed by the stem.

        Args:
            text: The turn.
            letters: The letter of each class.
        """
        messages: list[Message] = [("user", text), ("assistant", self._stem)]
        rendered = render(self._tokenizer, messages)
        if not self._tokens:
            found = candidate_tokens(self._tokenizer, rendered.text, [f" {letter}" for letter in self._letters])
            if any(len(tokens) != 1 for tokens in found):
                raise ElicitationError(
                    f"The letters {', '.join(self._letters)} are not one token each after {self._stem!r}.",
                    "Use a model whose tokenizer writes a letter after a space as one token.",
                )
            check_candidates(found)
            self._tokens = dict(zip(self._letters, (tokens[0] for tokens in found), strict=True))
            self._tail = rendered.tokens[-_TAIL:]
        if rendered.tokens[-_TAIL:] != self._tail:
            raise ElicitationError(
                f"The stem {self._stem!r} has other tokens after some prompts.", "Use a model with a chat template."
            )
        return Asked(rendered.tokens, tuple(self._tokens[letter] for letter in letters))


def replies(
    loaded: LoadedModel,
    anatomy: Anatomy,
    questions: Sequence[Sequence[Asked]],
    advance: Callable[[int], None] | None = None,
) -> Replies:
    """Read what is replied to questions; what they share is computed once.

    Args:
        loaded: The model.
        anatomy: The same model's parts.
        questions: For each question its forms, one an order.
        advance: Told the number of forms done after each pass.

    Raises:
        EngineError: If a question cannot be run.
    """
    every = [form for forms in questions for form in forms]

    def read(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        return torch.stack([_read(one, every[i].labels) for i, one in zip(owners, logprobs_RV, strict=True)])

    found = run(anatomy, [Row(form.tokens) for form in every], reduce=read, advance=advance).logprobs_RV.numpy()
    by_question = found.reshape(len(questions), len(questions[0]), -1)
    classes_NOC, coverage_NO, named_NO = by_question[..., :-2], by_question[..., -2], by_question[..., -1]
    among_NOC = classes_NOC - np.logaddexp.reduce(classes_NOC, axis=-1, keepdims=True)
    logprobs_NC = among_NOC.mean(axis=1)
    best_N = logprobs_NC.max(axis=1, keepdims=True)
    tied_N = (logprobs_NC == best_N).sum(axis=1) > 1
    choice_N = np.where(tied_N, np.nan, logprobs_NC.argmax(axis=1).astype(np.float64))
    answer_N = np.where(named_NO.all(axis=1), choice_N, np.nan)
    return Replies(logprobs_NC, coverage_NO.mean(axis=1), choice_N, answer_N)


def _read(logprobs_V: Tensor, labels: Sequence[int]) -> Tensor:
    """Log-probability of each label, their probability together, and whether the likeliest token is one, float64."""
    full_V = logprobs_V.double()
    own_C = full_V[list(labels)]
    named = own_C.amax() == full_V.amax()
    return torch.cat([own_C, own_C.exp().sum()[None], named.double()[None]]).cpu()
