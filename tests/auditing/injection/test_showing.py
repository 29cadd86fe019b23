"""What readers are shown: rates and their spread over concepts as counted by hand, and charts of the right rows."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from synthetic import detection, listed

from firsthand.analysis.affirmation import affirmation
from firsthand.auditing.injection.columns import yes_no
from firsthand.auditing.injection.showing import (
    LABELS,
    by_arm,
    by_concept,
    by_timing,
    detection_matrices,
    naming_picture,
    relative_matrix,
    response_matrix,
)
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.injection.arms import Arm
from firsthand.studies.injection.drafts import Task
from firsthand.vocabulary import Kind

SPEC = AnalysisSpec(clusters=("concept",))
ANSWERS = {  # concept: what it answered in the arms clean and target
    "a": (["nothing", "nothing"], ["injected", "nothing"]),
    "b": (["nothing", "injected"], ["injected", "injected"]),
    "c": (["nothing", None], ["nothing", None]),
}


def small() -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for concept, arms in ANSWERS.items():
        for arm, answers in zip(("clean", "target"), arms, strict=True):
            for number, answer in enumerate(answers):
                edited = float(arm == "target")
                rows.append(
                    {
                        "trial_id": f"{concept}/{arm}/{number}",
                        "task": "detection",
                        "concept": concept,
                        "arm": arm,
                        "answer": answer,
                        "truth": "injected" if edited else "",
                        "order": "injected|nothing",
                        "detail": "",
                        "coverage": 0.5 + 0.1 * number,
                        "impact_kl": edited,
                        "entropy": 2.0 + edited,
                    }
                )
    return pd.DataFrame(rows)


def test_every_arm_and_no_other_has_a_label() -> None:
    assert set(LABELS) == {str(arm) for arm in Arm}


def test_rates_and_spread_are_those_counted_by_hand() -> None:
    table = small()
    matrix = response_matrix(table, ["injected", "nothing"], table["answer"], "t", SPEC)
    clean, target = matrix.rows
    assert (clean.arm, target.arm, clean.kind, target.kind) == ("clean", "target", Kind.BASELINE, Kind.TARGET)
    assert [e.value for e in clean.shares] == pytest.approx([1 / 6, 4 / 6])
    assert [e.value for e in target.shares] == pytest.approx([3 / 6, 2 / 6])
    assert clean.spread == pytest.approx((np.std([0, 0.5, 0], ddof=1), np.std([1, 0.5, 0.5], ddof=1)))
    assert target.spread == pytest.approx((np.std([0.5, 1, 0], ddof=1), np.std([0.5, 0, 0.5], ddof=1)))
    assert (clean.invalid, target.invalid) == pytest.approx((1 / 6, 1 / 6))
    assert (clean.coverage, clean.mean_kl, clean.mean_entropy) == pytest.approx((0.55, 0.0, 2.0))
    assert (target.mean_kl, target.mean_entropy) == (1.0, 3.0)
    assert {e.units for row in matrix.rows for e in row.shares} == {3}


def test_one_concept_has_no_spread() -> None:
    table = small()[:4]
    (row,) = response_matrix(table[:2], ["nothing"], table["answer"][:2], "t", SPEC).rows
    assert row.spread == (0.0,)


def test_the_injection_question_and_the_unrelated_one_have_a_matrix_each() -> None:
    table = detection(3)
    asked, unrelated = detection_matrices(table, SPEC)
    assert asked.answers == ("injected", "manipulated", "nothing")
    assert unrelated.answers == ("yes", "no")
    assert [row.arm for row in asked.rows] == ["clean", "target", "sham", "push", "content_free", "shuffled"]
    for matrix, task in ((asked, "detection"), (unrelated, "unrelated")):
        for row in matrix.rows:
            here = table[(table["task"] == task) & (table["arm"] == row.arm)]["answer"]
            assert [e.value for e in row.shares] == pytest.approx([(here == a).mean() for a in matrix.answers])
    assert len(detection_matrices(table[table["task"] == "detection"], SPEC)) == 1


def test_choices_are_shown_as_right_or_other_where_something_is_right() -> None:
    table = listed("choice")
    matrix = relative_matrix(table, Task.CHOICE, "the concept", "another", SPEC)
    assert matrix.answers == ("the concept", "another")
    assert "clean" not in [row.arm for row in matrix.rows]
    for row in matrix.rows:
        here = table[(table["task"] == "choice") & (table["arm"] == row.arm)]
        assert row.shares[0].value == pytest.approx((here["answer"] == here["truth"]).mean())
        assert row.shares[0].value + row.shares[1].value == pytest.approx(1.0)
    gone = relative_matrix(table.assign(answer=None), Task.CHOICE, "the concept", "another", SPEC)
    assert {row.invalid for row in gone.rows} == {1.0}


def test_concepts_are_shown_by_their_rate_among_valid_target_trials() -> None:
    table = small()
    more = table[(table["concept"] == "c") & (table["answer"] == "nothing")]
    table = pd.concat([table, more.assign(trial_id=more["trial_id"] + "/again")], ignore_index=True)
    for positive in (("injected",), None):
        picture = by_concept(table, positive, "t", SPEC)
        assert [(mark.label, mark.estimate.value) for mark in picture.marks] == [("b", 1.0), ("a", 0.5), ("c", 0.0)]


def test_a_concept_with_one_valid_trial_is_not_shown_at_one_half() -> None:
    marks = {mark.label: mark for mark in by_concept(small(), ("injected",), "t", SPEC).marks}
    assert "c" not in marks or marks["c"].estimate.value == 0.0


def test_arms_and_control_questions_are_shown_by_their_rate_of_right_answers() -> None:
    table = listed("localisation")
    picture = by_arm(table, 0.2, SPEC)
    marks = {mark.label: mark for mark in picture.marks}
    assert set(marks) == {
        *(LABELS[arm] for arm in ("target", "sham", "content_free", "shuffled")),
        "other question: any",
    }
    assert [line.value for line in picture.lines] == [0.2]
    assert [label for label, mark in marks.items() if mark.emphasis] == [LABELS["target"]]
    control = table[(table["task"] == "localisation_control") & (table["arm"] == "target")]
    expected = (control["answer"] == control["truth"]).mean()
    assert marks["other question: any"].estimate.value == pytest.approx(expected)


def test_invalid_answers_leave_the_rate_of_right_ones_as_it_is() -> None:
    picture = by_arm(small(), 0.5, SPEC)
    assert [mark.estimate.value for mark in picture.marks] == pytest.approx([3 / 5])


def test_rises_by_timing_are_those_that_the_verdict_rests_on() -> None:
    rises = {name: affirmation(yes_no(detection(2, seed)), SPEC) for name, seed in (("prefill", 1), ("live", 2))}
    picture = by_timing(rises, SPEC)
    assert [mark.label for mark in picture.marks][:2] == ["prefill: injected", "prefill: yes to an unrelated question"]
    values = [value for found in rises.values() for value in (found.asked.value, found.unrelated.value)]
    assert [mark.estimate.value for mark in picture.marks] == values


def test_naming_is_shown_by_arm_with_the_no_question_arms_apart() -> None:
    scores = {("naming", "", "clean"): (0.0, 0.0), ("naming", "", "target"): (1.0, 0.0)}
    scores |= {("no_question", "told", "target"): (1.0, 1.0), ("no_question", "untold", "target"): (0.0, 0.0)}
    rows = [(*key, concept, value) for key, both in scores.items() for concept, value in zip("ab", both, strict=True)]
    table = pd.DataFrame(rows, columns=["task", "detail", "arm", "concept", "named"])
    picture = naming_picture(table, "named", 0.03, "t", "rate", SPEC)
    target = LABELS["target"]
    assert {mark.label: mark.estimate.value for mark in picture.marks} == {
        LABELS["clean"]: 0.0,
        target: 0.5,
        f"no question, told: {target}": 1.0,
        f"no question, untold: {target}": 0.0,
    }
