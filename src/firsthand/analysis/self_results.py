"""What is said of one way of asking models about strings: agreements, advantages, hurdles and one verdict a model."""

from pydantic import BaseModel, ConfigDict

from firsthand.analysis.results import Estimate
from firsthand.analysis.similarity_regression import SimilarityRegression
from firsthand.vocabulary import Verdict


class _Result(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Agreement(_Result):
    """How what one model says goes with what a model does (itself, or another).

    Attributes:
        reporter: The model that is asked.
        judge: The model whose direct judgement it is held against.
        correlation: Correlation of meta with direct over pairs, with ``p`` of "above 0".
        same_sign: Share of pairs of which both prefer the same string.
        similarity: Correlation of the direct judgements of the two; ``None`` for the model itself.
    """

    reporter: str
    judge: str
    correlation: Estimate
    same_sign: Estimate
    similarity: Estimate | None = None


class Advantage(_Result):
    """What a model's statement has of its own, beyond a rival.

    Attributes:
        reporter: The model that is asked.
        rival: Another model, or an outsider (see :mod:`firsthand.analysis.outsiders`).
        followed: Correlation of meta with what the rival says, with ``p`` of "above 0".
        advantage: Correlation with one's own direct judgement minus that with the rival's.
        partial: Correlation with one's own when the rival's is held fixed. It never decides.
        tetrad: What the two models' own agreements share beyond one common opinion; ``None`` for an outsider, and where
            too few answers of both are valid.
    """

    reporter: str
    rival: str
    followed: Estimate
    advantage: Estimate
    partial: Estimate
    tetrad: Estimate | None


class Hurdle(_Result):
    """One thing that must be above 0 before a statement counts as a model's own.

    Attributes:
        name: What it is.
        variant: In which form of the judgements (see :data:`firsthand.analysis.outsiders.VARIANTS`).
        found: The number, with ``p`` of "above 0".
    """

    name: str
    variant: str
    found: Estimate


class ReporterResult(_Result):
    """One model's verdict.

    Attributes:
        model: The model that is asked.
        verdict: What the evidence allows to be said.
        reasons: The rules that led to it.
        pairs: Pairs that it was asked about.
        valid: Those among them with valid answers.
        coverage: Mean probability mass on the labels.
        right_direct: Share of pairs whose better string its direct judgement prefers.
        right_meta: Share of validly answered pairs of which its meta judgement does; ``None`` without any.
        hurdles: Everything that had to be above 0; empty for a model whose answers allow no verdict.
        p: Largest p-value of the hurdles, corrected by Holm over the models that are asked.
        nearest: The most similar other model.
        similarity: Correlation of its direct judgements with this model's.
    """

    model: str
    verdict: Verdict
    reasons: tuple[str, ...]
    pairs: int
    valid: int
    coverage: Estimate
    right_direct: Estimate
    right_meta: Estimate | None
    hurdles: tuple[Hurdle, ...] = ()
    p: float = 1.0
    nearest: str
    similarity: Estimate


class SelfAdvantage(_Result):
    """Everything about one way of asking.

    Attributes:
        phrasing: The way of asking.
        level: Coverage of every interval.
        reporters: One verdict a model.
        agreements: Every model that is asked with every direct judgement, as a matrix row by row.
        advantages: Every model that is asked against every rival.
        regression: Agreement on similarity; ``None`` where it is refused.
        regression_refused: Why.
    """

    phrasing: str
    level: float
    reporters: tuple[ReporterResult, ...]
    agreements: tuple[Agreement, ...]
    advantages: tuple[Advantage, ...]
    regression: SimilarityRegression | None
    regression_refused: str | None
