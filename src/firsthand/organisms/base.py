"""Reporters whose answer is known in advance: the instrument is tested on them before it may judge a model.

An organism answers on the same trials as the model and is judged by the same path. It gets the public numbers and,
like a sensor wired to the site, readings of the activations; it never gets the state itself. One organism a file.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from firsthand.vocabulary import Capability, Verdict


@dataclass(frozen=True)
class Sensors:
    """What an organism may use, one value a trial.

    Attributes:
        cue: State that the public cue names, 0 or 1.
        second_option: Whether the visible answer was the second word offered, 0 or 1.
        anomaly: Whether visible text is anomalous, 0 or 1.
        site_early: Component of the residual stream along the register's direction at the early span, in doses.
        site_late: The same at the late span.
        disturbance: How much the output distribution was changed, whatever by, in nats.
    """

    cue: NDArray[np.float64]
    second_option: NDArray[np.float64]
    anomaly: NDArray[np.float64]
    site_early: NDArray[np.float64]
    site_late: NDArray[np.float64]
    disturbance: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.cue)


@dataclass(frozen=True)
class Answers:
    """An organism's report and, if it has access, what it reads at the place from which it reports.

    Attributes:
        contrast: Logit of class 1 minus logit of class 0, ``[trials]``.
        reading: Decision value of its own access, above 0 for class 1; ``None`` if it has none.
    """

    contrast: NDArray[np.float64]
    reading: NDArray[np.float64] | None = None


class Organism(Protocol):
    """A reporter of known answer."""

    name: str
    description: str
    expected: ClassVar[dict[Capability, Verdict]]

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """Answer a capability on all trials."""
        ...


GAIN = 6.0
"""Logit that an organism gives for a certain answer: a probability of 0.9975."""
