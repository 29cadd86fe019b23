"""What each capability hands to the judge: the evidence, and the parts of the result that a reader sees."""

from dataclasses import dataclass

from firsthand.analysis.evidence import Evidence, Gates
from firsthand.analysis.results import (
    Calibration,
    ControlRow,
    Estimate,
    KindRow,
    ObserverRow,
    ReaderRow,
    SignalDetection,
)
from firsthand.analysis.table import Scored
from firsthand.claims.claim import AnalysisSpec
from firsthand.vocabulary import Condition, Kind


@dataclass(frozen=True, eq=False)
class Case:
    """Everything that a capability needs to measure its evidence.

    Attributes:
        data: The table; invalid answers may have been filled in to see whether the verdict depends on them.
        original: The table as it was, for rates of invalid answers and the contrast.
        controls: Control kinds of the claim.
        condition: Whether observers saw Y.
        spec: The rules.
        gates: Preconditions, measured on ``original``.
        constant: In words, what the report nearly always answers.
    """

    data: Scored
    original: Scored
    controls: tuple[Kind, ...]
    condition: Condition
    spec: AnalysisSpec
    gates: Gates
    constant: str | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Sections:
    """Evidence and the visible parts of a result."""

    evidence: Evidence
    score: Estimate
    chance: float
    target_score: Estimate | None = None
    following: Estimate | None = None
    gap: Estimate | None = None
    contrast: Estimate | None = None
    contrast_following: Estimate | None = None
    kinds: tuple[KindRow, ...] = ()
    observers: tuple[ObserverRow, ...] = ()
    controls: tuple[ControlRow, ...] = ()
    readers: tuple[ReaderRow, ...] = ()
    signal_detection: SignalDetection | None = None
    calibration: Calibration | None = None
