"""What the parts of a report on predictions are called, the same on the page, in figures and in the terminal."""

from typing import Final

from firsthand.analysis.predictions.results import Kind, PredictorScore
from firsthand.analysis.results import Estimate
from firsthand.report.formats import Unit, estimate_text

KINDS: Final[dict[Kind, str]] = {
    "floor": "floor",
    "observer": "observer",
    "tools": "observer with tools",
    "base": "the target itself",
    "self": "the target, trained on itself",
    "cross": "another model, trained on the target",
}

KINDS_LONG: Final[dict[Kind, str]] = {
    "floor": "Sees no transcript, or learns from surfaces: what is not ahead of it has shown nothing beyond them.",
    "observer": "Reads the transcript as a document.",
    "tools": "Reads the transcript, and activations of the target through tools.",
    "base": "The model that the claims are about, untrained, asked in a turn after its own response.",
    "self": "The model that the claims are about, trained on claims about itself.",
    "cross": "Another model, trained on the same claims.",
}


def shown(found: Estimate | None, unit: Unit) -> str:
    """An estimate with its interval, or a dash where there is none."""
    return "—" if found is None else estimate_text(found, unit)


def status(score: PredictorScore) -> str:
    """One word for whether a predictor's numbers say anything."""
    if score.insufficient is not None:
        return "insufficient"
    return "constant" if score.constant is not None else ""
