"""Exact readout: the probability of each answer over the full vocabulary, instead of samples.

What falls short of the valid answers' mass is *invalid*, never "no". Answers are validated in their context first: a
code must be one token after its stem, leave the stem's own tokens unchanged, and share its token with no other code.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.errors import ElicitationError


@dataclass(frozen=True)
class Answer:
    """One two-way report, read exactly.

    Attributes:
        answer: 1 or 0; ``None`` if the likeliest next token is no valid code.
        probability: P(code of class 1 | a valid code).
        coverage: Probability mass on the two valid codes.
        contrast: log P(code of class 1) - log P(code of class 0).
        entropy: Entropy of the whole next-token distribution, in nats.
    """

    answer: int | None
    probability: float
    coverage: float
    contrast: float
    entropy: float


def code_token(tokenizer: PreTrainedTokenizerBase, stem: str, code: str) -> int | None:
    """The single token by which ``code`` continues ``stem`` after a space, or ``None`` if there is none."""
    before = tokenizer.encode(stem, add_special_tokens=False)
    after = tokenizer.encode(f"{stem} {code}", add_special_tokens=False)
    return int(after[-1]) if len(after) == len(before) + 1 and after[:-1] == before else None


def usable_codes(tokenizer: PreTrainedTokenizerBase, stems: Sequence[str], letters: Sequence[str]) -> list[str]:
    """Those letters that are one token, and a different one each, after every stem.

    Args:
        tokenizer: The model's tokenizer.
        stems: The answer stems that the codes will continue.
        letters: Candidate codes.

    Returns:
        The usable codes, in the given order.

    Raises:
        ElicitationError: If two codes that are single tokens share their token.
    """
    usable: list[str] = []
    owner: dict[int, str] = {}
    for letter in letters:
        tokens = {code_token(tokenizer, stem, letter) for stem in stems}
        if len(tokens) != 1 or None in tokens:
            continue
        token = tokens.pop()
        if token in owner and owner[token] != letter:
            raise ElicitationError(
                f"The codes {owner[token]!r} and {letter!r} begin with the same token, so they cannot be told apart.",
                "Remove one of them from report.code_letters.",
            )
        if letter not in usable:
            owner[token] = letter  # type: ignore[index]
            usable.append(letter)
    return usable


def read_answers(logprobs_RV: Tensor, code_tokens: Sequence[tuple[int, int]]) -> list[Answer]:
    """Read a two-way report from each row.

    Args:
        logprobs_RV: Log-probabilities over the full vocabulary, ``[rows, vocabulary]``.
        code_tokens: For each row the tokens of class 0 and class 1.

    Returns:
        One answer a row.
    """
    index = torch.tensor([list(pair) for pair in code_tokens])
    both_R2 = logprobs_RV.double().gather(1, index)
    contrast = both_R2[:, 1] - both_R2[:, 0]
    coverage = both_R2.exp().sum(1)
    top = logprobs_RV.argmax(1)
    full = logprobs_RV.double()
    entropy = -(full.exp() * full).nan_to_num(0.0).sum(1)
    answers = []
    for row, (zero, one) in enumerate(code_tokens):
        likeliest = int(top[row])
        answers.append(
            Answer(
                answer=1 if likeliest == one else 0 if likeliest == zero else None,
                probability=float(torch.sigmoid(contrast[row])),
                coverage=float(coverage[row]),
                contrast=float(contrast[row]),
                entropy=float(entropy[row]),
            )
        )
    return answers


def kl_divergence(reference_RV: Tensor, other_RV: Tensor) -> Tensor:
    """KL(reference || other) of each row, in nats, ``[rows]``; exactly zero for equal rows."""
    p, q = reference_RV.double(), other_RV.double()
    return (p.exp() * (p - q)).nan_to_num(0.0).sum(1).clamp_min(0.0)
