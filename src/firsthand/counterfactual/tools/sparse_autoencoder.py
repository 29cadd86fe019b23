"""Sparse autoencoder: the features that are strongest at chosen tokens, with their labels where there are any."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.tools.feature_labels import labels_beside, read_labels
from firsthand.counterfactual.tools.reading import Reading, Takes
from firsthand.counterfactual.tools.sae_files import load_autoencoder
from firsthand.counterfactual.tools.subject import Subject
from firsthand.engine.sites import check_site
from firsthand.errors import CounterfactualError
from firsthand.trials.canonical import digest

TOP: Final = 15
"""Features that are told of a token (arXiv 2608.16747, section 3.2)."""


class SparseAutoencoder:
    """Tells the strongest features at each token.

    Args:
        subject: The target.
        folder: The autoencoder's folder.
        labels: A file of labels; by default the one in the folder, if there is one.
        top: Most features of a token.

    Raises:
        CounterfactualError: If the autoencoder or its labels cannot be read, or it was made for another width.
        EngineError: If the target has no such layer.
    """

    name = "features"
    takes: Takes = "positions"

    def __init__(self, subject: Subject, folder: Path, labels: Path | None = None, top: int = TOP) -> None:
        norms = [one for one in subject.loaded.model.modules() if isinstance(one, torch.nn.LayerNorm)]
        self._subject, self.top = subject, top
        self.autoencoder = load_autoencoder(folder, centred=bool(norms))
        width = len(self.autoencoder.b_dec)
        if width != subject.anatomy.hidden_size:
            raise CounterfactualError(
                f"The autoencoder {folder} reads states of {width} numbers, and the target's have "
                f"{subject.anatomy.hidden_size}.",
                "Use an autoencoder of this target.",
            )
        check_site(f"The autoencoder {folder}", self.autoencoder.site, subject.anatomy.n_layers)
        found = labels or labels_beside(folder)
        self.labels = read_labels(found, self.autoencoder.features) if found is not None else {}

    @property
    def description(self) -> str:
        """What a predictor is told."""
        return (
            f"Takes the model's activations at {self.autoencoder.site} apart into sparse features, and lists up to "
            f"{self.top} of the strongest at each token that you choose, with their strength. A label says what "
            "somebody, or a program, thought that a feature stands for; a feature without one is shown by its number."
        )

    @property
    def identity(self) -> str:
        """Says which weights, labels and number of features."""
        labels = sorted(self.labels.items())
        return f"features {digest([self.autoencoder.sha256, self.autoencoder.centred, labels, self.top])[:16]}"

    def read(self, question: Question, positions: Sequence[int], ask: str) -> tuple[Reading, ...]:
        """The strongest features of each token."""
        site = self.autoencoder.site
        features_PF = self.autoencoder.encode(self._subject.states(question, [site], positions)[site])
        texts = self._subject.transcript(question).texts
        values_PT, numbers_PT = features_PF.topk(min(self.top, features_PF.shape[1]), dim=-1)
        return tuple(
            Reading(position=position, token=texts[position], text=self._told(values.tolist(), numbers.tolist()))
            for position, values, numbers in zip(positions, values_PT, numbers_PT, strict=True)
        )

    def _told(self, values: list[float], numbers: list[int]) -> str:
        told = [
            f"{value:.1f} {self.labels.get(number) or f'feature {number}'}"
            for value, number in zip(values, numbers, strict=True)
            if value > 0
        ]
        return "; ".join(told) or "no feature is active"
