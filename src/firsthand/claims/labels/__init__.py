"""Claims about states that occur by themselves: one file a protocol."""

from typing import Annotated, TypeAlias

from pydantic import Field

from firsthand.claims.labels.belief import BeliefClaim
from firsthand.claims.labels.biofeedback import BiofeedbackClaim
from firsthand.claims.labels.confidence import ConfidenceClaim
from firsthand.claims.labels.direct_meta import DirectMetaClaim
from firsthand.claims.labels.prediction import PredictionClaim

LabelsClaim: TypeAlias = Annotated[
    BiofeedbackClaim | BeliefClaim | DirectMetaClaim | ConfidenceClaim | PredictionClaim,
    Field(discriminator="study"),
]
"""The claim of some label study, told apart by its field ``study``."""

LABEL_CLAIMS = (BiofeedbackClaim, BeliefClaim, DirectMetaClaim, ConfidenceClaim, PredictionClaim)

__all__ = [
    "LABEL_CLAIMS",
    "BeliefClaim",
    "BiofeedbackClaim",
    "ConfidenceClaim",
    "DirectMetaClaim",
    "LabelsClaim",
    "PredictionClaim",
]
