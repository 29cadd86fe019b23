"""A model that can only be asked. It has no way to edit or to read activations, so an observer may hold one.

Questions about one transcript share its tokens: they are computed once and continued by each question, or run whole for
a model whose prefix cannot be shared.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import torch
from torch import Tensor

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, common_prefix_length, render
from firsthand.engine.readout import code_token
from firsthand.engine.session import can_share_prefix, run_prefix, run_rows
from firsthand.errors import ElicitationError

BATCH_ROWS: Final = 12
MEMBER_ROWS: Final = 48
LEAST_SHARED: Final = 32


class TextScorer:
    """Scores two codes after a conversation, exactly, without edits.

    Args:
        loaded: The model.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.name = loaded.name
        self._loaded = loaded
        self._anatomy = inspect_model(loaded.model)

    @property
    def identity(self) -> str:
        """What the answers depend on besides the conversation."""
        loaded = self._loaded
        return f"{loaded.weights_sha256} {loaded.tokenizer_sha256} {loaded.config_sha256} {loaded.dtype}"

    def contrasts(self, conversations: Sequence[Sequence[Message]], codes: Sequence[tuple[str, str]]) -> list[float]:
        """Log P(code of class 1) - log P(code of class 0) after each conversation's open assistant turn.

        Args:
            conversations: Conversations that end in an open assistant turn.
            codes: For each the codes of class 0 and class 1.

        Returns:
            One contrast a conversation, in nats.

        Raises:
            ElicitationError: If a code is not one token in this model's context.
            EngineError: If a conversation cannot be rendered or run.
        """
        rows = [render(self._loaded.tokenizer, conversation).tokens for conversation in conversations]
        pairs = [self._tokens(c[-1][1], pair) for c, pair in zip(conversations, codes, strict=True)]
        found = [0.0] * len(rows)
        alone = [(0, [i]) for i in range(len(rows))]
        for families in _batches(_families(rows) if can_share_prefix(self._loaded.model) else alone):
            members = [i for _, family in families for i in family]
            for i, logprobs_V in zip(members, self._logprobs(rows, families), strict=True):
                zero, one = pairs[i]
                found[i] = float(logprobs_V[one] - logprobs_V[zero])
        return found

    def _logprobs(self, rows: Sequence[Sequence[int]], families: Sequence[tuple[int, list[int]]]) -> Tensor:
        """Log-probabilities after the members of families with equally long prefixes, in order."""
        model, anatomy, length = self._loaded.model, self._anatomy, families[0][0]
        begun = [rows[family[0]][:length] for _, family in families]
        prefix = run_prefix(model, anatomy, begun)[0] if length else None
        places = [(number, i) for number, (_, family) in enumerate(families) for i in family]
        outputs = []
        for start in range(0, len(places), MEMBER_ROWS):
            part = places[start : start + MEMBER_ROWS]
            chosen = None if prefix is None else [number for number, _ in part]
            suffixes = [rows[i][length:] for _, i in part]
            outputs.append(run_rows(model, anatomy, suffixes, prefix=prefix, prefix_rows=chosen).logprobs_RV)
        return torch.cat(outputs)

    def _tokens(self, stem: str, pair: tuple[str, str]) -> tuple[int, int]:
        zero, one = (code_token(self._loaded.tokenizer, stem, code) for code in pair)
        if zero is None or one is None or zero == one:
            raise ElicitationError(
                f"The codes {pair[0]!r} and {pair[1]!r} are not one distinct token each for {self.name}.",
                "Leave this observer out, or choose other letters in report.code_letters.",
            )
        return zero, one


def _families(rows: Sequence[Sequence[int]]) -> list[tuple[int, list[int]]]:
    """Rows that begin alike, with the length of what each family shares.

    Rows are taken in lexical order, where rows with a long common beginning are neighbours; a row joins the family
    before it if that still shares :data:`LEAST_SHARED` tokens and at least half of the row.
    """
    families: list[tuple[int, list[int]]] = []
    for i in sorted(range(len(rows)), key=lambda i: list(rows[i])):
        if families:
            shared, family = families[-1]
            joint = common_prefix_length([rows[family[0]][: shared + 1], rows[i]])
            if joint >= LEAST_SHARED and 2 * joint >= len(rows[i]):
                families[-1] = (joint, [*family, i])
                continue
        families.append((len(rows[i]) - 1, [i]))
    return families


def _batches(families: Sequence[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Families with equally long prefixes together, at most :data:`BATCH_ROWS` of them."""
    ordered = sorted(families, key=lambda family: family[0])
    for _, group in groupby(ordered, key=lambda family: family[0]):
        equal = list(group)
        for start in range(0, len(equal), BATCH_ROWS):
            yield equal[start : start + BATCH_ROWS]
