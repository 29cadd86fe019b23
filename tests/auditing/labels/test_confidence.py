"""Confidence is judged against whoever reads question and answer, and about this answer."""

from dataclasses import replace

import numpy as np
import pytest
from answered_study import COUNT, FIT, SPEC, Study

from firsthand.analysis.report_confidence import Foreseen
from firsthand.auditing.labels.confidence import (
    ANSWER_SEEN,
    NO_CONTROL,
    TWO_OPTIONS,
    UNREAD,
    Told,
    area_of,
    judge,
)
from firsthand.auditing.labels.confidence_fitting import held_out, probe
from firsthand.auditing.labels.confidence_gates import Said
from firsthand.auditing.labels.confidence_known import known_answers
from firsthand.auditing.labels.confidence_observers import LIKELIHOOD, foreseen, third_person
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Condition, Verdict


def test_confidence_that_knows_what_no_reader_can_know_is_privileged_beside_another_model() -> None:
    study = Study("coin")
    assert study.verdicts(study.told(study.knowing())) == (Verdict.PRIVILEGED, Verdict.PRIVILEGED)


def test_without_another_model_as_a_reader_nothing_is_privileged() -> None:
    study = Study("coin")
    for result in study.judged(study.told(study.knowing()), other=False):
        assert result.verdict is Verdict.INSUFFICIENT
        assert result.reasons[-1] == UNREAD


def test_confidence_that_follows_the_difficulty_in_the_words_is_public_even_with_the_answer_withheld() -> None:
    study = Study("words")
    assert study.verdicts(study.told(study.knowing())) == (Verdict.PUBLIC_INFERENCE, Verdict.PUBLIC_INFERENCE)


def test_confidence_that_follows_the_output_s_distribution_is_public_once_that_is_shown() -> None:
    study = Study("output")
    told = study.told(np.exp(study.top))
    withheld, shown = study.judged(told)
    assert shown.verdict is Verdict.PUBLIC_INFERENCE
    assert LIKELIHOOD in {row.name for row in shown.observers}
    assert LIKELIHOOD not in {row.name for row in withheld.observers}
    assert withheld.verdict is Verdict.INSUFFICIENT
    assert withheld.reasons[-1] == ANSWER_SEEN


def test_confidence_that_is_as_high_about_another_answer_is_about_the_question() -> None:
    study = Study("coin")
    assert study.verdicts(study.told(study.knowing(), study.knowing()))[1] is Verdict.ANOMALY_ONLY


def test_a_report_without_an_answer_has_no_control_and_ends_short_of_privileged() -> None:
    study = Study("coin")
    for told, reason in (
        (Told(Said.scripted(study.knowing())), NO_CONTROL),
        (Told(Said.scripted(study.knowing()), None, TWO_OPTIONS), TWO_OPTIONS),
        (Told(Said.scripted(1.0 - study.knowing())), NO_CONTROL),
    ):
        withheld, shown = study.judged(told)
        assert (withheld.verdict, shown.verdict) == (Verdict.INSUFFICIENT, Verdict.INSUFFICIENT)
        assert reason in shown.reasons


@pytest.mark.parametrize("cue", ["output", "words", "coin"])
def test_a_lot_is_not_privileged(cue: str) -> None:
    study = Study(cue)
    verdict = study.verdicts(study.told(study.rng.permutation(np.linspace(0, 1, COUNT))))[1]
    assert verdict is not Verdict.PRIVILEGED


def test_invalid_confidences_that_decide_the_verdict_leave_it_open() -> None:
    study = Study("coin")
    holes = study.rng.random(COUNT) < 0.5
    told = study.told(np.where(holes, np.nan, study.knowing()))
    assert study.verdicts(told)[1] is Verdict.INSUFFICIENT


def test_observers_never_hold_what_is_right() -> None:
    study = Study("coin")
    assert "right" not in study.public().answers


@pytest.mark.parametrize("cue", ["words", "coin"])
def test_a_reader_of_words_learns_what_they_tell_and_no_more(cue: str) -> None:
    study = Study(cue)
    found = study.observers()
    for name in ("words of the question", "layer 0", "everything in the question"):
        area = area_of(study.right, found[name].confidence, study.answers, SPEC)
        assert area.value > 0.85 if cue == "words" else area.low(0.01) < 0.5 < area.high(0.01), name
    assert not found["words of the question"].sees_output
    assert found[third_person("true")].sees_output
    assert found["everything in question and answer"].sees_output


def test_a_subject_s_base_rate_is_learned_from_its_other_questions() -> None:
    study = Study("coin")
    easy = np.array([int(item.subject[1:]) % 2 for item in study.items], dtype=float)
    study.right = np.where(study.rng.random(COUNT) < 0.9, easy, 1 - easy)
    found = foreseen(study.public(), study.right)
    assert area_of(study.right, found["subject"].confidence, study.answers, SPEC).value > 0.7


def test_whoever_knows_nothing_is_worth_one_half_and_not_less_for_being_held_out() -> None:
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegressionCV(Cs=[1e-4, 1.0], scoring="neg_log_loss"))
    areas = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        right = (rng.random(COUNT) < 0.5).astype(float)
        values = held_out(model, rng.normal(0, 1, (COUNT, 3)), right, np.arange(COUNT))
        areas.append(area_of(right, values, Study("coin").answers, SPEC).value)
    assert np.mean(areas) == pytest.approx(0.5, abs=0.05)


