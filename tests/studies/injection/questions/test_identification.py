"""Identification: the concept once in every place of its list, codes that mean it on one prompt only, and controls."""

from collections import Counter

import pytest

from firsthand.errors import ElicitationError
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.concepts import mentions
from firsthand.studies.injection.questions import identification
from firsthand.studies.injection.questions.base import Setting
from firsthand.studies.injection.questions.identification import EDITED, LETTERS, lists
from firsthand.studies.injection.trials import Trial

CELL = Cell(1, 1.0)


@pytest.fixture(scope="module", params=[False, True], ids=["choice", "codes"])
def made(request: pytest.FixtureRequest, injection_bench: InjectionBench) -> list[Trial]:
    return identification.trials(injection_bench, "sea", [CELL], Setting(), coded=request.param, full=True, read=CELL)


def real(made: list[Trial], arm: Arm) -> list[Trial]:
    return [t for t in made if t.arm is arm and not t.prompt.draft.task.endswith("_control")]


def test_the_concept_stands_in_every_place_of_the_list_once_in_every_arm(made: list[Trial]) -> None:
    for arm in EDITED:
        places = [t.prompt.meanings.index("sea") for t in real(made, arm)]
        assert sorted(places) == [0, 1, 2, 3]


def test_so_does_every_other_concept_of_the_list(bench: InjectionBench) -> None:
    for concept in bench.concepts:
        listed = lists(bench, concept)
        assert listed[0][:2] == (concept, bench.neighbour(concept))
        for place in range(4):
            assert {one[place] for one in listed} == set(listed[0])
        assert set(listed[0]) <= set(bench.part(concept))
        assert len(set(listed[0])) == 4
    assert len({frozenset(lists(bench, concept)[0]) for concept in bench.concepts}) > 20


def test_the_right_answer_is_the_concept_of_the_vector(made: list[Trial]) -> None:
    for trial in made:
        if trial.arm in EDITED:
            assert trial.truth == "sea"
        elif trial.arm is Arm.CLEAN:
            assert trial.truth == ""


def test_answers_are_listed_with_their_labels_as_the_text_says(made: list[Trial]) -> None:
    for trial in made:
        draft = trial.prompt.draft
        text = "\n".join(content for _, content in draft.messages)
        for label, concept in zip(draft.labels, draft.meanings, strict=True):
            assert any(f"({label}){joint}{concept}" in text for joint in (" ", " means "))


def test_codes_are_drawn_anew_for_every_list(bench: InjectionBench) -> None:
    of: dict[str, list[tuple[str, ...]]] = {}
    for concept in ("sea", "war", "art"):
        made = identification.trials(bench, concept, [], Setting(), coded=True)
        codes = [trial.prompt.draft.labels for trial in made]
        assert len(set(codes)) == 4
        of[concept] = codes
        own = [trial.prompt.draft.labels[trial.prompt.meanings.index(concept)] for trial in made]
        assert len(set(own)) > 1
        assert all(len(set(labels)) == 4 and set(labels) <= set(LETTERS) for labels in codes)
        again = identification.trials(bench, concept, [], Setting(), coded=True)
        assert [trial.prompt.draft.labels for trial in again] == codes
    assert len({tuple(codes) for codes in of.values()}) == 3
    drawn = Counter(letter for codes in of.values() for labels in codes for letter in labels)
    assert len(drawn) > 10


def test_too_few_codes_that_can_be_written_are_refused(bench: InjectionBench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "LETTERS", "BCD")
    with pytest.raises(ElicitationError, match="4 concepts need as many codes, but there are 3"):
        identification.trials(bench, "sea", [], Setting(), coded=True)


def test_control_questions_keep_list_labels_and_order(made: list[Trial]) -> None:
    for arm in (Arm.CLEAN, Arm.TARGET):
        asked = {(t.prompt.draft.labels, t.prompt.meanings) for t in real(made, arm)}
        control = [t for t in made if t.arm is arm and t.prompt.draft.task.endswith("_control")]
        assert {(t.prompt.draft.labels, t.prompt.meanings) for t in control} == asked
        assert len(control) == 4


def test_half_of_the_control_questions_say_nothing_about_injections(bench: InjectionBench, made: list[Trial]) -> None:
    control = [t for t in made if t.prompt.draft.task.endswith("_control") and t.arm is Arm.CLEAN]
    assert Counter(t.prompt.draft.detail for t in control) == {"told": 2, "untold": 2}
    wording = bench.asked("sea", "instruction")[0]
    assert wording.neutral_turns is not None
    setting, plain = (turns[0].text.partition("\n")[0] for turns in (wording.turns, wording.neutral_turns))
    for trial in control:
        told = trial.prompt.draft.detail == "told"
        assert (setting in trial.prompt.text) is told
        assert (plain in trial.prompt.text) is not told


def test_told_and_untold_change_places_from_concept_to_concept(bench: InjectionBench) -> None:
    told: Counter[int] = Counter()
    for concept in bench.concepts[:4]:
        made = identification.trials(bench, concept, [], Setting(), coded=False, full=True)
        for trial in made:
            if trial.prompt.draft.detail == "told":
                told[trial.prompt.meanings.index(concept)] += 1
    assert told == dict.fromkeys(range(4), 2)


def test_the_vector_is_set_against_a_text_and_a_text_stands_alone(bench: InjectionBench, made: list[Trial]) -> None:
    neighbour = bench.neighbour("sea")
    pushes = {t.truth: t for t in made if t.arm is Arm.PUSH}
    assert set(pushes) == {"sea", neighbour}
    for concept, trial in pushes.items():
        assert trial.edits == ()
        assert mentions(bench.leads("sea", concept)[1], concept)
        assert bench.leads("sea", concept)[1] in trial.prompt.text
    (against,) = [t for t in made if t.arm is Arm.AGAINST]
    assert against.prompt.tokens == pushes[neighbour].prompt.tokens
    assert against.truth == "sea"
    assert against.edits[0].strength == bench.strength(CELL)
    (swap,) = [t for t in made if t.arm is Arm.SWAP]
    assert swap.truth == neighbour
    assert swap.prompt.tokens in {t.prompt.tokens for t in real(made, Arm.CLEAN)}


def test_the_place_of_the_pushed_prompt_changes_from_concept_to_concept(bench: InjectionBench) -> None:
    places = []
    for concept in bench.concepts[:8]:
        made = identification.trials(bench, concept, [CELL], Setting(), coded=False, full=True)
        (against,) = [t for t in made if t.arm is Arm.AGAINST]
        places.append(against.prompt.meanings.index(concept))
    assert Counter(places) == dict.fromkeys(range(4), 2)


def test_sensors_are_laid_along_every_concept_of_the_list_in_its_order(made: list[Trial]) -> None:
    for trial in real(made, Arm.TARGET):
        assert trial.sensors == tuple((trial.prompt.span, concept) for concept in trial.prompt.meanings)


def test_every_trial_has_a_name_of_its_own(made: list[Trial]) -> None:
    names = [trial.trial_id for trial in made]
    assert len(set(names)) == len(names)
