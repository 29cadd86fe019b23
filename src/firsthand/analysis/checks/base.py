"""What a check hands over."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from firsthand.analysis.findings import Finding, Mark, Picture
from firsthand.analysis.inference import Measured
from firsthand.analysis.means import estimate
from firsthand.vocabulary import Kind


@dataclass(frozen=True, eq=False)
class Signal:
    """A difference from what ignoring the state would give; zero means nothing.

    Attributes:
        name: What it is, in words.
        found: The difference.
    """

    name: str
    found: Measured


@dataclass(frozen=True, eq=False)
class Checked:
    """What one check found.

    Attributes:
        findings: Sentences with their numbers.
        signal: How far the report is from ignoring the state, where this check can tell.
        picture: What may be drawn.
        missing: What the verdict would need and the data lack, found by this check.
        observers: The report's score minus that of each observer.
        alarms: Detection: the rate of "yes" on each control kind minus that on quiet rows.
        margins: Detection: the rate of "yes" on the target minus that on each control kind.
        concluded: What can be concluded whatever the verdict.
    """

    findings: tuple[Finding, ...] = ()
    signal: Signal | None = None
    picture: Picture | None = None
    missing: tuple[str, ...] = ()
    observers: Mapping[str, Measured] = field(default_factory=dict)
    alarms: Mapping[Kind, Measured] = field(default_factory=dict)
    margins: Mapping[Kind, Measured] = field(default_factory=dict)
    concluded: tuple[str, ...] = field(default=())


NOTHING = Checked()


def marks_of(named: dict[str, Measured], emphasis: str) -> tuple[Mark, ...]:
    """Lines of a chart from measured numbers; one without an interval cannot be drawn and is left out."""
    made = ((name, estimate(found)) for name, found in named.items())
    return tuple(Mark(label=name, estimate=shown, emphasis=name == emphasis) for name, shown in made if shown)
