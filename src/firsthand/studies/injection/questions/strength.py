"""Which of two copies of a sentence carried the stronger injection? Both assignments, on identical text.

The weaker copy gets half the dose of the stronger. A thermometer that reads lengths and no content passes here, as it
should: strength is what is asked for. What it must do better than is the same injection under a question that asks
nothing about the inside.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from firsthand.engine import Edit
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Draft
from firsthand.studies.injection.places import COPIES, draw_sentences, strength, strength_control
from firsthand.studies.injection.prompts import Prompt
from firsthand.studies.injection.questions.base import read_at_marks
from firsthand.studies.injection.texts_places import STRENGTH_CONTROLS, STRENGTH_TEXTS
from firsthand.studies.injection.texts_sentences import SENTENCES
from firsthand.studies.injection.trials import Trial
from firsthand.trials.randomness import stream

WEAKER: Final = 0.5
"""The weaker copy's share of the dose."""


def trials(
    bench: InjectionBench, concept: str, cells: Sequence[Cell], *, full: bool = False, read: Cell | None = None
) -> list[Trial]:
    """Both mention orders and both assignments.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers, and doses of the stronger copy.
        full: Whether the control arms and questions are run too.
        read: At whose layer the activations are read, if they are.
    """
    text = STRENGTH_TEXTS[bench.concepts.index(concept) % len(STRENGTH_TEXTS)]
    order = draw_sentences(len(SENTENCES), stream("injection", bench.claim.seed, "copies"))
    sentence = order[bench.concepts.index(concept) % len(order)]  # another one for each concept
    arms = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED) if full else (Arm.TARGET,)
    made: list[Trial] = []
    for mentioned in (0, 1):
        made += _of_draft(bench, concept, cells, strength(text, sentence, mentioned), arms, read)
        for control in STRENGTH_CONTROLS if full else ():
            draft = strength_control(text, control, sentence, mentioned)
            made += _of_draft(bench, concept, cells, draft, (Arm.TARGET,))
    return made


def _of_draft(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    draft: Draft,
    arms: Sequence[Arm],
    read: Cell | None = None,
) -> Iterator[Trial]:
    clean = read_at_marks(Trial(concept, Arm.CLEAN, bench.prompt(draft), name=draft.detail), read)
    yield clean
    for cell in cells:
        for arm in arms:
            for stronger in (0, 1):
                edits = _both(bench, arm, cell, concept, clean.prompt, stronger)
                name = f"{draft.detail} more on {stronger}"
                yield replace(clean, arm=arm, edits=edits, cell=cell, truth=COPIES[stronger], name=name)


def _both(bench: InjectionBench, arm: Arm, cell: Cell, concept: str, prompt: Prompt, stronger: int) -> tuple[Edit, ...]:
    found: tuple[Edit, ...] = ()
    for copy, span in enumerate(prompt.spans):
        share = 1.0 if copy == stronger else WEAKER
        found += edit(arm, bench, cell, concept, prompt, span, strength=share * bench.strength(cell))
    return found
