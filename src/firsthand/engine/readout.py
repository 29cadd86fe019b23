"""Exact readout: the probability of each answer over the full vocabulary, instead of samples.

What falls short of the valid answers' mass is *invalid*, never "no". Answers are validated in their context first: a
code must be one token after its stem, leave the stem's own tokens unchanged, and share its token with no other code.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.errors import ElicitationError, EngineError


@dataclass(frozen=True)
class Answer:
    """One two-way report, read exactly.

    Attributes:
        answer: 1 or 0; ``None``, which is *invalid*, if the likeliest next token is no valid code.
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
    if after[:-1] != before or after[-1] == tokenizer.unk_token_id:
        return None
    return int(after[-1])


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
    for letter in dict.fromkeys(letters):
        tokens = {code_token(tokenizer, stem, letter) for stem in stems}
        token = tokens.pop() if len(tokens) == 1 else None
        if token is None:
            continue
        if token in owner:
            raise ElicitationError(
                f"The codes {owner[token]!r} and {letter!r} begin with the same token, so they cannot be told apart.",
                "Remove one of them from report.code_letters.",
            )
        owner[token] = letter
        usable.append(letter)
    return usable


def read_answers(logprobs_RV: Tensor, code_tokens: Sequence[tuple[int, int]]) -> list[Answer]:
    """Read a two-way report from each row.

    Args:
        logprobs_RV: Log-probabilities over the full vocabulary, ``[rows, vocabulary]``.
        code_tokens: For each row the tokens of class 0 and class 1.

    Returns:
        One answer a row. Two codes that are exactly equally likely name neither; two that are impossible leave the
        contrast at 0 and the probability at a half, with no coverage.

    Raises:
        ElicitationError: If there is not one pair of two different tokens of the vocabulary for each row.
        EngineError: If a log-probability is not a number.
    """
    rows, size = logprobs_RV.shape
    if len(code_tokens) != rows or any(z == o or not (0 <= z < size and 0 <= o < size) for z, o in code_tokens):
        raise ElicitationError(
            f"The code tokens {list(code_tokens)[:4]} are not two different ones below {size} for each of {rows} rows.",
            "Give the pair of this model's tokens for each row.",
        )
    full_RV = logprobs_RV.double()
    if bool(full_RV.isnan().any()):
        raise EngineError("A log-probability is not a number.", "Use a smaller dose, or float32.")
    both_R2 = full_RV.gather(1, torch.tensor([list(pair) for pair in code_tokens], dtype=torch.long).reshape(rows, 2))
    contrast_R = (both_R2[:, 1] - both_R2[:, 0]).nan_to_num(0.0, posinf=torch.inf, neginf=-torch.inf)
    named_R = both_R2.amax(1) == full_RV.amax(1)
    coverage_R, probability_R = both_R2.exp().sum(1), torch.sigmoid(contrast_R)
    entropy_R = entropy(full_RV)
    return [
        Answer(
            answer=int(contrast > 0) if named and contrast != 0 else None,
            probability=probability,
            coverage=coverage,
            contrast=contrast,
            entropy=entropy,
        )
        for named, contrast, probability, coverage, entropy in zip(
            named_R.tolist(),
            contrast_R.tolist(),
            probability_R.tolist(),
            coverage_R.tolist(),
            entropy_R.tolist(),
            strict=True,
        )
    ]


def entropy(logprobs_RV: Tensor) -> Tensor:
    """Entropy of each row of log-probabilities, in nats, ``[rows]`` float64."""
    probabilities_RV = logprobs_RV.double().exp()
    return -torch.xlogy(probabilities_RV, probabilities_RV).sum(1)


def kl_divergence(reference_RV: Tensor, other_RV: Tensor) -> Tensor:
    """KL(reference || other) of each row of log-probabilities, in nats, ``[rows]``.

    Rounding in the normalisation of either is removed first. Exactly zero for equal rows; infinite where the other
    excludes what the reference allows.

    Raises:
        EngineError: If a log-probability is not a number, which would otherwise pass for no divergence.
    """
    p_RV, q_RV = (torch.log_softmax(x.double(), -1) for x in (reference_RV, other_RV))
    if bool(p_RV.isnan().any() or q_RV.isnan().any()):
        raise EngineError("A log-probability is not a number.", "Use a smaller dose, or float32.")
    terms_RV = torch.where(p_RV == -torch.inf, 0.0, p_RV.exp() * (p_RV - q_RV))
    return terms_RV.sum(1).clamp_min(0.0)


def divergence_and_entropy(reference_V: Tensor, other_RV: Tensor) -> tuple[Tensor, Tensor]:
    """KL(reference || other) and the entropy of each row, as :func:`kl_divergence` and :func:`entropy` give them.

    One pass over the rows instead of ten, since the reference is the same for all of them.

    Args:
        reference_V: Log-probabilities of the reference, ``[vocabulary]``.
        other_RV: Log-probabilities of each row, ``[rows, vocabulary]``.

    Returns:
        Both in nats, ``[rows]`` float64.

    Raises:
        EngineError: If a log-probability is not a number.
    """
    q_RV = other_RV.double()
    log_p_V = torch.log_softmax(reference_V.double(), -1)
    if not bool(q_RV.isfinite().all() and log_p_V.isfinite().all()):
        return kl_divergence(reference_V[None].expand_as(other_RV), other_RV), entropy(other_RV)
    p_V, mass_RV = log_p_V.exp(), q_RV.exp()
    total_R = mass_RV.sum(1)
    apart_R = (p_V * log_p_V).sum() - q_RV @ p_V + total_R.log()
    return apart_R.clamp_min(0.0), -(mass_RV * q_RV).sum(1)
