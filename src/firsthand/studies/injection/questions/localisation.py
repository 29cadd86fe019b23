"""During which of several sentences was a thought injected? The vector is on each of them in turn.

The same injection under another question with the same answers (which sentence is the most abstract, has most to do
with the concept, ...) shows what its content alone does to the choice: localisation must do better than that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm, edit, matched_strength
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Draft
from firsthand.studies.injection.places import draw_sentences, localisation, localisation_control
from firsthand.studies.injection.texts_places import PLACE_TEXTS
from firsthand.studies.injection.trials import Trial
from firsthand.trials.randomness import stream

CONTROLS: Final = ("abstract", "concept", "unusual", "any")
"""The control questions that are asked."""


def trials(
    bench: InjectionBench, concept: str, cells: Sequence[Cell], *, full: bool = False, read: bool = False
) -> list[Trial]:
    """The vector on each sentence in turn.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers and doses.
        full: Whether the control arms and questions are run too.
        read: Whether the activations are read.
    """
    text = PLACE_TEXTS[bench.concepts.index(concept) % len(PLACE_TEXTS)]
    drawn = stream("injection", bench.claim.seed, "sentences", concept)
    sentences = draw_sentences(bench.claim.sentences, drawn)
    arms = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED) if full else (Arm.TARGET,)
    made = list(_of_draft(bench, concept, cells, localisation(text, sentences), arms, read))
    for control in CONTROLS if full else ():
        draft = localisation_control(text, control, sentences, concept)
        made += _of_draft(bench, concept, cells, draft, (Arm.TARGET,), read=False)
    return made


def _of_draft(
    bench: InjectionBench, concept: str, cells: Sequence[Cell], draft: Draft, arms: Sequence[Arm], read: bool
) -> Iterator[Trial]:
    prompt = bench.prompt(draft)
    sensors = tuple((span, concept) for span in prompt.spans) if read else ()
    clean = Trial(concept, Arm.CLEAN, prompt, name=draft.detail, sensors=sensors, probed=read)
    yield clean
    for cell in cells:
        fit = None
        if Arm.CONTENT_FREE in arms:
            control = localisation_control(
                PLACE_TEXTS[bench.concepts.index(concept) % len(PLACE_TEXTS)], "any", draft.marks, concept
            )
            asked = bench.prompt(control)
            fit = matched_strength(bench, cell, concept, asked, span=asked.spans[len(asked.spans) // 2])
        for arm in arms:
            for place, span in enumerate(prompt.spans):
                strength, matched = fit if fit is not None and arm is Arm.CONTENT_FREE else (None, None)
                edits = edit(arm, bench, cell, concept, prompt, span, strength=strength)
                name = f"{draft.detail} on {place}"
                yield replace(clean, arm=arm, edits=edits, cell=cell, truth=str(place), name=name, matched=matched)
