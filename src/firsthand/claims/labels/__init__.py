"""Claims about states that occur by themselves: one file a protocol."""

from typing import Annotated, TypeAlias

from pydantic import Field

from firsthand.claims.labels.biofeedback import BiofeedbackClaim
from firsthand.claims.labels.prediction import PredictionClaim

LabelsClaim: TypeAlias = Annotated[BiofeedbackClaim | PredictionClaim, Field(discriminator="study")]
"""The claim of some label study, told apart by its field ``study``."""

LABEL_CLAIMS = (BiofeedbackClaim, PredictionClaim)

__all__ = ["LABEL_CLAIMS", "BiofeedbackClaim", "LabelsClaim", "PredictionClaim"]
