"""Was a thought injected? With two answers, and with a third for a manipulated prompt; and a question beside it.

The unrelated question is about the world, in the same frame, and its right answer is no: an injection that raises
"yes" there too does not show that anything was detected.

Timing says how long the vector is added. ``prefill``: at the trial line. ``live``: from there on. ``lifted`` and
``delayed``: at a line of an earlier turn; the question comes after it has ended, at once or after neutral turns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import JUDGED, UNEDITED, Arm, Like, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import Earlier, detection, draw_earlier, unrelated
from firsthand.studies.injection.prompts import Prompt
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.texts_questions import RIGHT_NO
from firsthand.studies.injection.trials import Trial
from firsthand.studies.injection.wordings import Meaning, Order, Wording, orders
from firsthand.trials.randomness import stream
from firsthand.vocabulary import Timing

YES_NO: Final[Order] = (Meaning.YES, Meaning.NO)
PRIMARY: Final = (Arm.CLEAN, Arm.TARGET)
EVERY: Final = (*JUDGED, Arm.SWAP)
BESIDE: Final = (*PRIMARY, Arm.CONTENT_FREE)
"""Arms in which the unrelated question is put: what the injection does there, and that its control does as much."""


def trials(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    setting: Setting,
    arms: Sequence[Arm] = EVERY,
    *,
    ask_unrelated: bool = True,
    read: Cell | None = None,
    skip_voices: int = 0,
) -> list[Trial]:
    """Every wording of the setting and order of one concept, in every arm and cell, with the unrelated question.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers and doses.
        setting: Framing, number of answers, timing, labels and recipe.
        arms: Arms; the clean one always is there.
        ask_unrelated: Whether the unrelated question is asked too.
        read: At whose layer the activations are read, for wires and probes; they are not read without one.
        skip_voices: How many of the concept's own voices are passed over, for voices that it was not asked in.
    """
    wordings = bench.asked(concept, setting.framing, setting.options, setting.labels, skip=skip_voices)
    earlier = earlier_of(bench, concept, setting.timing)
    like = like_unrelated(bench, concept, wordings[0], earlier)
    made: list[Trial] = []
    for wording in wordings:
        for order in orders(wording.meanings):
            draft = detection(wording, order, earlier)
            made += of_prompt(bench, _trial(concept, setting, bench.led(draft, concept), read), cells, arms, like)
            if Arm.PUSH in arms:
                pushed = bench.led(draft, concept, towards=concept)
                made.append(replace(_trial(concept, setting, pushed, read), arm=Arm.PUSH))
        if Arm.SWAP in arms and setting.timing is Timing.PREFILL:
            made += _swaps(bench, concept, wording, setting, cells, read)
        if ask_unrelated:
            beside = [arm for arm in arms if arm in BESIDE]
            for order in orders(YES_NO):
                prompt = unrelated_prompt(bench, concept, wording, order, earlier)
                made += of_prompt(bench, _trial(concept, setting, prompt, read), cells, beside, like)
    return made


def choosing_trials(bench: InjectionBench, concept: str, cells: Sequence[Cell], setting: Setting) -> list[Trial]:
    """The trials by which a cell is chosen: clean and target, in balanced orders.

    The unrelated question is put beside two answers, in one order, and to the next concept in the other.
    """
    at = bench.part(concept).index(concept)
    made: list[Trial] = []
    for wording in bench.asked(concept, setting.framing, setting.options, setting.labels):
        for order in balanced_orders(bench, concept, wording):
            clean = _trial(concept, setting, bench.led(detection(wording, order), concept), None)
            made += of_prompt(bench, clean, cells, PRIMARY)
        if len(wording.meanings) == 2:
            prompt = unrelated_prompt(bench, concept, wording, orders(YES_NO)[at % 2])
            made += of_prompt(bench, _trial(concept, setting, prompt, None), cells, PRIMARY)
    return made


def balanced_orders(bench: InjectionBench, concept: str, wording: Wording) -> list[Order]:
    """As few orders of the answers as put every answer in every place once.

    Two answers have both orders. Of the six of three, a concept gets the rotations of one sense and the next concept
    those of the other, so that over the concepts all of them are asked.
    """
    at, meanings = bench.part(concept).index(concept), wording.meanings
    turned = meanings if at % 2 == 0 else tuple(reversed(meanings))
    return [(*turned[k:], *turned[:k]) for k in range(len(turned))]


def unrelated_prompt(
    bench: InjectionBench, concept: str, wording: Wording, order: Order, earlier: Earlier | None = None
) -> Prompt:
    """A question about the world whose right answer is no, in the frame of the injection question."""
    drawn = stream("injection", bench.claim.seed, "unrelated", concept, wording.cluster).integers(len(RIGHT_NO))
    return bench.led(unrelated(wording, order, RIGHT_NO[int(drawn)], earlier), concept)


def like_unrelated(bench: InjectionBench, concept: str, wording: Wording, earlier: Earlier | None = None) -> Like:
    """The question by which the impact of a direction without content is matched."""
    prompt = unrelated_prompt(bench, concept, wording, YES_NO, earlier)
    return Like(prompt, prompt.span)


def earlier_of(bench: InjectionBench, concept: str, timing: Timing) -> Earlier | None:
    """What is marked in an earlier turn, and what lies between it and the question; ``None`` for other timings."""
    if timing not in (Timing.LIFTED, Timing.DELAYED):
        return None
    delay = bench.claim.delay if timing is Timing.DELAYED else 0
    return draw_earlier(delay, stream("injection", bench.claim.seed, "earlier", concept, timing))


def of_prompt(
    bench: InjectionBench, clean: Trial, cells: Sequence[Cell], arms: Sequence[Arm], like: Like | None = None
) -> Iterator[Trial]:
    """The clean trial of a prompt and the arms that edit it at its one marked text.

    Args:
        bench: What is fixed.
        clean: The trial without an edit.
        cells: Layers and doses.
        arms: Arms; unedited ones and swaps are left out.
        like: Where the content-free direction's impact is to be the target's.
    """
    yield clean
    for cell in cells:
        for arm in arms:
            if arm in UNEDITED or arm is Arm.SWAP:
                continue
            edits = edit(
                arm,
                bench,
                cell,
                clean.concept,
                clean.prompt,
                timing=clean.timing,
                other=clean.name == OTHER,
            )
            yield replace(clean, arm=arm, edits=edits, cell=cell, like=like if arm is Arm.CONTENT_FREE else None)


OTHER: Final = "other"


def _swaps(
    bench: InjectionBench, concept: str, wording: Wording, setting: Setting, cells: Sequence[Cell], read: Cell | None
) -> Iterator[Trial]:
    """The stream of a conversation that pushes towards another concept, put where that of this one was."""
    drafts = [detection(wording, order) for order in balanced_orders(bench, concept, wording)]
    prompts = [bench.led(draft, concept) for draft in drafts]
    sources = [bench.led(draft, concept, towards=bench.neighbour(concept)) for draft in drafts]
    for cell in cells:
        for prompt, source in zip(prompts, sources, strict=True):
            edits = edit(Arm.SWAP, bench, cell, concept, prompt)
            clean = _trial(concept, setting, prompt, read)
            yield replace(clean, arm=Arm.SWAP, edits=edits, cell=cell, source=source)


def _trial(concept: str, setting: Setting, prompt: Prompt, read: Cell | None) -> Trial:
    return Trial(
        concept,
        Arm.CLEAN,
        prompt,
        name=OTHER if setting.other_recipe else "",
        timing=setting.timing,
        sensors=((prompt.span, concept),) if read else (),
        reading=read,
    )
