"""Which of these concepts was injected? By the label of a list (``choice``) or by an opaque code (``codes``).

The concept stands in every place of the list once. Its codes are drawn anew for every list, so that no code stands for
a concept for longer than one prompt. The same list under a request for any word of it shows how far the injection
promotes its own word: what is picked there as often was not identified.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm, Like, edit
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.drafts import (
    Draft,
    identification_by_choice,
    identification_by_code,
    identification_control,
)
from firsthand.studies.injection.questions.base import Setting, read_at_marks
from firsthand.studies.injection.questions.detection import like_unrelated, of_prompt
from firsthand.studies.injection.trials import Trial
from firsthand.studies.injection.wordings import Wording
from firsthand.trials.randomness import stream

LETTERS: Final = "BCDFGHJKLMNPQRSTVWXZ"
"""Codes are drawn from those of them that the tokenizer can write as one token."""
EDITED: Final = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED)


def trials(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    setting: Setting,
    *,
    coded: bool,
    full: bool = False,
    read: Cell | None = None,
) -> list[Trial]:
    """The list with the concept in every place.

    Args:
        bench: What is fixed.
        concept: The concept.
        cells: Layers and doses.
        setting: Framing of the wordings.
        coded: Whether opaque codes are asked for.
        full: Whether the control arms and questions are run too.
        read: At whose layer the activations are read, if they are.
    """
    wordings = bench.asked(concept, setting.framing)
    like = like_unrelated(bench, concept, wordings[0]) if full else None
    at = bench.concepts.index(concept)
    made: list[Trial] = []
    for wording in wordings:
        for place, listed in enumerate(lists(bench, concept)):
            codes = _codes(bench, concept, wording, place) if coded else None
            draft = _asked(wording, listed, codes)
            made += _of_draft(bench, concept, cells, draft, listed, place, like, read)
            if not full:
                continue
            made += _control(bench, concept, cells, wording, listed, codes, told=bool((at + place) % 2), place=place)
            if place == at % len(listed):
                made += _pushed(bench, concept, cells, draft, place)
    return made


def lists(bench: InjectionBench, concept: str) -> list[tuple[str, ...]]:
    """The concept with the others of its list, once in every place; its neighbour is among them."""
    length = min(bench.claim.list_length, len(bench.part(concept)))
    neighbour = bench.neighbour(concept)
    rest = [c for c in bench.part(concept) if c not in (concept, neighbour)]
    drawn = stream("injection", bench.claim.seed, "list", concept).permutation(len(rest))
    found = (concept, neighbour, *(rest[int(i)] for i in drawn[: length - 2]))
    return [(*found[-place:], *found[:-place]) if place else found for place in range(length)]


def _asked(wording: Wording, listed: Sequence[str], codes: Sequence[str] | None) -> Draft:
    if codes is None:
        return identification_by_choice(wording, listed)
    return identification_by_code(wording, listed, codes)


def _of_draft(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    draft: Draft,
    listed: Sequence[str],
    place: int,
    like: Like | None,
    read: Cell | None,
) -> Iterator[Trial]:
    clean = read_at_marks(Trial(concept, Arm.CLEAN, bench.led(draft, concept), name=str(place)), read, listed)
    arms = (Arm.TARGET,) if like is None else EDITED
    yield from (_true(trial, concept) for trial in of_prompt(bench, clean, cells, arms, like))


def _control(
    bench: InjectionBench,
    concept: str,
    cells: Sequence[Cell],
    wording: Wording,
    listed: Sequence[str],
    codes: Sequence[str] | None,
    *,
    told: bool,
    place: int,
) -> Iterator[Trial]:
    """The request for any word of the list: told of injections in every second place, untold in the others."""
    draft = identification_control(wording, listed, codes, told=told)
    clean = Trial(concept, Arm.CLEAN, bench.led(draft, concept), name=f"{draft.detail} {place}")
    yield from (_true(trial, concept) for trial in of_prompt(bench, clean, cells, (Arm.TARGET,)))


def _pushed(bench: InjectionBench, concept: str, cells: Sequence[Cell], draft: Draft, place: int) -> Iterator[Trial]:
    """In one place, another for each concept: what a text does, alone and against the vector, and a natural state."""
    neighbour = bench.neighbour(concept)
    neutral, own, against = (bench.led(draft, concept, towards=towards) for towards in (None, concept, neighbour))
    for pushed, towards in ((own, concept), (against, neighbour)):
        yield Trial(concept, Arm.PUSH, pushed, truth=towards, name=f"{place} pushed to {towards}")
    for cell in cells:
        edits = edit(Arm.TARGET, bench, cell, concept, against)
        yield Trial(concept, Arm.AGAINST, against, edits, cell, concept, str(place))
        edits = edit(Arm.SWAP, bench, cell, concept, neutral)
        yield Trial(concept, Arm.SWAP, neutral, edits, cell, neighbour, str(place), source=against)


def _true(trial: Trial, concept: str) -> Trial:
    return trial if trial.arm is Arm.CLEAN else replace(trial, truth=concept)


def _codes(bench: InjectionBench, concept: str, wording: Wording, place: int) -> tuple[str, ...]:
    """Codes of one list, drawn anew for every list."""
    usable = [letter for letter in LETTERS if _one_token(bench, wording, letter)]
    length = len(lists(bench, concept)[0])
    if len(usable) < length:
        raise ElicitationError(f"{length} concepts need as many codes, but there are {len(usable)}.", "List fewer.")
    drawn = stream("injection", bench.claim.seed, "codes", concept, wording.name, place).permutation(len(usable))
    return tuple(usable[int(i)] for i in drawn[:length])


def _one_token(bench: InjectionBench, wording: Wording, letter: str) -> bool:
    stem = wording.ask("codes").stem
    tokenizer = bench.loaded.tokenizer
    before, after = (tokenizer.encode(text, add_special_tokens=False) for text in (stem, f"{stem}{letter}"))
    return len(after) == len(before) + 1 and after[: len(before)] == before
