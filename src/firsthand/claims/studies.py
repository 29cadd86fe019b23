"""Every study by its name: its claim, the frozen form of that, and the command that runs it."""

from typing import Final, TypeAlias

from pydantic import BaseModel

from firsthand.claims.claim import Claim
from firsthand.claims.freeze import Frozen, FrozenClaim, FrozenInjection, FrozenLabels
from firsthand.claims.injection import InjectionClaim
from firsthand.claims.labels import LABEL_CLAIMS, LabelsClaim

AnyClaim: TypeAlias = Claim | InjectionClaim | LabelsClaim
"""The claim of some study."""

LABEL_STUDIES: Final[dict[str, type[BaseModel]]] = {
    str(kind.model_fields["study"].default): kind for kind in LABEL_CLAIMS
}
"""The claims of label studies."""

CLAIMS: Final[dict[str, type[BaseModel]]] = {"register": Claim, "injection": InjectionClaim, **LABEL_STUDIES}
"""The claim of each study, by what its field ``study`` holds."""


def frozen_kind(study: str) -> type[Frozen]:
    """The frozen form of a study's claim."""
    return {"register": FrozenClaim, "injection": FrozenInjection}.get(study, FrozenLabels)


def command_of(study: str) -> str:
    """The command that makes a run of a study or of another kind, e.g. ``labels biofeedback``."""
    named = {
        "register": "audit",
        "injection": "inject",
        "investigations": "investigate",
        "predictions": "predict",
        "training": "train",
    }
    return named.get(study, f"labels {study.replace('_', '-')}")
