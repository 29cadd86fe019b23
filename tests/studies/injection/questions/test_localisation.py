"""Localisation: the vector on every sentence in turn, and the same under questions about the sentences themselves."""

from collections import Counter

import pytest

from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.concepts import mentions
from firsthand.studies.injection.questions import localisation
from firsthand.studies.injection.questions.localisation import CONTROLS
from firsthand.studies.injection.texts_places import PLACE_TEXTS
from firsthand.studies.injection.trials import Trial

CELL = Cell(1, 1.0)


@pytest.fixture(scope="module")
def made(injection_bench: InjectionBench) -> list[Trial]:
    return localisation.trials(injection_bench, "sea", [CELL], full=True, read=CELL)


def test_the_right_answer_is_the_sentence_that_carries_the_vector(bench: InjectionBench, made: list[Trial]) -> None:
    tokenizer = bench.loaded.tokenizer
    for trial in made:
        for edit in trial.edits:
            prompt = trial.prompt
            assert edit.positions == prompt.spans[int(trial.truth)]
            marked = tokenizer.decode([prompt.tokens[i] for i in edit.positions])
            assert marked.strip() == prompt.draft.marks[prompt.meanings.index(trial.truth)].strip()
        if not trial.edits:
            assert trial.truth == ""


def test_every_place_is_right_equally_often_in_every_arm_and_under_every_question(made: list[Trial]) -> None:
    places = Counter((str(t.arm), t.prompt.draft.detail, t.truth) for t in made if t.edits)
    assert set(places.values()) == {1}
    arms = {(str(arm), "") for arm in (Arm.TARGET, Arm.SHAM, Arm.CONTENT_FREE, Arm.SHUFFLED)}
    arms |= {("target", control) for control in CONTROLS}
    assert {key[:2] for key in places} == arms
    assert {key[2] for key in places} == set("01234")


def test_control_questions_keep_sentences_labels_and_order(made: list[Trial]) -> None:
    drafts = [t.prompt.draft for t in made]
    assert len({(d.marks, d.labels, d.meanings) for d in drafts}) == 1
    assert {d.detail for d in drafts if d.task == "localisation_control"} == set(CONTROLS)
    intro = {d.messages[0][1].rpartition("\n\n")[0] for d in drafts}
    assert len(intro) == 1


def test_only_the_control_about_the_concept_names_it(made: list[Trial]) -> None:
    for trial in made:
        question = trial.prompt.draft.messages[0][1].rpartition("\n\n")[2]
        assert mentions(question, "sea") is (trial.prompt.draft.detail == "concept")


def test_sensors_are_at_every_sentence_of_the_question_and_at_none_of_the_controls(made: list[Trial]) -> None:
    for trial in made:
        real = trial.prompt.draft.task == "localisation"
        assert trial.sensors == (tuple((span, "sea") for span in trial.prompt.spans) if real else ())
        assert trial.reading == (CELL if real else None)


def test_without_controls_there_are_the_clean_trial_and_one_target_a_sentence_and_cell(bench: InjectionBench) -> None:
    made = localisation.trials(bench, "sea", bench.cells)
    assert Counter((t.arm, t.cell) for t in made) == {
        (Arm.CLEAN, None): 1,
        **{(Arm.TARGET, cell): 5 for cell in bench.cells},
    }
    assert not any(trial.sensors or trial.reading for trial in made)


def test_texts_rotate_and_sentences_are_drawn_for_each_concept(bench: InjectionBench) -> None:
    drafts = [localisation.trials(bench, concept, [])[0].prompt.draft for concept in bench.concepts]
    assert [d.cluster for d in drafts[:4]] == [*(text.key for text in PLACE_TEXTS), PLACE_TEXTS[0].key]
    assert len({d.marks for d in drafts}) == 32
    assert all(len(set(d.marks)) == bench.claim.sentences == 5 for d in drafts)
    assert drafts == [localisation.trials(bench, concept, [])[0].prompt.draft for concept in bench.concepts]
