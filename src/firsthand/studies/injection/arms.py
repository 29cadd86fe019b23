"""The arms of an injection trial: what is added, where, and what of it the report must not answer to.

==============  ===============  ====================================================================================
arm             trial kind       what is done
==============  ===============  ====================================================================================
clean           baseline         nothing
target          target           the concept's vector is added at the trial line
sham            sham             the same edit, which writes what is there already
push            input_control    a text pushes towards the concept; nothing is added
content_free    impact_control   a direction without content is added, at the dose that changes the answer to an
                                 unrelated question as much as the target does
shuffled        (no kind)        the vector's numbers in another order, at the target's dose
==============  ===============  ====================================================================================
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from firsthand.engine import Edit, Operation, resid_post
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.vocabulary import Kind


class Arm(StrEnum):
    """What is done to a trial; see the table above."""

    CLEAN = "clean"
    TARGET = "target"
    SHAM = "sham"
    PUSH = "push"
    CONTENT_FREE = "content_free"
    SHUFFLED = "shuffled"


KINDS: Final[Mapping[Arm, Kind]] = {
    Arm.CLEAN: Kind.BASELINE,
    Arm.TARGET: Kind.TARGET,
    Arm.SHAM: Kind.SHAM,
    Arm.PUSH: Kind.INPUT_CONTROL,
    Arm.CONTENT_FREE: Kind.IMPACT_CONTROL,
}
"""The trial kind of each arm that the specificity margin is taken over."""


def edits_of(
    arm: Arm, bench: InjectionBench, cell: Cell, concept: str, span: tuple[int, ...], matched: float | None = None
) -> tuple[Edit, ...]:
    """The edits of an arm.

    Args:
        arm: The arm.
        bench: What is fixed.
        cell: Layer and dose.
        concept: The concept.
        span: Positions of the trial line.
        matched: Dose of the content-free direction, in absolute units; the target's where it was not solved.
    """
    site, strength = resid_post(cell.layer), bench.strength(cell)
    if arm in (Arm.CLEAN, Arm.PUSH):
        return ()
    if arm is Arm.SHAM:
        return (Edit(site, span, bench.vector(concept, cell.layer), Operation.REPLACE, 0.0),)
    if arm is Arm.CONTENT_FREE:
        direction = bench.content_free(concept, cell.layer)
        return (Edit(site, span, direction, strength=strength if matched is None else matched),)
    vector = bench.vector(concept, cell.layer) if arm is Arm.TARGET else bench.shuffled(concept, cell.layer)
    return (Edit(site, span, vector, strength=strength),)
