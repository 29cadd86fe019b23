"""What a sparse autoencoder makes of a state: its features, by the architectures that are published.

With input ``x`` (normalised as the autoencoder wants it, less its decoder's bias where it says so) the encoder gives
``z = x W_enc + b_enc``. *Standard* keeps what is positive; *top-k* the ``k`` largest, if positive; *JumpReLU* what is
positive and above each feature's threshold. A batch-top-k autoencoder chooses over a batch while it is trained, and has
one threshold afterwards: it is read as JumpReLU, so that a token's features do not depend on what it was read with.
"""

from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor

from firsthand.engine import Site

Architecture = Literal["standard", "topk", "jumprelu"]
Normalisation = Literal["none", "constant_norm_rescale", "layer_norm"]

_EPSILON: Final = 1e-5
"""What SAELens adds to the standard deviation."""


@dataclass(frozen=True, eq=False)
class Autoencoder:
    """A sparse autoencoder.

    Attributes:
        site: Where it reads.
        architecture: Which features are kept.
        W_enc: Encoder ``[hidden, features]``, float32.
        b_enc: Its bias ``[features]``.
        W_dec: Decoder ``[features, hidden]``.
        b_dec: Its bias ``[hidden]``.
        threshold: Thresholds ``[features]`` of JumpReLU.
        k: Features that top-k keeps.
        apply_b_dec_to_input: Whether the decoder's bias is taken off the input.
        normalise: How the input is normalised.
        by_decoder: Whether features are chosen and told by how much they add to the stream, ``z |W_dec|``.
        centred: Whether the mean over the width is taken off the input, as TransformerLens does with layer-norm models.
        sha256: Fingerprint of weights and settings.
    """

    site: Site
    architecture: Architecture
    W_enc: Tensor
    b_enc: Tensor
    W_dec: Tensor
    b_dec: Tensor
    threshold: Tensor | None = None
    k: int | None = None
    apply_b_dec_to_input: bool = True
    normalise: Normalisation = "none"
    by_decoder: bool = False
    centred: bool = False
    sha256: str = ""

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.b_enc)

    @torch.no_grad()
    def encode(self, states_NH: Tensor) -> Tensor:
        """Features of states, ``[states, features]``, none negative."""
        given = states_NH.to(self.W_enc)
        if self.centred:
            given = given - given.mean(-1, keepdim=True)
        given, _, _ = self._normalised(given)
        if self.apply_b_dec_to_input:
            given = given - self.b_dec
        before_NF = given @ self.W_enc + self.b_enc
        if self.by_decoder:
            before_NF = before_NF * self.W_dec.norm(dim=-1)
        if self.architecture == "topk":
            values, places = before_NF.topk(self.k or 1, dim=-1)
            return torch.zeros_like(before_NF).scatter(-1, places, values.relu())
        kept_NF = before_NF.relu()
        return kept_NF if self.threshold is None else kept_NF * (before_NF > self.threshold)

    @torch.no_grad()
    def decode(self, features_NF: Tensor, states_NH: Tensor) -> Tensor:
        """What features make of the states that they were read from, ``[states, hidden]``."""
        given = states_NH.to(self.W_enc)
        mean = given.mean(-1, keepdim=True) if self.centred else torch.zeros(len(given), 1)
        _, scale, shift = self._normalised(given - mean)
        told = features_NF / self.W_dec.norm(dim=-1) if self.by_decoder else features_NF
        return (told @ self.W_dec + self.b_dec) * scale + shift + mean

    def _normalised(self, given: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The input normalised, and the scale and shift that undo it."""
        one, none = torch.ones(len(given), 1), torch.zeros(len(given), 1)
        if self.normalise == "constant_norm_rescale":
            scale = given.norm(dim=-1, keepdim=True) / given.shape[-1] ** 0.5
            return given / scale, scale, none
        if self.normalise == "layer_norm":
            shift = given.mean(-1, keepdim=True)
            scale = (given - shift).std(-1, keepdim=True)
            return (given - shift) / (scale + _EPSILON), scale, shift
        return given, one, none
