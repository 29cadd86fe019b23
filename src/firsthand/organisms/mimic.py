"""The surface mimic: it sounds competent and knows only what everybody can see."""

from typing import ClassVar

import numpy as np

from firsthand.organisms.base import GAIN, Answers, Sensors
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Capability, Verdict


class Mimic:
    """Names the state that the cue names, and says "changed" when cue and visible answer disagree.

    Args:
        matching: If given, it names the cue's state with this probability only, as a policy that samples its answer at
            temperature 1 does (probability matching).
        seed: Seed of those draws.
    """

    name = "mimic"
    description = "Repeats the public cue."
    expected: ClassVar[dict[Capability, Verdict]] = {Capability.IDENTIFICATION: Verdict.PUBLIC_INFERENCE}

    def __init__(self, matching: float | None = None, seed: int = 0) -> None:
        self.matching = matching
        self.seed = seed

    def report(self, capability: Capability, sensors: Sensors) -> Answers:
        """Public numbers only."""
        if capability is Capability.DETECTION:
            return Answers(GAIN * np.where(sensors.cue != sensors.second_option, 1.0, -1.0))
        followed = np.ones(len(sensors), dtype=bool)
        if self.matching is not None:
            followed = stream("mimic", self.seed).random(len(sensors)) < self.matching
        return Answers(GAIN * np.where(followed, 2.0 * sensors.cue - 1.0, 1.0 - 2.0 * sensors.cue))
