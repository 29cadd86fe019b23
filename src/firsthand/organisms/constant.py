"""The constant: it answers no and has nothing behind it. It checks class balance and scoring."""

from typing import ClassVar

import numpy as np

from firsthand.organisms.base import GAIN, Answers, Sensors
from firsthand.vocabulary import Capability, Verdict


class Constant:
    """Always class 0; a test of equivalence that it passes would be vacuous."""

    name = "constant"
    description = "Always gives the same answer, with no access to anything."
    expected: ClassVar[dict[Capability, Verdict]] = {
        Capability.IDENTIFICATION: Verdict.INSUFFICIENT,
        Capability.DETECTION: Verdict.INSUFFICIENT,
    }

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """The same answer on every trial."""
        return Answers(np.full(len(sensors), -GAIN))
