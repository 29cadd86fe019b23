"""The target as tools see it: transcripts, and states of the residual stream at any site and token of them."""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.transcript import Transcript, transcript_of
from firsthand.engine import Capture, LoadedModel, Row, Site, inspect_model, run
from firsthand.trials.canonical import digest

_KEPT: Final = 64
"""Transcripts that are remembered: several calls are made about each."""


class Subject:
    """A loaded target whose activations are read.

    Args:
        loaded: The target. It is read and never edited: its passes are :func:`~firsthand.engine.sweep.run` with
            captures and without edits.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self.loaded = loaded
        self.anatomy = inspect_model(loaded.model)
        self._transcripts: dict[tuple[str, str], Transcript] = {}

    @property
    def identity(self) -> str:
        """Says which weights and tokenizer."""
        loaded = self.loaded
        return digest([loaded.weights_sha256, loaded.tokenizer_sha256, loaded.config_sha256, loaded.dtype])

    def transcript(self, question: Question) -> Transcript:
        """The numbered tokens of a question's transcript.

        Raises:
            CounterfactualError: If the target cannot be given the prompt, or the tokens cannot be located.
        """
        key = (question.prompt.id, question.response.model_dump_json())
        if key not in self._transcripts:
            if len(self._transcripts) >= _KEPT:
                self._transcripts.clear()
            self._transcripts[key] = transcript_of(self.loaded.tokenizer, question)
        return self._transcripts[key]

    def states(self, question: Question, sites: Sequence[Site], positions: Sequence[int]) -> dict[Site, Tensor]:
        """States at some tokens, at every site: each ``[positions, hidden]``, float32 on the CPU.

        Raises:
            CounterfactualError: As :meth:`transcript` does.
            EngineError: If the target has no such site or token.
        """
        tokens = self.transcript(question).tokens
        captures = tuple(Capture(str(site), site, tuple(positions)) for site in sites)
        # What comes after the last token that is read cannot have been seen there.
        row = Row(tokens[: max(positions) + 1], captures=captures)
        read = run(self.anatomy, [row], reduce=_little).captures[0]
        return {site: read[str(site)] for site in sites}

    def at_depths(self, shares: Sequence[float]) -> tuple[int, ...]:
        """Layers at some shares of the depth, each once."""
        depth = self.anatomy.n_layers
        return tuple(dict.fromkeys(min(int(depth * share), depth - 1) for share in shares))


def _little(logprobs: Tensor, _: Sequence[int]) -> Tensor:
    return torch.zeros(len(logprobs), 1)
