"""What an examination finds."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


class Finding(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: What was looked at.
        finding: How bad it is.
        measured: What was seen, in numbers where there are any.
        meaning: What it means for results.
    """

    name: str
    finding: Finding
    measured: str
    meaning: str


@dataclass(frozen=True)
class Diagnosis:
    """Everything that was looked at.

    Attributes:
        model: The name of the model.
        dtype: Its precision.
        device: Where it lies.
        checks: The checks, in order.
    """

    model: str
    dtype: str
    device: str
    checks: tuple[Check, ...]

    @property
    def failed(self) -> tuple[Check, ...]:
        """Checks that make results wrong."""
        return tuple(check for check in self.checks if check.finding is Finding.FAILED)

    def as_json(self) -> dict[str, Any]:
        """The diagnosis as plain data."""
        return {"schema_version": 1, **asdict(self), "sound": not self.failed}


def graded(name: str, value: float, ok: float, bad: float, measured: str, meanings: tuple[str, str, str]) -> Check:
    """A check of one number: fine up to ``ok``, wrong above ``bad``, to be warned of in between.

    Args:
        name: What was looked at.
        value: The number; what is not a number is wrong.
        ok: Largest value that is fine.
        bad: Largest value that is not wrong.
        measured: The number in words.
        meanings: What it means if it is fine, in between, and wrong.
    """
    finding = Finding.OK if value <= ok else Finding.WARNING if value <= bad else Finding.FAILED
    return Check(name, finding, measured, meanings[(Finding.OK, Finding.WARNING, Finding.FAILED).index(finding)])
