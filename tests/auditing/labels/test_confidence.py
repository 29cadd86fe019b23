"""Confidence is judged against whoever reads question and answer, and about this answer."""

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.report_confidence import Foreseen
from firsthand.auditing.labels.confidence import ANSWER_SEEN, NO_CONTROL, UNREAD, Told, area_of, judge
from firsthand.auditing.labels.confidence_known import known_answers
from firsthand.auditing.labels.confidence_observers import (
    LIKELIHOOD,
    THIRD,
    OtherModel,
    Public,
    foreseen,
    held_out,
    probe,
)
from firsthand.claims.claim import AnalysisSpec
from firsthand.studies.labels.confidence.questions import MultipleChoice
from firsthand.vocabulary import Condition, Verdict

COUNT = 120
SPEC = AnalysisSpec(clusters=("question", "subject"), bootstrap_draws=400)
WORDS = ("river", "cat", "letter", "window", "doctor", "song", "garden", "train")


class Study:
    """Questions of thirty subjects, answered rightly or wrongly as some cue has it."""

    def __init__(self, cue: str, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.cue, self.seed = cue, seed
        self.hard = self.rng.random(COUNT) < 0.5
        self.top = np.log(np.clip(self.rng.random(COUNT), 0.05, 0.99))
        coin = self.rng.random(COUNT) < 0.5
        noise = self.rng.random(COUNT) < 0.05
        self.right = (
            {"words": ~self.hard, "output": self.top > np.median(self.top), "coin": coin}[cue] ^ noise
        ).astype(float)
        self.items = tuple(
            MultipleChoice(
                f"q{i}",
                f"Is it {'seldom' if self.hard[i] else 'mostly'} the {self.rng.choice(WORDS)} or the {WORDS[i % 8]}?",
                ("yes", "no", "never", "always"),
                0,
                f"s{i % 30}",
            )
            for i in range(COUNT)
        )
        self.answers = pd.DataFrame(
            {
                "question": [item.key for item in self.items],
                "subject": [item.subject for item in self.items],
                "right": self.right,
                "answer": self.rng.integers(0, 4, COUNT),
                "place": self.rng.integers(0, 4, COUNT),
                "options": 4,
                "top": self.top,
                "margin": self.top + self.rng.normal(0, 0.1, COUNT),
                "entropy": -self.top,
                "agree": 1.0,
                "coverage": 0.9,
            }
        )

    def public(self, other: bool = False) -> Public:
        rng = np.random.default_rng(self.seed + 100)
        lot = [rng.random(COUNT) for _ in range(4)]
        embedding = np.c_[self.hard, rng.normal(0, 1, (COUNT, 20))].astype(np.float32)
        return Public(self.items, self.answers, embedding, lot[0], OtherModel("other", *lot[1:]) if other else None)

    def observers(self, other: bool = True) -> dict[str, Foreseen]:
        return seen(self.cue, self.seed, other)

    def knowing(self, how_far: float = 3.0) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(-how_far * (self.right - 0.5) - self.rng.normal(0, 0.5, COUNT)))

    def told(self, confidence: np.ndarray, shuffled: np.ndarray | None = None) -> Told:
        return Told(confidence, np.full(COUNT, 0.9), self.rng.random(COUNT) if shuffled is None else shuffled)

    def verdicts(self, told: Told, other: bool = True) -> tuple[Verdict, Verdict]:
        withheld, shown = judge(self.answers, told, self.observers(other), {}, SPEC)
        return withheld.verdict, shown.verdict


@lru_cache
def seen(cue: str, seed: int, other: bool) -> dict[str, Foreseen]:
    """What observers foresee of a study, fitted once for all tests of it."""
    study = Study(cue, seed)
    return foreseen(study.public(other), study.right)


def test_confidence_that_knows_what_no_reader_can_know_is_privileged_beside_another_model() -> None:
    study = Study("coin")
    assert study.verdicts(study.told(study.knowing())) == (Verdict.PRIVILEGED, Verdict.PRIVILEGED)


def test_without_another_model_as_a_reader_nothing_is_privileged() -> None:
    study = Study("coin")
    results = judge(study.answers, study.told(study.knowing()), study.observers(other=False), {}, SPEC)
    for result in results:
        assert result.verdict is Verdict.INSUFFICIENT
        assert result.reasons[-1] == UNREAD


def test_confidence_that_follows_the_difficulty_in_the_words_is_public_even_with_the_answer_withheld() -> None:
    study = Study("words")
    assert study.verdicts(study.told(study.knowing())) == (Verdict.PUBLIC_INFERENCE, Verdict.PUBLIC_INFERENCE)


def test_confidence_that_follows_the_output_s_distribution_is_public_once_that_is_shown() -> None:
    study = Study("output")
    told = study.told(np.exp(study.top))
    withheld, shown = judge(study.answers, told, study.observers(), {}, SPEC)
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
    told = Told(study.knowing(), np.full(COUNT, 0.9))
    withheld, shown = judge(study.answers, told, study.observers(), {}, SPEC)
    assert (withheld.verdict, shown.verdict) == (Verdict.INSUFFICIENT, Verdict.INSUFFICIENT)
    assert NO_CONTROL in shown.reasons


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
    assert found[THIRD].sees_output
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
    readers = {"probe": np.where(study.right == 1, 1.0, -1.0)}
    told = study.told(study.rng.permutation(np.linspace(0, 1, COUNT)))
    shown = judge(study.answers, told, study.observers(), readers, SPEC)[1]
    assert shown.readers[0].accuracy.value == 1.0
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
