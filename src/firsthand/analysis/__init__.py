"""Statistics and verdicts: from a scored table to a result with reasons.

``judge`` is the entrance; everything else is a part of it. Nothing here knows models, prompts or studies. The names
below are imported on first use, so that reading a result does not load the statistics libraries.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firsthand.analysis.judging import judge
    from firsthand.analysis.results import CapabilityResult, Estimate, Profile
    from firsthand.analysis.table import ObserverPrediction, Reading

__all__ = ["CapabilityResult", "Estimate", "ObserverPrediction", "Profile", "Reading", "judge"]

_HOME = {
    "CapabilityResult": "results",
    "Estimate": "results",
    "ObserverPrediction": "table",
    "Profile": "results",
    "Reading": "table",
    "judge": "judging",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
