"""The denier: it has access and says no."""

from typing import ClassVar

import numpy as np

from firsthand.organisms.base import GAIN, Answers, Sensors
from firsthand.organisms.wire import Wire
from firsthand.vocabulary import Capability, Verdict


class Denier:
    """A wire whose report is a constant "no": access without disclosure."""

    name = "denier"
    description = "Reads the site like the wire, and always answers no."
    expected: ClassVar[dict[Capability, Verdict]] = {Capability.DETECTION: Verdict.AVAILABLE_NOT_REPORTED}

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """A constant answer, with the wire's reading behind it."""
        return Answers(np.full(len(sensors), -GAIN), Wire().report(capability, sensors).reading)
