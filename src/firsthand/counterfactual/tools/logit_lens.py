"""Logit lens: what the target would say next if it ended at a lower layer, at chosen tokens."""

from collections.abc import Sequence
from typing import Final

from torch import Tensor

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.reading import Reading, Takes
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine import logit_lens, resid_post
from firsthand.trials.canonical import digest

DEPTHS: Final = (0.25, 0.5, 0.75, 1.0)
TOP: Final = 5


class LogitLens:
    """Tells the likeliest next tokens by layer.

    Args:
        subject: The target.
        depths: Shares of the depth at whose layers it is read; 1 is the target's own distribution.
        top: Tokens that are told of each layer.

    Raises:
        EngineError: If the target has no logit lens.
    """

    name = "logit_lens"
    takes: Takes = "positions"
    description = (
        "Shows, for each token that you choose, what the model would say next if it ended after a quarter, a half, "
        "three quarters or all of its layers: the likeliest tokens with their probabilities. Early layers often mean "
        "little."
    )

    def __init__(self, subject: Subject, depths: Sequence[float] = DEPTHS, top: int = TOP) -> None:
        self._subject, self._top = subject, top
        self._layers = subject.at_depths(depths)

    @property
    def identity(self) -> str:
        """Says which layers and how many tokens."""
        return f"logit lens {digest([self._subject.identity, self._layers, self._top])[:16]}"

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """The likeliest next tokens after each token, by layer."""
        sites = [resid_post(layer) for layer in self._layers]
        states = self._subject.states(question, sites, positions)
        tops = {site: logit_lens(self._subject.anatomy, states[site]).topk(self._top, dim=-1) for site in sites}
        texts = self._subject.transcript(question).texts
        return tuple(
            Reading(
                position=position,
                token=texts[position],
                text="; ".join(
                    f"layer {site.layer}: {self._told(tops[site].values[row].exp(), tops[site].indices[row])}"
                    for site in sites
                ),
            )
            for row, position in enumerate(positions)
        )

    def _told(self, chances: Tensor, tokens: Tensor) -> str:
        decode = self._subject.loaded.tokenizer.decode
        return ", ".join(
            f"{decode([t])!r} {100 * p:.0f}%" for p, t in zip(chances.tolist(), tokens.tolist(), strict=True)
        )
