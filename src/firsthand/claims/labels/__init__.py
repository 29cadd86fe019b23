"""Claims about states that occur by themselves: one file a protocol."""

from typing import TypeAlias

from firsthand.claims.labels.biofeedback import BiofeedbackClaim
from firsthand.claims.labels.direct_meta import DirectMetaClaim

LabelsClaim: TypeAlias = BiofeedbackClaim | DirectMetaClaim
"""The claim of some label study, told apart by its field ``study``."""

LABEL_CLAIMS = (BiofeedbackClaim, DirectMetaClaim)

__all__ = ["LABEL_CLAIMS", "BiofeedbackClaim", "DirectMetaClaim", "LabelsClaim"]
