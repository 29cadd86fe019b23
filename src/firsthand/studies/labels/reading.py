"""The states of texts: what labels are made of, and what an observer of the input may have instead.

A state is the mean of the residual stream over a text's own tokens, the text alone in a user's turn (Ji-An et al. 2025;
arXiv 2605.26242, section 5.1). The mean of the embedding over the same tokens is that paper's "layer 0": it holds the
words of the text, without their order and without anything that the model made of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from firsthand.engine import Anatomy, LoadedModel, Site, resid_post, resid_pre
from firsthand.states.reading import read_states

AT_ONCE: Final = 128
"""Texts that are read together: each token is kept at every layer until the mean is taken."""


@dataclass(frozen=True, eq=False)
class TextStates:
    """States of texts.

    Attributes:
        layers: For each layer the mean of ``resid_post`` over a text's tokens, ``[texts, hidden]``, float32.
        embedding_NH: The mean of ``resid_pre[0]`` over the same tokens, ``[texts, hidden]``, float32.
        norms: For each layer the mean norm of the residuals that were read, over all texts: the unit of a dose.
        tokens: Number of tokens of each text.
    """

    layers: dict[int, NDArray[np.float32]]
    embedding_NH: NDArray[np.float32]
    norms: dict[int, float]
    tokens: tuple[int, ...]


def states_of(
    loaded: LoadedModel,
    anatomy: Anatomy,
    texts: Sequence[str],
    layers: Sequence[int],
    advance: Callable[[int], None] | None = None,
) -> TextStates:
    """Read the states of texts at some layers, and their embeddings.

    Args:
        loaded: The model and its tokenizer.
        anatomy: The same model's parts.
        texts: The texts, without space around them.
        layers: Where they are read, each once.
        advance: Told the number of texts done after each batch.

    Raises:
        EngineError: If a layer is out of range, or a text cannot be rendered or run.
        StatesError: If there is no text or somebody else's hooks are active, a layer is named twice, or a text has no
            tokens of its own.
    """
    sites = [resid_pre(0), *(resid_post(layer) for layer in layers)]
    means: dict[Site, list[NDArray[np.float32]]] = {site: [] for site in sites}
    norms: dict[Site, list[NDArray[np.float64]]] = {site: [] for site in sites}
    tokens: list[int] = []
    for start in range(0, max(len(texts), 1), AT_ONCE):
        some = texts[start : start + AT_ONCE]
        readings = read_states(loaded, anatomy, some, sites)
        for site in sites:
            means[site].append(readings.states[site].float().numpy())
            norms[site].append(readings.norms[site].numpy())
        tokens += readings.tokens
        if advance is not None:
            advance(len(some))
    return TextStates(
        {layer: np.concatenate(means[resid_post(layer)]) for layer in layers},
        np.concatenate(means[resid_pre(0)]),
        {layer: float(np.concatenate(norms[resid_post(layer)]).mean()) for layer in layers},
        tuple(tokens),
    )
