"""Detection: every order in every arm, an unrelated question whose right answer is no, and what lies in between."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
import torch

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions import detection
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.detection import EVERY, PRIMARY, earlier_of
from firsthand.studies.injection.texts_questions import RIGHT_NO
from firsthand.studies.injection.trials import Trial
from firsthand.vocabulary import Timing

CELL = Cell(1, 1.0)


def asked(trials: list[Trial], task: str = "detection") -> list[Trial]:
    return [trial for trial in trials if trial.prompt.draft.task == task]


@pytest.mark.parametrize("options", [2, 3])
def test_every_order_is_asked_once_in_every_arm_and_swaps_in_balanced_ones(bench: InjectionBench, options: int) -> None:
    made = asked(detection.trials(bench, "sea", [CELL], Setting(options=options)))
    for arm in EVERY:
        orders = [trial.prompt.meanings for trial in made if trial.arm is arm]
        if arm is not Arm.SWAP:
            assert sorted(orders) == sorted(permutations(made[0].prompt.meanings))
        for place in range(options):
            stands = Counter(order[place] for order in orders)
            assert len(set(stands.values())) == 1
            assert len(stands) == options


def test_every_cell_is_edited_and_the_clean_trial_asked_once(bench: InjectionBench) -> None:
    made = asked(detection.trials(bench, "sea", bench.cells, Setting(), PRIMARY))
    counts = Counter((trial.arm, trial.cell) for trial in made)
    assert counts == {(Arm.CLEAN, None): 2, **{(Arm.TARGET, cell): 2 for cell in bench.cells}}
    for trial in made:
        assert [edit.strength for edit in trial.edits] == ([bench.strength(trial.cell)] if trial.cell else [])


def test_only_the_push_says_anything_of_the_concept(bench: InjectionBench) -> None:
    for trial in asked(detection.trials(bench, "democracy", [CELL], Setting())):
        pushed = trial.arm is Arm.PUSH
        assert ("democracy" in trial.prompt.text) is pushed
        assert trial.prompt.draft.lead == ("push" if pushed else "neutral")
        assert bool(trial.edits) is (trial.arm not in (Arm.CLEAN, Arm.PUSH))


def test_a_swap_takes_the_stream_of_a_conversation_about_another_concept(bench: InjectionBench) -> None:
    made = [t for t in detection.trials(bench, "sea", [CELL], Setting()) if t.arm is Arm.SWAP]
    for trial in made:
        assert trial.source is not None
        assert bench.neighbour("sea") in trial.source.text
        assert trial.source.draft.labels == trial.prompt.draft.labels
        assert trial.source.meanings == trial.prompt.meanings
    later = detection.trials(bench, "sea", [CELL], Setting(timing=Timing.LIVE))
    assert not [t for t in later if t.arm is Arm.SWAP]


def test_the_unrelated_question_stands_in_the_same_frame_and_its_right_answer_is_no(bench: InjectionBench) -> None:
    made = detection.trials(bench, "sea", [CELL], Setting())
    beside = asked(made, "unrelated")
    assert {t.prompt.meanings for t in beside} == {("yes", "no"), ("no", "yes")}
    assert {t.arm for t in beside} == {Arm.CLEAN, Arm.TARGET, Arm.CONTENT_FREE}
    (question,) = {t.prompt.draft.detail for t in beside}
    assert question in RIGHT_NO
    assert all(question in bench.loaded.tokenizer.decode([t.prompt.tokens[i] for i in t.prompt.span]) for t in beside)
    assert {t.prompt.draft.wording for t in made} == {beside[0].prompt.draft.wording}
    assert {t.prompt.draft.lead for t in beside} == {"neutral"}
    without = detection.trials(bench, "sea", [CELL], Setting(), ask_unrelated=False)
    assert not asked(without, "unrelated")
    assert [t.trial_id for t in without] == [t.trial_id for t in made if t.prompt.draft.task != "unrelated"]


def test_unrelated_questions_differ_between_concepts(bench: InjectionBench) -> None:
    drawn = {
        asked(detection.trials(bench, concept, [], Setting(), PRIMARY), "unrelated")[0].prompt.draft.detail
        for concept in bench.concepts
    }
    assert len(drawn) > len(RIGHT_NO) // 2


def test_directions_without_content_are_matched_once_for_the_concept_and_cell(bench: InjectionBench) -> None:
    made = [t for t in detection.trials(bench, "sea", [CELL], Setting()) if t.arm is Arm.CONTENT_FREE]
    assert len({trial.like for trial in made}) == 1
    assert made[0].like is not None
    assert made[0].like.prompt.draft.task == "unrelated"


@pytest.mark.parametrize(("timing", "delay"), [(Timing.LIFTED, 0), (Timing.DELAYED, 2)])
def test_lifted_and_delayed_questions_follow_the_marked_line_at_once_or_after_neutral_turns(
    bench: InjectionBench, timing: Timing, delay: int
) -> None:
    made = detection.trials(bench, "sea", [CELL], Setting(timing=timing), PRIMARY)
    assert {trial.timing for trial in made} == {timing}
    assert {trial.prompt.draft.delay for trial in made} == {delay}
    for trial in made:
        assert trial.prompt.until is not None
        assert trial.prompt.question is not None
        assert trial.prompt.span[-1] < trial.prompt.until <= trial.prompt.question
    earlier = earlier_of(bench, "sea", timing)
    assert earlier is not None
    assert {trial.prompt.draft.marks for trial in made} == {(earlier.passage[0],)}


@pytest.mark.parametrize("timing", [Timing.PREFILL, Timing.LIVE])
def test_at_other_timings_the_trial_line_itself_is_marked(bench: InjectionBench, timing: Timing) -> None:
    assert earlier_of(bench, "sea", timing) is None
    made = detection.trials(bench, "sea", [CELL], Setting(timing=timing), PRIMARY)
    assert {(trial.prompt.until, trial.prompt.question) for trial in made} == {(None, None)}
    target = next(trial for trial in made if trial.arm is Arm.TARGET)
    end = len(target.prompt.tokens) - 1 if timing is Timing.LIVE else target.prompt.span[-1]
    assert target.edits[0].positions == tuple(range(target.prompt.span[0], end + 1))


def test_with_the_other_recipe_the_target_is_its_vector_under_a_name_of_its_own(bench: InjectionBench) -> None:
    own, other = (
        detection.trials(bench, "sea", [CELL], Setting(other_recipe=flag), PRIMARY, ask_unrelated=False)
        for flag in (False, True)
    )
    for trial in other:
        for edit in trial.edits:
            torch.testing.assert_close(edit.vector_H, bench.vector("sea", 1, other=True))
    assert not {t.trial_id for t in own} & {t.trial_id for t in other}


def test_activations_are_read_only_where_they_are_asked_for(bench: InjectionBench) -> None:
    for read in (None, CELL):
        made = detection.trials(bench, "sea", [CELL], Setting(), PRIMARY, read=read)
        assert {trial.reading for trial in made} == {read}
        assert all(trial.sensors == (((trial.prompt.span, "sea"),) if read else ()) for trial in asked(made))


def test_other_voices_are_asked_where_the_own_are_passed_over(bench: InjectionBench) -> None:
    own, other = (
        detection.trials(bench, "sea", [], Setting(), PRIMARY, ask_unrelated=False, skip_voices=skip) for skip in (0, 1)
    )
    assert own[0].prompt.draft.cluster != other[0].prompt.draft.cluster


def test_more_voices_ask_the_same_in_more_words(bench: InjectionBench) -> None:
    two = replace(bench, claim=bench.claim.model_copy(update={"voices": 2}))
    made = asked(detection.trials(two, "sea", [], Setting(), PRIMARY))
    assert Counter(trial.prompt.draft.cluster for trial in made) == dict.fromkeys(
        {w.cluster for w in two.asked("sea", "instruction", 2)}, 2
    )


@pytest.mark.parametrize("options", [2, 3])
def test_to_choose_a_cell_every_answer_stands_in_every_place_once_for_each_concept(
    bench: InjectionBench, options: int
) -> None:
    seen: Counter[tuple[str, ...]] = Counter()
    for concept in bench.choosing:
        made = detection.choosing_trials(bench, concept, [CELL], Setting(options=options))
        for arm in PRIMARY:
            orders = [trial.prompt.meanings for trial in asked(made) if trial.arm is arm]
            assert all(len({order[place] for order in orders}) == options for place in range(options))
            assert len(orders) == options
            seen.update(orders if arm is Arm.TARGET else [])
    assert set(seen) == set(permutations(made[0].prompt.meanings))
    assert len(set(seen.values())) == 1


def test_to_choose_a_cell_the_unrelated_question_is_put_in_both_orders_over_the_concepts(bench: InjectionBench) -> None:
    orders = []
    for concept in bench.choosing:
        beside = asked(detection.choosing_trials(bench, concept, bench.cells, Setting()), "unrelated")
        assert {trial.cell for trial in beside} == {None, *bench.cells}
        orders += [trial.prompt.meanings for trial in beside if trial.arm is Arm.CLEAN]
    assert Counter(orders) == {("yes", "no"): 4, ("no", "yes"): 4}
    three = detection.choosing_trials(bench, "sea", [CELL], Setting(options=3))
    assert not asked(three, "unrelated")
