"""During which of several sentences was a thought injected? The vector is on each of them in turn.

The same injection under another question with the same answers (which sentence is the most abstract, has most to do
with the concept, ...) shows what its content alone does to the choice: localisation must do better than that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm, Like, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Draft
from firsthand.studies.injection.places import draw_sentences, localisation, localisation_control
from firsthand.studies.injection.questions.base import read_at_marks
from firsthand.studies.injection.texts_places import PLACE_TEXTS
from firsthand.studies.injection.trials import Trial
from firsthand.trials.randomness import stream

CONTROLS: Final = ("abstract", "concept", "unusual", "any")
"""The control questions that are asked."""


def trials(
    bench: InjectionBench, concept: str, cells: Sequence[Cell], *, full: bool = False, read: Cell | None = None
) -> list[Trial]:
    """The vector on each sentence in turn.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers and doses.
        full: Whether the control arms and questions are run too.
        read: At whose layer the activations are read, if they are.
    """
    text = PLACE_TEXTS[bench.concepts.index(concept) % len(PLACE_TEXTS)]
    drawn = stream("injection", bench.claim.seed, "sentences", concept)
    sentences = draw_sentences(bench.claim.sentences, drawn)
    arms = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED) if full else (Arm.TARGET,)
    made = list(_of_draft(bench, concept, cells, localisation(text, sentences), arms, read))
    for control in CONTROLS if full else ():
        draft = localisation_control(text, control, sentences, concept)
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
    like = _like(bench, concept, draft) if Arm.CONTENT_FREE in arms else None
    for cell in cells:
        for arm in arms:
            for place, span in enumerate(clean.prompt.spans):
                yield replace(
                    clean,
                    arm=arm,
                    edits=edit(arm, bench, cell, concept, clean.prompt, span),
                    cell=cell,
                    truth=str(place),
                    name=f"{draft.detail} on {place}",
                    like=like if arm is Arm.CONTENT_FREE else None,
                )


def _like(bench: InjectionBench, concept: str, draft: Draft) -> Like:
    """The middle one of the same sentences, where any of them is asked for."""
    text = PLACE_TEXTS[bench.concepts.index(concept) % len(PLACE_TEXTS)]
    asked = bench.prompt(localisation_control(text, "any", draft.marks, concept))
    return Like(asked, asked.spans[len(asked.spans) // 2])
