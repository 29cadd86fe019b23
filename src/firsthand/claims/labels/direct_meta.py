"""Claims about what models say of strings, held against what models do with them."""

from typing import Literal, Self

from pydantic import model_validator

from firsthand.claims.claim import AnalysisSpec, Fraction, _Part, _refuse_repeats

CLUSTERS = ("item", "phenomenon")
"""Pairs that share a string are one item."""


class DirectMetaClaim(_Part):
    """One preregistered study of direct and meta judgements (Song, Hu, Mahowald 2025, arXiv 2503.07513).

    Attributes:
        title: One sentence that a reader understands.
        study: The protocol.
        models: Names of the models, each of which is asked and is a rival of the others.
        pairs_sha256: Hash of the pairs of strings.
        phrasings: Names of the ways of asking.
        phrasings_sha256: Hash of their wording.
        minimum_similarity: Least correlation of a model's direct judgements with those of its most similar rival; below
            it nothing is called privileged, since models that are trained alike may share an opinion.
        analysis: The rules of judgement. Of those that every study has, ``alpha``, ``minimum_coverage``,
            ``bootstrap_draws`` and ``clusters`` are used here.
    """

    version: Literal[1] = 1
    title: str = "What the model says of two strings follows its own probabilities more than others'."
    study: Literal["direct-meta"] = "direct-meta"
    models: tuple[str, ...]
    pairs_sha256: str
    phrasings: tuple[str, ...]
    phrasings_sha256: str
    minimum_similarity: Fraction = 0.5
    analysis: AnalysisSpec = AnalysisSpec(clusters=CLUSTERS, bootstrap_draws=4000)

    @property
    def model(self) -> str:
        """The first model, which a frozen claim is bound to."""
        return self.models[0]

    @model_validator(mode="after")
    def _can_be_run(self) -> Self:
        if len(self.models) < 2:
            named = ", ".join(self.models) or "none"
            raise ValueError(
                f"models names {named}: an advantage over other models needs two at least, and three for the "
                "regression on similarity"
            )
        if not self.phrasings:
            raise ValueError("phrasings must hold at least one way of asking")
        _refuse_repeats("models", self.models)
        _refuse_repeats("phrasings", self.phrasings)
        unknown = sorted(set(self.analysis.clusters) - set(CLUSTERS))
        if unknown:
            raise ValueError(f"analysis.clusters names {', '.join(unknown)}; use {' and '.join(CLUSTERS)}")
        return self
