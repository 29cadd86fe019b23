"""Many questions about many texts, read at their ends: what they have in common is computed once.

The prompts of one text differ only in the question after it, so they are laid out as a tree of three levels: how all
prompts begin, what one text adds to that, and one question about it. The general tree of
:func:`firsthand.engine.sweep.run` looks for more, which does not pay for a few questions about short texts; here all
texts share one pass, and all questions another.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.chunks import chunked, halving, tokens_at_once
from firsthand.engine.edits import Row
from firsthand.engine.prompts import common_prefix_length
from firsthand.engine.session import run_prefix, run_rows
from firsthand.engine.sweep import run

Tokens = tuple[int, ...]
Read = Callable[[Tensor, int, int], Tensor]
"""From log-probabilities ``[vocabulary]`` after a prompt, and the numbers of its text and question, to what is kept."""


def ask(
    anatomy: Anatomy,
    prompts_TQ: Sequence[Sequence[Tokens]],
    read: Read,
    advance: Callable[[int], None] | None = None,
) -> Tensor:
    """Run prompts, and keep something of the distribution after each.

    Args:
        anatomy: The model's parts.
        prompts_TQ: Tokens of the prompts, whole: for each text the same number of questions.
        read: What is kept of a distribution.
        advance: Told the number of prompts done after each pass.

    Returns:
        What was kept, ``[texts, questions, ...]``.

    Raises:
        EngineError: If the model cannot take the prompts.
    """
    begin, lengths = shared_lengths(prompts_TQ)
    if not _branches(prompts_TQ, begin, lengths):
        return _one_by_one(anatomy, prompts_TQ, read, advance)
    root, _ = run_prefix(anatomy, [Row(prompts_TQ[0][0][:begin])])
    kept: dict[int, Tensor] = {}

    def work(texts: Sequence[int]) -> None:
        begun = [Row(prompts_TQ[t][0][begin : lengths[t]]) for t in texts]
        trunk, _ = run_prefix(anatomy, begun, prefix=root, prefix_rows=[0] * len(texts))
        homes = [home for home, t in enumerate(texts) for _ in prompts_TQ[t]]
        rows = [Row(tokens[lengths[t] :]) for t in texts for tokens in prompts_TQ[t]]
        said = run_rows(anatomy, rows, prefix=trunk, prefix_rows=homes).logprobs_RV
        for t, logprobs_QV in zip(texts, torch.split(said, len(prompts_TQ[0])), strict=True):
            kept[t] = torch.stack([read(logprobs_V, t, q) for q, logprobs_V in enumerate(logprobs_QV)])
        if advance is not None:
            advance(len(rows))

    def size(text: int) -> int:
        return sum(len(tokens) - lengths[text] for tokens in prompts_TQ[text])

    for chunk in chunked(range(len(prompts_TQ)), size, tokens_at_once(anatomy)):
        halving(chunk, work)
    return torch.stack([kept[t] for t in range(len(prompts_TQ))])


def shared_lengths(prompts_TQ: Sequence[Sequence[Tokens]]) -> tuple[int, tuple[int, ...]]:
    """Tokens that all prompts begin with, and those that the prompts of each text begin with."""
    everything = [tokens for prompts in prompts_TQ for tokens in prompts]
    return common_prefix_length(everything), tuple(common_prefix_length(list(prompts)) for prompts in prompts_TQ)


def tokens_run(prompts_TQ: Sequence[Sequence[Tokens]]) -> int:
    """Tokens that :func:`ask` computes."""
    begin, lengths = shared_lengths(prompts_TQ)
    if not _branches(prompts_TQ, begin, lengths):
        return begin + sum(len(tokens) - begin for prompts in prompts_TQ for tokens in prompts)
    own = sum(len(tokens) - shared for p, shared in zip(prompts_TQ, lengths, strict=True) for tokens in p)
    return begin + sum(shared - begin for shared in lengths) + own


def _branches(prompts_TQ: Sequence[Sequence[Tokens]], begin: int, lengths: Sequence[int]) -> bool:
    """Whether there are several questions, and every text adds something that they share to the common beginning."""
    return len(prompts_TQ[0]) > 1 and begin > 0 and min(lengths) > begin


def _one_by_one(
    anatomy: Anatomy, prompts_TQ: Sequence[Sequence[Tokens]], read: Read, advance: Callable[[int], None] | None
) -> Tensor:
    places = [(t, q) for t, prompts in enumerate(prompts_TQ) for q in range(len(prompts))]

    def reduce(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        return torch.stack([read(one, *places[i]) for i, one in zip(owners, logprobs_RV, strict=True)])

    rows = [Row(prompts_TQ[t][q]) for t, q in places]
    kept_R = run(anatomy, rows, reduce=reduce, advance=advance).logprobs_RV
    return kept_R.reshape(len(prompts_TQ), len(prompts_TQ[0]), *kept_R.shape[1:])
