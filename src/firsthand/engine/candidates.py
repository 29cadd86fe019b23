"""Exact probabilities of answers that are several tokens long, in the context of a row.

Candidates that begin alike share their beginning: they form a tree of tokens, and each of its inner nodes is one row,
read at its last token. What the candidates' probabilities leave of 1 is *invalid*.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from firsthand.engine.anatomy import Anatomy
from firsthand.engine.edits import Row, live_edits
from firsthand.engine.opened import open_rows, run_further
from firsthand.engine.session import check_whole_rows
from firsthand.engine.sharing import can_share
from firsthand.engine.sweep import run
from firsthand.errors import ElicitationError, EngineError

Tokens = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Scores:
    """What a row gives each candidate.

    Attributes:
        logprobs_RC: Log-probability of each candidate's whole sequence of tokens, ``[rows, candidates]``, in nats.
        coverage_R: Probability mass on the candidates together, ``[rows]``.
    """

    logprobs_RC: Tensor
    coverage_R: Tensor

    @property
    def shares(self) -> Tensor:
        """Probability of each candidate among the candidates, ``[rows, candidates]``."""
        return torch.softmax(self.logprobs_RC, -1)


def score_candidates(anatomy: Anatomy, rows: Sequence[Row], candidates: Sequence[Tokens]) -> Scores:
    """Log-probabilities of candidates after the last token of each row.

    Args:
        anatomy: The model's parts.
        rows: The rows, whole, with their edits. A ``live`` edit is made at the candidates' tokens too.
        candidates: Token sequences, none the beginning of another (two events that overlap would count twice).

    Returns:
        Log-probabilities and coverage, in float64.

    Raises:
        ElicitationError: If there is no candidate, an empty or repeated one, or one that another begins with.
        EngineError: If a row cannot be run, or has a reading of its own.
    """
    check_candidates(candidates)
    if any(row.read or row.captures for row in rows):
        raise EngineError("A row to be answered is read at its end only.", "Leave 'read' and 'captures' out.")
    check_whole_rows(anatomy, rows, further=max(len(c) for c in candidates) - 1)
    nodes = list(dict.fromkeys(c[:n] for c in candidates for n in range(len(c))))
    nexts = {node: sorted({c[len(node)] for c in candidates if c[: len(node)] == node}) for node in nodes}
    steps: dict[tuple[int, Tokens], Tensor] = {}

    def note(number: int, node: Tokens, logits_V: Tensor) -> None:
        steps[number, node] = torch.log_softmax(logits_V.double(), -1)[torch.tensor(nexts[node])].cpu()

    deeper = nodes[1:]
    if not deeper:
        _only_first(anatomy, rows, note)
    elif can_share(anatomy):
        _by_branches(anatomy, rows, deeper, note)
    else:
        _by_whole_rows(anatomy, rows, nodes, note)
    logprobs_RC = torch.tensor(
        [
            [sum(float(steps[r, c[:n]][nexts[c[:n]].index(c[n])]) for n in range(len(c))) for c in candidates]
            for r in range(len(rows))
        ],
        dtype=torch.float64,
    )
    return Scores(logprobs_RC, logprobs_RC.exp().sum(1))


def check_candidates(candidates: Sequence[Tokens]) -> None:
    """Refuse candidates that are not alternatives.

    Raises:
        ElicitationError: If there is none, an empty or repeated one, or one that another begins with.
    """
    if not candidates or not all(candidates):
        raise ElicitationError("There is no candidate, or an empty one.", "Give at least one token for each answer.")
    for i, one in enumerate(candidates):
        for j, other in enumerate(candidates):
            if i != j and other[: len(one)] == one:
                raise ElicitationError(
                    f"The candidate tokens {list(other)} begin with the candidate {list(one)}, so they are no "
                    "alternatives.",
                    "Let each answer end in a token that tells it from the others, such as a full stop.",
                )


def candidate_tokens(tokenizer: PreTrainedTokenizerBase, stem: str, answers: Sequence[str]) -> list[Tokens]:
    """The tokens by which each answer continues a stem.

    Args:
        tokenizer: The model's tokenizer.
        stem: Text that stands before the answer.
        answers: The answers, with their leading space where one is meant.

    Raises:
        ElicitationError: If an answer merges with the stem's own tokens (``"Ans"`` + ``"wer"``), has none of its own,
            or holds a token that the model does not know.
    """
    before, found = tokenizer.encode(stem, add_special_tokens=False), []
    for answer in answers:
        after = tokenizer.encode(stem + answer, add_special_tokens=False)
        own = tuple(int(token) for token in after[len(before) :])
        if after[: len(before)] != before or not own or tokenizer.unk_token_id in own:
            raise ElicitationError(
                f"The answer {answer!r} has no tokens of its own after {stem[-30:]!r}.",
                "Begin it with a space, or end the stem where a word ends.",
            )
        found.append(own)
    return found


Note = Callable[[int, Tokens, Tensor], None]


def _only_first(anatomy: Anatomy, rows: Sequence[Row], note: Note) -> None:
    """Candidates of one token each: one distribution a row says it all."""

    def keep(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        for number, logprobs_V in zip(owners, logprobs_RV, strict=True):
            note(number, (), logprobs_V)
        return logprobs_RV[:, :1]

    run(anatomy, rows, reduce=keep)


def _by_branches(anatomy: Anatomy, rows: Sequence[Row], deeper: Sequence[Tokens], note: Note) -> None:
    """Every row is run once, and every inner node as a continuation of it."""
    for opened in open_rows(anatomy, rows, copies=len(deeper), further=max(len(node) for node in deeper)):
        for number, logits_V in zip(opened.numbers, opened.logits_RV, strict=True):
            note(number, (), logits_V)
        asked = [(i, node) for i in range(len(opened.numbers)) for node in deeper]
        which = torch.tensor([i for i, _ in asked])
        starts = [len(rows[opened.numbers[i]].tokens) for i, _ in asked]
        continued = [
            Row(node, live_edits(rows[opened.numbers[i]], start, len(node)))
            for (i, node), start in zip(asked, starts, strict=True)
        ]
        logits = run_further(anatomy, continued, starts, opened.prefix, opened.homes_R[which], opened.tail(which))
        for (i, node), logits_V in zip(asked, logits, strict=True):
            note(opened.numbers[i], node, logits_V)


def _by_whole_rows(anatomy: Anatomy, rows: Sequence[Row], nodes: Sequence[Tokens], note: Note) -> None:
    asked = [(number, node) for number in range(len(rows)) for node in nodes]
    whole = []
    for number, node in asked:
        row = rows[number]
        own = tuple(edit for edit in row.edits if edit.positions)
        whole.append(Row((*row.tokens, *node), (*own, *live_edits(row, len(row.tokens), len(node)))))

    def keep(logprobs_RV: Tensor, owners: Sequence[int]) -> Tensor:
        for place, logprobs_V in zip(owners, logprobs_RV, strict=True):
            note(*asked[place], logprobs_V)
        return logprobs_RV[:, :1]

    run(anatomy, whole, reduce=keep)
