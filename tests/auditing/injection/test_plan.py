"""The plan: every question of the claim becomes steps, and every step its trials, under names of their own."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.injection import plan
from firsthand.auditing.injection.plan import (
    Pick,
    Step,
    confided_trials,
    judged_rows,
    selection_steps,
    selection_trials,
    source_of,
    trace_steps,
    trace_trials,
    transfer_trials,
)
from firsthand.claims import Question
from firsthand.studies.cells import Cell
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.bench import InjectionBench
from firsthand.studies.injection.questions.base import Setting
from firsthand.vocabulary import Timing

CELL = Cell(1, 1.0)
PICKS = {
    "detection-2": Pick(Cell(1, 0.5), Setting("conversation")),
    "detection-3": Pick(CELL, Setting("instruction", 3)),
    **{name: Pick(CELL, Setting()) for name in ("localisation", "strength", "identification")},
}


@pytest.fixture
def bench(injection_bench: InjectionBench) -> InjectionBench:
    return injection_bench


def claiming(bench: InjectionBench, **changes: object) -> InjectionBench:
    claim = bench.claim.model_copy(update=changes)
    wordings = tuple(w for w in bench.wordings if w.framing in claim.framings and len(w.meanings) in claim.options)
    return replace(bench, claim=claim, wordings=wordings)


def names(steps: list[Step]) -> list[str]:
    return list(dict.fromkeys(step.name for step in steps))


FRAMED = ["detection-2-instruction", "detection-3-instruction", "identification-instruction"]
FRAMED += [name.replace("instruction", "conversation") for name in FRAMED]


def test_the_choosing_concepts_are_asked_what_chooses_a_setting(bench: InjectionBench) -> None:
    steps = selection_steps(bench)
    assert names(steps) == [*FRAMED, "localisation", "strength"]
    assert {step.concept for step in steps} == set(bench.choosing)
    assert len(steps) == 8 * 8
    assert {step.phase for step in steps} == {"selection"}


def test_the_judging_concepts_are_asked_everything_and_the_choosing_ones_train_a_probe(bench: InjectionBench) -> None:
    steps = trace_steps(bench)
    training = [step for step in steps if step.name == "training"]
    assert [step.concept for step in training] == list(bench.choosing)
    assert {step.concept for step in steps if step.name != "training"} == set(bench.judging)
    asked = ["detection-2", "detection-3", "live", "lifted", "delayed", "localisation", "strength", "choice", "codes"]
    asked += ["naming", "visible-detection", "visible-identification"]
    asked += [f"confidence-{name}" for name in plan.CONFIDED] + [f"transfer-{name}" for name in plan.TRANSFER]
    assert names(steps) == [*asked, "training"]
    units = [step.unit for step in steps]
    assert len(set(units)) == len(units) == 24 * len(asked) + 8


@pytest.mark.parametrize(
    ("changes", "selection", "trace"),
    [
        ({"questions": (Question.STRENGTH,)}, ["strength"], ["strength"]),
        ({"questions": (Question.LOCALISATION,)}, ["localisation"], ["localisation"]),
        (
            {"questions": (Question.CODES,), "framings": ("instruction",)},
            ["identification-instruction"],
            ["codes"],
        ),
        (
            {"questions": (Question.NAMING,), "framings": ("conversation",)},
            ["identification-conversation"],
            ["naming", "visible-identification"],
        ),
        (
            {"questions": (Question.DETECTION,), "options": (3,), "framings": ("instruction",)},
            ["detection-3-instruction"],
            ["detection-3"],
        ),
        (
            {"questions": (Question.DETECTION, Question.CONFIDENCE), "options": (2,), "framings": ("instruction",)},
            ["detection-2-instruction"],
            ["detection-2", "confidence-detection-2"],
        ),
    ],
)
def test_only_what_is_claimed_is_asked(
    bench: InjectionBench, changes: dict[str, object], selection: list[str], trace: list[str]
) -> None:
    narrow = claiming(bench, **changes)
    assert names(selection_steps(narrow)) == selection
    assert names(trace_steps(narrow)) == trace


def test_the_visible_answer_is_written_for_observers_that_see_it_and_beside_naming(bench: InjectionBench) -> None:
    both = (Question.DETECTION, Question.CHOICE, Question.VISIBLE)
    asked = names(trace_steps(claiming(bench, questions=both, options=(2,))))
    assert asked == ["detection-2", "choice", "visible-detection", "visible-identification"]
    named = (Question.CHOICE, Question.NAMING)
    assert names(trace_steps(claiming(bench, questions=named))) == ["choice", "naming", "visible-identification"]
    assert names(trace_steps(claiming(bench, questions=(Question.CHOICE,)))) == ["choice"]


def test_open_answers_are_asked_for_only_by_name(bench: InjectionBench) -> None:
    assert "open" not in names(trace_steps(bench))
    asked = claiming(bench, questions=(Question.DETECTION, Question.OPEN))
    assert names(trace_steps(asked)) == ["detection-2", "detection-3", "open"]
    made = trace_trials(asked, Step("trace", "open", bench.judging[0], 0), PICKS)
    assert {trial.cell for trial in made} == {None, Cell(1, 0.5)}
    assert {trial.prompt.draft.task for trial in made} == {"open"}


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"framings": ("instruction",)}, {"framing"}),
        ({"voices": 4}, {"voice"}),
        ({"framings": ("conversation",), "voices": 9}, {"framing", "voice"}),
    ],
)
def test_transfer_is_asked_only_to_what_is_new(
    bench: InjectionBench, changes: dict[str, object], missing: set[str]
) -> None:
    asked = {name.removeprefix("transfer-") for name in names(trace_steps(claiming(bench, **changes)))}
    assert set(plan.TRANSFER) - asked == missing


def test_labels_are_new_only_where_there_are_two_styles(bench: InjectionBench) -> None:
    digits = replace(bench, wordings=tuple(w for w in bench.wordings if w.labels == "digits"))
    assert "transfer-labels" not in names(trace_steps(digits))
    assert "transfer-labels" in names(trace_steps(bench))


def test_every_step_of_a_concept_has_its_trials_under_names_of_their_own(bench: InjectionBench) -> None:
    for step in (s for s in selection_steps(bench) if s.number == 0):
        made = selection_trials(bench, step)
        assert {trial.concept for trial in made} == {step.concept}
        assert {trial.arm for trial in made} == {Arm.CLEAN, Arm.TARGET}
        ids = [trial.trial_id for trial in made]
        assert len(set(ids)) == len(ids)
    for step in (s for s in trace_steps(bench) if s.number == 0 and source_of(s) is None):
        made = trace_trials(bench, step, PICKS)
        ids = [trial.trial_id for trial in made]
        assert len(set(ids)) == len(ids), step.name
        if not step.name.startswith("transfer-"):
            assert len({trial.cell for trial in made} - {None}) == 1, step.name
        clean = {trial.prompt.tokens for trial in made if not trial.edits}
        assert {trial.prompt.tokens for trial in made} == clean, step.name


def test_a_step_is_run_in_the_setting_that_was_chosen_for_it(bench: InjectionBench) -> None:
    concept = bench.judging[0]
    for name in ("detection-2", "live", "lifted", "delayed", "visible-detection"):
        made = trace_trials(bench, Step("trace", name, concept, 0), PICKS)
        assert {trial.cell for trial in made} == {None, Cell(1, 0.5)}
        assert {trial.prompt.draft.framing for trial in made} == {"conversation"}
        expected = plan.LATER.get(name, Timing.PREFILL)
        assert {trial.timing for trial in made} == {expected}
    made = trace_trials(bench, Step("trace", "detection-3", concept, 0), PICKS)
    assert {trial.cell for trial in made} == {None, CELL}
    assert {len(t.prompt.meanings) for t in made if t.prompt.draft.task == "detection"} == {3}


def test_the_grid_of_the_selection_is_whole_for_detection_and_coarse_for_the_rest(bench: InjectionBench) -> None:
    cells = {}
    for step in (s for s in selection_steps(bench) if s.number == 0):
        cells[step.name] = {trial.cell for trial in selection_trials(bench, step)} - {None}
    assert {name for name, found in cells.items() if found == set(bench.cells)} == {
        name for name in cells if name.startswith("detection")
    }
    assert all(found == set(bench.coarse) for name, found in cells.items() if not name.startswith("detection"))


def test_the_unrelated_question_is_asked_in_the_selection_with_two_answers_only(bench: InjectionBench) -> None:
    asked = {
        step.name: "unrelated" in {trial.prompt.draft.task for trial in selection_trials(bench, step)}
        for step in selection_steps(bench)
        if step.number == 0
    }
    assert {name for name, there in asked.items() if there} == {"detection-2-instruction", "detection-2-conversation"}


def test_confidence_goes_on_from_the_question_that_it_is_about() -> None:
    step = Step("trace", "confidence-choice", "sea", 3)
    assert source_of(step) == Step("trace", "choice", "sea", 3)
    assert source_of(Step("trace", "choice", "sea", 3)) is None


@pytest.mark.parametrize("source", plan.CONFIDED)
def test_reports_whose_confidence_is_asked_are_trials_of_their_question(bench: InjectionBench, source: str) -> None:
    concept = bench.judging[0]
    step = Step("trace", f"confidence-{source}", concept, 0)
    reports = confided_trials(bench, step, PICKS)
    before = trace_trials(bench, Step("trace", source, concept, 0), PICKS)
    known = {trial.trial_id: trial for trial in before}
    for report in reports:
        same = known[report.trial_id]
        assert report.prompt.tokens == same.prompt.tokens
        assert [e.strength for e in report.edits] == [e.strength for e in same.edits]
    arms = {trial.arm for trial in reports}
    assert arms == ({Arm.CLEAN, Arm.TARGET, Arm.CONTENT_FREE} if source == "detection-2" else {Arm.TARGET})


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("training", Cell(1, 1.0)),
        ("layer-below", Cell(0, 1.0)),
        ("layer-above", Cell(1, 1.0)),
        ("half-dose", Cell(1, 0.5)),
        ("double-dose", Cell(1, 2.0)),
        ("recipe", Cell(1, 1.0)),
        ("labels", Cell(1, 1.0)),
        ("framing", Cell(1, 1.0)),
        ("voice", Cell(1, 1.0)),
    ],
)
def test_a_transfer_step_changes_one_thing_and_reads_where_the_probe_was_fitted(
    bench: InjectionBench, name: str, cell: Cell
) -> None:
    pick = Pick(CELL, Setting())
    usual = transfer_trials(bench, "sea", "training", pick)
    made = transfer_trials(bench, "sea", name, pick)
    assert {trial.cell for trial in made} == {None, cell}
    assert {trial.reading for trial in made} == {CELL}
    drafts, before = ([t.prompt.draft for t in of] for of in (made, usual))
    changed = {
        "labels": [d.labels for d in drafts] != [d.labels for d in before],
        "framing": [d.framing for d in drafts] != [d.framing for d in before],
        "voice": [d.cluster for d in drafts] != [d.cluster for d in before],
        "recipe": not np.allclose(*(next(t for t in of if t.edits).edits[0].vector_H.numpy() for of in (made, usual)))
        and cell == CELL,
    }
    assert [what for what, different in changed.items() if different] == ([name] if name in changed else [])


def test_the_rows_of_a_cell_are_judged_with_those_in_which_nothing_was_added() -> None:
    table = pd.DataFrame({"layer": [-1, 1, 1, 0, -1], "dose": [0.0, 1.0, 0.5, 1.0, 0.0], "n": range(5)})
    assert judged_rows(table, CELL)["n"].tolist() == [0, 1, 4]
    assert judged_rows(table, CELL).index.tolist() == [0, 1, 2]
    assert judged_rows(table, None)["n"].tolist() == [0, 1, 2, 3, 4]
    assert len(judged_rows(table[:0], CELL)) == 0
