"""Exact probabilities of replies of one or several tokens, after any number of prompts that share their beginnings.

Replies form a tree of tokens, and each of its inner nodes is a row (as in :mod:`firsthand.engine.candidates`). Here
prompts differ in their replies, and all rows go through one run, which computes what they have in common once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firsthand.engine import Anatomy, Capture, Row, Site, run
from firsthand.engine.candidates import Tokens, check_candidates


@dataclass(frozen=True)
class Question:
    """A prompt and its possible replies.

    Attributes:
        tokens: The prompt.
        labels: For each reply the token sequences that write it.
        read: Whether the residual stream is read at the prompt's last token.
    """

    tokens: Tokens
    labels: tuple[tuple[Tokens, ...], ...]
    read: bool = False


@dataclass(frozen=True, eq=False)
class Reply:
    """What a model replies.

    Attributes:
        logprobs: Log-probability of each label, in nats.
        coverage: Probability mass on all of them.
        named: Whether the likeliest next token, and each one after it, is that of a label. If not, the reply is
            invalid.
        state: Residual streams at the prompt's last token, sites one after the other, ``[sites * hidden]``; empty where
            nothing was read.
    """

    logprobs: tuple[float, ...]
    coverage: float
    named: bool
    state: NDArray[np.float32]


@dataclass(frozen=True)
class _Node:
    owner: int
    begun: Tokens
    nexts: Tokens


def replies(
    anatomy: Anatomy,
    questions: Sequence[Question],
    sites: Sequence[Site] = (),
    advance: Callable[[int], None] | None = None,
) -> list[Reply]:
    """What a model replies to each prompt.

    Args:
        anatomy: The model's parts.
        questions: The prompts.
        sites: Where those prompts are read that are to be.
        advance: Told the number of rows done after each pass.

    Raises:
        ElicitationError: If the replies to a prompt are no alternatives.
        EngineError: If a prompt cannot be run.
    """
    nodes = [node for number, one in enumerate(questions) for node in _nodes(number, one)]
    width = max(len(node.nexts) for node in nodes)
    rows = [
        Row(
            (*questions[node.owner].tokens, *node.begun),
            captures=tuple(Capture(str(site), site, (len(questions[node.owner].tokens) - 1,)) for site in sites)
            if questions[node.owner].read and not node.begun
            else (),
        )
        for node in nodes
    ]

    def keep(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        kept = torch.full((len(owners), width + 1), -torch.inf, dtype=torch.float64)
        for i, (logprobs_V, owner) in enumerate(zip(logprobs_RV, owners, strict=True)):
            nexts = nodes[owner].nexts
            kept[i, : len(nexts)] = logprobs_V[list(nexts)].double().cpu()
            kept[i, -1] = float(logprobs_V.max())
        return kept

    found = run(anatomy, rows, reduce=keep, advance=advance)
    steps: dict[tuple[int, Tokens], Tensor] = {}
    states: dict[int, NDArray[np.float32]] = {}
    for node, kept, captured in zip(nodes, found.logprobs_RV, found.captures, strict=True):
        steps[node.owner, node.begun] = kept
        if captured:
            states[node.owner] = np.concatenate([captured[str(site)][0].float().numpy() for site in sites])
    by_node = {(node.owner, node.begun): node for node in nodes}
    return [
        _reply(number, one, steps, by_node, states.get(number, np.zeros(0, dtype=np.float32)))
        for number, one in enumerate(questions)
    ]


def _nodes(number: int, question: Question) -> list[_Node]:
    every = [form for forms in question.labels for form in forms]
    check_candidates(every)
    begun = list(dict.fromkeys(form[:n] for form in every for n in range(len(form))))
    return [
        _Node(
            number,
            node,
            tuple(sorted({form[len(node)] for form in every if form[: len(node)] == node and len(form) > len(node)})),
        )
        for node in begun
    ]


def _reply(
    number: int,
    question: Question,
    steps: dict[tuple[int, Tokens], Tensor],
    nodes: dict[tuple[int, Tokens], _Node],
    state: NDArray[np.float32],
) -> Reply:
    def of(form: Tokens) -> float:
        places = [(form[:n], nodes[number, form[:n]].nexts.index(form[n])) for n in range(len(form))]
        return sum(float(steps[number, node][place]) for node, place in places)

    logprobs = tuple(float(np.logaddexp.reduce([of(form) for form in forms])) for forms in question.labels)
    named, begun = True, Tokens()
    while named and (number, begun) in nodes:
        kept, nexts = steps[number, begun], nodes[number, begun].nexts
        best = int(kept[: len(nexts)].argmax())
        named = bool(kept[best] == kept[-1])
        begun = (*begun, nexts[best])
    return Reply(logprobs, float(np.exp(logprobs).sum()), named, state)
