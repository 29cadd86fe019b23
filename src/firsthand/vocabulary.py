"""The words of the project, each defined once.

Every other module takes its trial kinds, capabilities, timings and verdicts from here, so that a trace written by one
study can be read by any observer, statistic or report. The meanings follow ``docs/vocabulary.md``.
"""

from enum import StrEnum


class Kind(StrEnum):
    """What was done to a trial after its public evidence was frozen."""

    BASELINE = "baseline"
    """Nothing: the state stays what it was."""
    TARGET = "target"
    """The named private state was changed."""
    SHAM = "sham"
    """The same hook and data path ran, and wrote the same state, bit for bit."""
    INPUT_CONTROL = "input_control"
    """Visible text was changed in a way that feels anomalous; the state stays."""
    IMPACT_CONTROL = "impact_control"
    """Another internal object was perturbed, matched in its effect on the output distribution; the state stays."""


CONTROLS: tuple[Kind, ...] = (Kind.BASELINE, Kind.SHAM, Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)
"""Every kind under which the state stays what it was."""


class Capability(StrEnum):
    """What a report is asked for. No capability lends its verdict to another."""

    DETECTION = "detection"
    LOCALISATION = "localisation"
    IDENTIFICATION = "identification"
    CHARACTERISATION = "characterisation"
    CONFIDENCE = "confidence"
    RECONSTRUCTION = "reconstruction"


class Timing(StrEnum):
    """When an edit acts."""

    PREFILL = "prefill"
    LIVE = "live"
    LIFTED = "lifted"
    DELAYED = "delayed"


class Subset(StrEnum):
    """Which question a block may answer: choosing a setting, or judging it. Never both."""

    SELECTION = "selection"
    CONFIRMATION = "confirmation"


class Condition(StrEnum):
    """Whether observers see the visible answer Y besides the input X."""

    Y_WITHHELD = "y_withheld"
    Y_SHOWN = "y_shown"


class Verdict(StrEnum):
    """What the evidence allows to be said, one a capability and condition."""

    PRIVILEGED = "privileged"
    PUBLIC_INFERENCE = "public-inference"
    ANOMALY_ONLY = "anomaly-only"
    AVAILABLE_NOT_REPORTED = "available-not-reported"
    INVERTED = "inverted"
    NO_ACCESS = "no-access"
    INSUFFICIENT = "insufficient"
