"""What is claimed and how it will be judged; frozen and hashed before a run."""

from firsthand.claims.claim import AnalysisSpec, Claim, DesignSpec, PublicSpec, ReportSpec, StateSpec
from firsthand.claims.files import default_claim, read_claim, write_claim
from firsthand.claims.freeze import (
    Bindings,
    Frozen,
    FrozenClaim,
    FrozenInjection,
    claim_hash,
    lock_path,
    read_frozen,
    write_frozen,
)
from firsthand.claims.injection import InjectionClaim, Question

__all__ = [
    "AnalysisSpec",
    "Bindings",
    "Claim",
    "DesignSpec",
    "Frozen",
    "FrozenClaim",
    "FrozenInjection",
    "InjectionClaim",
    "PublicSpec",
    "Question",
    "ReportSpec",
    "StateSpec",
    "claim_hash",
    "default_claim",
    "lock_path",
    "read_claim",
    "read_frozen",
    "write_claim",
    "write_frozen",
]
