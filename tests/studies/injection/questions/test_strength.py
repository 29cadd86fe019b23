"""Strength: the same sentence twice, one copy at half the dose of the other, in both assignments and both orders."""

from collections import Counter

import pytest

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.places import COPIES
from firsthand.studies.injection.questions import strength
from firsthand.studies.injection.texts_places import STRENGTH_CONTROLS
from firsthand.studies.injection.trials import Trial

CELL = Cell(1, 1.0)
EDITED = (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED)


@pytest.fixture(scope="module")
def made(injection_bench: InjectionBench) -> list[Trial]:
    return strength.trials(injection_bench, "sea", [CELL], full=True, read=True)


def test_the_right_answer_is_the_copy_with_the_full_dose_and_the_other_has_half(
    bench: InjectionBench, made: list[Trial]
) -> None:
    full = bench.strength(CELL)
    for trial in made:
        if trial.arm not in (Arm.TARGET, Arm.CONTENT_FREE, Arm.SHUFFLED):
            continue
        doses = {edit.positions: edit.strength for edit in trial.edits}
        stronger = COPIES.index(trial.truth)
        assert doses[trial.prompt.spans[stronger]] == pytest.approx(full)
        assert doses[trial.prompt.spans[1 - stronger]] == pytest.approx(full / 2)


def test_the_labels_stand_for_the_copies_in_the_order_of_the_text(made: list[Trial]) -> None:
    for trial in made:
        meanings = dict(zip(trial.prompt.draft.labels, trial.prompt.meanings, strict=True))
        assert meanings == {"1": "first", "2": "second"}
        assert trial.prompt.spans[0][-1] < trial.prompt.spans[1][0]


def test_both_assignments_and_both_orders_of_mention_occur_equally_often(made: list[Trial]) -> None:
    for arm in EDITED:
        real = [t for t in made if t.arm is arm and t.prompt.draft.task == "strength"]
        assert Counter((t.prompt.meanings, t.truth) for t in real) == dict.fromkeys(
            [(order, copy) for order in (COPIES, COPIES[::-1]) for copy in COPIES], 1
        )
    mentioned = Counter(t.prompt.meanings for t in made if t.arm is Arm.CLEAN)
    assert set(mentioned.values()) == {1 + len(STRENGTH_CONTROLS)}


def test_both_assignments_stand_on_identical_text(made: list[Trial]) -> None:
    for task in ("strength", "strength_control"):
        here = [t for t in made if t.arm is Arm.TARGET and t.prompt.draft.task == task]
        truths: dict[tuple[int, ...], set[str]] = {}
        for trial in here:
            truths.setdefault(trial.prompt.tokens, set()).add(trial.truth)
        assert all(found == set(COPIES) for found in truths.values())


def test_control_questions_keep_copies_labels_and_order(made: list[Trial]) -> None:
    pairs = Counter((t.prompt.draft.detail, t.prompt.draft.labels) for t in made if t.arm is Arm.TARGET)
    assert pairs == {(d, order): 2 for d in ("", *STRENGTH_CONTROLS) for order in (("1", "2"), ("2", "1"))}
    assert len({t.prompt.draft.marks for t in made}) == 1
    assert {t.arm for t in made if t.prompt.draft.detail} == {Arm.CLEAN, Arm.TARGET}


def test_sensors_stand_in_the_order_of_the_copies_whatever_is_mentioned_first(made: list[Trial]) -> None:
    for trial in made:
        real = trial.prompt.draft.task == "strength"
        assert trial.sensors == (tuple((span, "sea") for span in trial.prompt.spans) if real else ())


def test_a_sham_leaves_both_copies_as_they_are(made: list[Trial]) -> None:
    shams = [t for t in made if t.arm is Arm.SHAM]
    assert {edit.strength for trial in shams for edit in trial.edits} == {0.0}
    assert all([e.positions for e in t.edits] == list(t.prompt.spans) for t in shams)


def test_without_controls_there_are_clean_and_target_only(bench: InjectionBench) -> None:
    made = strength.trials(bench, "sea", bench.cells)
    assert Counter(t.arm for t in made) == {Arm.CLEAN: 2, Arm.TARGET: 4 * len(bench.cells)}
