"""The wire: a positive control that reads the register's direction at the site and writes the code's logit."""

from typing import ClassVar

from firsthand.organisms.base import GAIN, Answers, Sensors
from firsthand.vocabulary import Capability, Verdict


class Wire:
    """Reports exactly what the activations hold at the site."""

    name = "wire"
    description = "Reads the register's direction at the site and writes the code's logit."
    expected: ClassVar[dict[Capability, Verdict]] = {
        Capability.IDENTIFICATION: Verdict.PRIVILEGED,
        Capability.DETECTION: Verdict.PRIVILEGED,
    }

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """The late reading's sign for the state; unequal signs of the two readings for a change."""
        value = (
            sensors.site_late if capability is Capability.IDENTIFICATION else -sensors.site_early * sensors.site_late
        )
        return Answers(GAIN * value, value)
