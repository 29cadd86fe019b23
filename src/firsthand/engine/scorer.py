"""A model that can only be asked. It has no way to edit or to read activations, so an observer may hold one."""

from collections.abc import Sequence

import torch

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import code_token
from firsthand.engine.session import run_rows
from firsthand.errors import ElicitationError

BATCH_TOKENS = 2048


class TextScorer:
    """Scores two codes after a conversation, exactly, without edits.

    Args:
        loaded: The model.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.name = loaded.name
        self._loaded = loaded
        self._anatomy = inspect_model(loaded.model)

    def contrasts(self, conversations: Sequence[Sequence[Message]], codes: Sequence[tuple[str, str]]) -> list[float]:
        """log P(code of class 1) - log P(code of class 0) after each conversation's open assistant turn.

        Raises:
            ElicitationError: If a code is not one token in this model's context.
        """
        tokenizer = self._loaded.tokenizer
        rows = [render(tokenizer, conversation).tokens for conversation in conversations]
        pairs = [self._tokens(conversation[-1][1], pair) for conversation, pair in zip(conversations, codes, strict=True)]
        found = [0.0] * len(rows)
        for batch in _batches([len(row) for row in rows]):
            output = run_rows(self._loaded.model, self._anatomy, [rows[i] for i in batch])
            index = torch.tensor([pairs[i] for i in batch])
            both = output.logprobs_RV.gather(1, index)
            for i, value in zip(batch, (both[:, 1] - both[:, 0]).tolist(), strict=True):
                found[i] = value
        return found

    def _tokens(self, stem: str, pair: tuple[str, str]) -> tuple[int, int]:
        zero, one = (code_token(self._loaded.tokenizer, stem, code) for code in pair)
        if zero is None or one is None or zero == one:
            raise ElicitationError(
                f"The codes {pair[0]!r} and {pair[1]!r} are not one distinct token each for {self.name}.",
                "Leave this observer out, or choose other letters in report.code_letters.",
            )
        return zero, one


def _batches(lengths: Sequence[int]) -> list[list[int]]:
    """Rows of similar length together, at most :data:`BATCH_TOKENS` tokens with padding."""
    batches: list[list[int]] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batches and (len(batches[-1]) + 1) * lengths[i] <= BATCH_TOKENS:
            batches[-1].append(i)
        else:
            batches.append([i])
    return batches
