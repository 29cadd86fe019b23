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

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from torch import Tensor

from firsthand.engine import Capture, Edit, Operation, Row, resid_post, run
from firsthand.engine.matching import match_directions
from firsthand.studies.cells import Cell
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.prompts import Prompt
from firsthand.vocabulary import Kind, Timing

Span = tuple[int, ...]


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

LEAST_IMPACT: Final = 1e-5
"""Least KL divergence, in nats, that counts as an impact at all: below it a matched control has nothing to match."""

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
        arm: The arm; swaps are made by :func:`swapped`.
        bench: What is fixed.
        cell: Layer and dose.
        concept: The concept.
        prompt: The conversation.
        span: The marked tokens; the prompt's one marked text if it is left out.
        timing: When it acts.
        strength: Its strength, if it is not the cell's: the matched one of a direction without content.
        other: Whether the vector of the other recipe is added.
    """
    if arm in UNEDITED:
        return ()
    positions, when = placed(prompt, prompt.span if span is None else span, timing)
    site, size = resid_post(cell.layer), bench.strength(cell) if strength is None else strength
    if arm is Arm.SHAM:
        vector = bench.vector(concept, cell.layer)
        return (Edit(site, positions, vector, Operation.REPLACE, 0.0, **when),)  # type: ignore[arg-type]
    if arm is Arm.CONTENT_FREE:
        vector = bench.content_free(concept, cell.layer) * _norm(bench, concept, cell)
    elif arm is Arm.SHUFFLED:
        vector = bench.shuffled(concept, cell.layer)
    else:
        vector = bench.vector(concept, cell.layer, other=other)
    return (Edit(site, positions, vector, Operation.ADD, size, **when),)  # type: ignore[arg-type]


def swapped(bench: InjectionBench, cell: Cell, pairs: Sequence[tuple[Prompt, Prompt]]) -> list[tuple[Edit, ...]]:
    """For each prompt the edits that replace its marked tokens' stream by that of another conversation's.

    Args:
        bench: What is fixed.
        cell: Where.
        pairs: A prompt, and one with the same marked text after another lead.
    """
    site = resid_post(cell.layer)
    if bench.planned:
        return [edit(Arm.SHAM, bench, cell, bench.concepts[0], prompt) for prompt, _ in pairs]
    rows = [Row(source.tokens, captures=(Capture("stream", site, source.span),)) for _, source in pairs]
    found = run(bench.anatomy, rows, reduce=lambda logprobs, _: logprobs[:, :1]).captures
    return [_replacing(prompt.span, reading["stream"], cell) for (prompt, _), reading in zip(pairs, found, strict=True)]


@lru_cache(maxsize=4096)
def matched_strength(
    bench: InjectionBench,
    cell: Cell,
    concept: str,
    prompt: Prompt,
    *,
    span: Span | None = None,
    timing: Timing = Timing.PREFILL,
) -> tuple[float, bool]:
    """The strength at which the direction without content moves an answer as much as the target does, and if found.

    Several questions in the same cell need the same one, so it is remembered.

    Args:
        bench: What is fixed.
        cell: Layer and dose of the target.
        concept: The concept.
        prompt: A conversation that asks for something unrelated: where the injection is asked for, the change of the
            output *is* the report.
        span: The marked tokens.
        timing: When both act.
    """
    if bench.planned:
        return bench.strength(cell), True
    free, target = (
        edit(arm, bench, cell, concept, prompt, span, timing=timing) for arm in (Arm.CONTENT_FREE, Arm.TARGET)
    )
    tolerance = bench.claim.analysis.impact_tolerance
    found = match_directions(bench.anatomy, Row(prompt.tokens), free, target, tolerance=tolerance)
    return float(found.dose[0]), bool(found.matched[0]) and float(found.impact[0]) >= LEAST_IMPACT


def _norm(bench: InjectionBench, concept: str, cell: Cell) -> float:
    return float(bench.vector(concept, cell.layer).norm())


def _replacing(span: Span, stream_TH: Tensor, cell: Cell) -> tuple[Edit, ...]:
    pairs = zip(span, stream_TH, strict=True)
    return tuple(Edit(resid_post(cell.layer), (at,), state_H, Operation.REPLACE, 1.0) for at, state_H in pairs)
