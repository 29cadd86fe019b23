"""How far training moved a model: the exact divergence of its next-token distributions from its base's.

A model that was trained to speak of itself is no longer quite the one that the labels were measured on (arXiv
2608.16747, appendix D.5). The divergence is taken over the full vocabulary at every position of a chat.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import torch

from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import mean_of
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.targets.rendering import opened
from firsthand.counterfactual.training.rejudging import LARGEST
from firsthand.counterfactual.training.tokens import spoken
from firsthand.counterfactual.training.trainer import divergence
from firsthand.engine import LoadedModel
from firsthand.errors import ModelError


def transcript(loaded: LoadedModel, question: Question) -> tuple[int, ...]:
    """Tokens of what stands before the follow-up turn: the prompt and the response.

    Raises:
        CounterfactualError: If the model cannot be given them.
    """
    return chat_tokens(loaded, question.prompt, question.response.text)


def chat_tokens(loaded: LoadedModel, prompt: Prompt, response: str) -> tuple[int, ...]:
    """Tokens of a prompt and a response to it.

    Raises:
        CounterfactualError: If the model cannot be given them.
    """
    before = opened(loaded.tokenizer, prompt)
    return before if not response.strip() else (*before, *spoken(loaded.tokenizer, [response])[0])


def divergences(trained: LoadedModel, base: LoadedModel, chats: Sequence[Sequence[int]]) -> FloatArray:
    """Mean divergence per token of every chat, in nats ``[chats]``; each distinct chat is run once.

    Raises:
        ModelError: If the two have different vocabularies.
    """
    found: dict[tuple[int, ...], float] = {}
    with torch.inference_mode():
        for tokens in {tuple(one) for one in chats}:
            ours, theirs = (_logits(model, tokens) for model in (trained, base))
            if ours.shape != theirs.shape:
                raise ModelError(f"{trained.name} and {base.name} have different vocabularies.", "Name its own base.")
            found[tokens] = float(divergence(ours, theirs).mean().clamp(min=0.0))
    return np.array([found[tuple(one)] for one in chats])


def mean_drift(values: FloatArray, names: Sequence[str]) -> Measured:
    """Mean over chats with its uncertainty.

    Args:
        values: Mean divergence of every chat ``[chats]``.
        names: What makes chats dependent on each other, such as the prompt's cluster ``[chats]``.
    """
    return mean_of(values, pd.DataFrame({"chat": list(names)}), ["chat"], span=(0.0, LARGEST))


def _logits(loaded: LoadedModel, tokens: Sequence[int]) -> torch.Tensor:
    ids = torch.tensor([list(tokens)], device=loaded.model.device)
    return loaded.model(input_ids=ids, use_cache=False).logits[0]  # type: ignore[no-any-return]
