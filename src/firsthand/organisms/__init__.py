"""Reporters whose answer is known in advance: the instrument is tested on them."""

from firsthand.organisms.base import Answers, Organism, Sensors
from firsthand.organisms.constant import Constant
from firsthand.organisms.denier import Denier
from firsthand.organisms.mimic import Mimic
from firsthand.organisms.smoke_alarm import SmokeAlarm
from firsthand.organisms.wire import Wire

SCRIPTED: tuple[Organism, ...] = (Wire(), Mimic(), SmokeAlarm(), Denier(), Constant())
"""The scripted panel, each with the verdicts it must get."""

__all__ = ["SCRIPTED", "Answers", "Constant", "Denier", "Mimic", "Organism", "Sensors", "SmokeAlarm", "Wire"]
