"""The arms of an injection trial: what is added, where, and what of it the report must not answer to.

==============  ===============  ====================================================================================
arm             trial kind       what is done
==============  ===============  ====================================================================================
clean           baseline         nothing
target          target           the concept's vector is added at the marked tokens
sham            sham             the same edit, which writes what is there already
push            input_control    a text pushes towards the concept; nothing is added
content_free    impact_control   a direction without content is added, at the dose that changes the answer to an
                                 unrelated question as much as the target does
shuffled        (no kind)        the vector's numbers in another order, at the target's dose
swap            (no kind)        the stream is replaced by what it is, at the same tokens, in a conversation that pushes
                                 towards another concept: an internal change that stays among natural states
against         (no kind)        identification only: the target, in a conversation that pushes towards another concept
==============  ===============  ====================================================================================
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firsthand.engine import Edit, Operation, resid_post
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.prompts import Prompt
from firsthand.vocabulary import Kind, Timing

Span = tuple[int, ...]


@dataclass(frozen=True)
class Like:
    """Where the impact of a direction without content is to be the target's.

    Attributes:
        prompt: A conversation that asks for something unrelated: where the injection is asked for, the change of the
            output *is* the report.
        span: Its marked tokens.
    """

    prompt: Prompt
    span: Span


class Arm(StrEnum):
    """What is done to a trial; see the table above."""

    CLEAN = "clean"
    TARGET = "target"
    SHAM = "sham"
    PUSH = "push"
    CONTENT_FREE = "content_free"
    SHUFFLED = "shuffled"
    SWAP = "swap"
    AGAINST = "against"


KINDS: Final[Mapping[Arm, Kind]] = {
    Arm.CLEAN: Kind.BASELINE,
    Arm.TARGET: Kind.TARGET,
    Arm.SHAM: Kind.SHAM,
    Arm.PUSH: Kind.INPUT_CONTROL,
    Arm.CONTENT_FREE: Kind.IMPACT_CONTROL,
}
"""The trial kind of each arm that the specificity margin is taken over."""

JUDGED: Final = (*KINDS, Arm.SHUFFLED)
"""Arms that a verdict on detection rests on."""

UNEDITED: Final = (Arm.CLEAN, Arm.PUSH)
"""Arms in which nothing is done to the stream."""


def placed(prompt: Prompt, span: Span, timing: Timing) -> tuple[Span, dict[str, object]]:
    """Where an edit of a timing acts, and the fields by which it says so.

    ``live`` goes on at every token after the marked ones, those of the answer's beginning too; ``lifted`` and
    ``delayed`` end with the turn that holds them, so that only the cache carries them on.
    """
    if timing is Timing.LIVE:
        return tuple(range(span[0], len(prompt.tokens))), {}
    if timing is Timing.LIFTED:
        return span, {"timing": timing, "until": prompt.until}
    if timing is Timing.DELAYED:
        return span, {"timing": timing, "until": prompt.until, "question": prompt.question}
    return span, {}


def edit(
    arm: Arm,
    bench: InjectionBench,
    cell: Cell,
    concept: str,
    prompt: Prompt,
    span: Span | None = None,
    *,
    timing: Timing = Timing.PREFILL,
    strength: float | None = None,
    other: bool = False,
) -> tuple[Edit, ...]:
    """The edit of an arm, or none where nothing is done to the stream.

    Args:
        arm: The arm; for a swap, which is filled in when it is settled, the sham's.
        bench: What is fixed.
        cell: Layer and dose.
        concept: The concept.
        prompt: The conversation.
        span: The marked tokens; the prompt's one marked text if it is left out.
        timing: When it acts.
        strength: Its strength, if it is not the cell's.
        other: Whether the vector of the other recipe is added.
    """
    if arm in UNEDITED:
        return ()
    positions, when = placed(prompt, prompt.span if span is None else span, timing)
    site, size = resid_post(cell.layer), bench.strength(cell) if strength is None else strength
    if arm in (Arm.SHAM, Arm.SWAP):
        vector = bench.vector(concept, cell.layer)
        return (Edit(site, positions, vector, Operation.REPLACE, 0.0, **when),)  # type: ignore[arg-type]
    if arm is Arm.CONTENT_FREE:
        vector = bench.content_free(concept, cell.layer) * _norm(bench, concept, cell)
    elif arm is Arm.SHUFFLED:
        vector = bench.shuffled(concept, cell.layer)
    else:
        vector = bench.vector(concept, cell.layer, other=other)
    return (Edit(site, positions, vector, Operation.ADD, size, **when),)  # type: ignore[arg-type]


def _norm(bench: InjectionBench, concept: str, cell: Cell) -> float:
    return float(bench.vector(concept, cell.layer).norm())
