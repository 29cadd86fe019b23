"""A model that can only be asked. It has no way to edit or to read activations, so an observer may hold one.

Questions about one transcript share its tokens, which are computed once (see :mod:`firsthand.engine.sweep`).
"""

from collections.abc import Sequence

import torch

from firsthand.engine.anatomy import inspect_model
from firsthand.engine.edits import Row
from firsthand.engine.loading import LoadedModel
from firsthand.engine.prompts import Message, render
from firsthand.engine.readout import code_token
from firsthand.engine.sweep import run
from firsthand.errors import ElicitationError


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
        if not rows:
            return []
        index_R2 = torch.tensor(pairs)

        def both(logprobs_RV: torch.Tensor, owners: Sequence[int]) -> torch.Tensor:
            return logprobs_RV.gather(1, index_R2[list(owners)].to(logprobs_RV.device))

        both_R2 = run(self._anatomy, [Row(tokens) for tokens in rows], reduce=both).logprobs_RV
        return [float(x) for x in both_R2[:, 1] - both_R2[:, 0]]

    def _tokens(self, stem: str, pair: tuple[str, str]) -> tuple[int, int]:
        zero, one = (code_token(self._loaded.tokenizer, stem, code) for code in pair)
        if zero is None or one is None or zero == one:
            raise ElicitationError(
                f"The codes {pair[0]!r} and {pair[1]!r} are not one distinct token each for {self.name}.",
                "Leave this observer out, or choose other letters in report.code_letters.",
            )
        return zero, one