def test_what_an_observer_says_of_an_answer_does_not_depend_on_whether_it_is_right() -> None:
    study = Study("words")
    public = study.public()
    groups = public.groups
    mine = groups == groups[7]
    turned = np.where(mine, 1.0 - study.right, study.right)
    before, after = study.observers(other=False), foreseen(public, turned)
    for name in ("words of the question", "layer 0", "everything in the question", "everything in question and answer"):
        np.testing.assert_allclose(before[name].confidence[mine], after[name].confidence[mine], err_msg=name)


def test_a_probe_reads_what_one_layer_holds_on_folds_that_it_did_not_see() -> None:
    study = Study("coin")
    states = study.rng.normal(0, 1, (COUNT, 3, 12)).astype(np.float32)
    states[:, 1, 4] += 3 * study.right
    read = probe(states, study.right, study.public().groups)
    assert np.mean((read > 0) == (study.right == 1)) > 0.85
    assert np.isnan(probe(states, np.ones(COUNT), study.public().groups)).all()


def test_a_probe_that_reads_what_the_report_does_not_say_is_shown_beside_it() -> None:
    study = Study("coin")
    told = study.told(study.rng.permutation(np.linspace(0, 1, COUNT)))
    probes = {"probe": ("site", np.where(study.right == 1, 1.0, -1.0))}
    shown = judge(study.answers, told, study.observers(), probes, SPEC, FIT)[1]
    assert shown.readers[0].accuracy.value == 1.0
    assert shown.readers[0].where == "site"
    assert shown.verdict is not Verdict.PRIVILEGED


@pytest.mark.parametrize(("cue", "other"), [("output", True), ("coin", False)])
def test_reporters_of_known_answer_come_out_as_they_must(cue: str, other: bool) -> None:
    study = Study(cue)
    public = study.public(other)
    found = known_answers(public, study.answers, study.observers(other), SPEC, 0)
    assert all(one.passed for one in found), [(one.reporter, one.obtained, one.reasons) for one in found]
    assert {one.condition for one in found} == {Condition.Y_SHOWN}
    own = next(one for one in found if one.reporter == "own probability of the answer")
    if cue == "output":
        assert own.obtained is Verdict.PUBLIC_INFERENCE


def test_an_instrument_that_trusts_anybody_fails_its_known_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study("coin")
    public = study.public(True)
    blind = {"guesser": Foreseen(study.rng.random(COUNT))}
    monkeypatch.setattr("firsthand.auditing.labels.confidence_known.foreseen", lambda *_: blind)
    found = known_answers(public, study.answers, blind, SPEC, 0)
    assert not all(one.passed for one in found)


def test_words_of_the_answer_are_read_where_they_tell_whether_it_is_right() -> None:
    study = Study("coin")
    study.right = np.where(study.rng.random(COUNT) < 0.95, study.answers["answer"] < 2, study.answers["answer"] >= 2)
    study.right = study.right.astype(float)
    public = study.public()
    taken = np.eye(4)[study.answers["answer"]]
    found = foreseen(replace(public, answer_NH=np.c_[taken, taken].astype(np.float32)), study.right)
    for name in ("words of the answer", "layer 0 of the answer", "everything in question and answer"):
        assert found[name].sees_output
        assert area_of(study.right, found[name].confidence, study.answers, SPEC).value > 0.8, name


def test_the_place_of_the_answer_is_no_number_but_one_letter_among_several() -> None:
    study = Study("coin")
    right = np.isin(study.answers["place"], (0, 3)).astype(float)
    found = foreseen(study.public(), right)
    name = "everything in question and answer"
    assert area_of(right, found[name].confidence, study.answers, SPEC).value > 0.9


def test_few_valid_answers_and_narrow_embeddings_are_foreseen_all_the_same() -> None:
    study = Study("words")
    right = np.where(np.arange(COUNT) % 8 == 0, study.right, np.nan)
    narrow = study.rng.normal(0, 1, (COUNT, 3)).astype(np.float32)
    found = foreseen(replace(study.public(), embedding_NH=narrow, answer_NH=narrow), right)
    assert all(np.isfinite(one.confidence).all() for one in found.values())


def test_answers_out_of_the_order_of_the_questions_are_refused() -> None:
    study = Study("coin")
    with pytest.raises(AnalysisError, match="order"):
        replace(study.public(), answers=study.answers.iloc[::-1])


def test_reporters_of_known_answer_hold_where_every_probability_is_the_same() -> None:
    study = Study("coin")
    study.answers["top"] = -1.0
    public = replace(study.public(), answers=study.answers)
    found = known_answers(public, study.answers, study.observers(False), SPEC, 0)
    assert all(one.passed for one in found), [(one.reporter, one.obtained, one.reasons) for one in found]


def test_an_instrument_that_trusts_silent_readers_or_controls_fails_its_known_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = Study("coin")
    public = study.public(True)
    plain = {LIKELIHOOD: "top", "margin to the next option": "margin"}
    monkeypatch.setattr(
        "firsthand.auditing.labels.confidence_known.foreseen",
        lambda seen, _: {n: Foreseen(seen.answers[c].to_numpy(), sees_output=True) for n, c in plain.items()},
    )
    assert all(one.passed for one in known_answers(public, study.answers, study.observers(), SPEC, 0))
    with monkeypatch.context() as patch:
        patch.setattr("firsthand.auditing.labels.confidence_known.reader_lacks", lambda *_, **__: None)
        found = known_answers(public, study.answers, study.observers(), SPEC, 0)
    assert [one.reporter for one in found if not one.passed] == ["oracle beside a silent reader, planted"]
    with monkeypatch.context() as patch:
        patch.setattr("firsthand.analysis.report_confidence._controls_filled", lambda *_: [])
        found = known_answers(public, study.answers, study.observers(), SPEC, 0)
    assert [one.reporter for one in found if not one.passed] == ["oracle without a control, planted"]
