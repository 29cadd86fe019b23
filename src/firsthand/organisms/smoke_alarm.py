"""The smoke alarm: it senses that something happened, not what."""

from typing import ClassVar

import numpy as np

from firsthand.organisms.base import GAIN, Answers, Sensors
from firsthand.vocabulary import Capability, Verdict


class SmokeAlarm:
    """Says "changed" for any disturbance of the output, and names the cue's state.

    Args:
        threshold: Least disturbance at which it sounds, in nats; above the arithmetic noise of a sham.
    """

    name = "smoke alarm"
    description = "Sounds at any disturbance, whatever its cause."
    expected: ClassVar[dict[Capability, Verdict]] = {Capability.DETECTION: Verdict.ANOMALY_ONLY}

    def __init__(self, threshold: float = 1e-5) -> None:
        self.threshold = threshold

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """Disturbance for a change, the cue for the state."""
        if capability is Capability.DETECTION:
            sounds = np.where(sensors.disturbance > self.threshold, 1.0, -1.0)
            return Answers(GAIN * sounds)
        return Answers(GAIN * (2.0 * sensors.cue - 1.0))
