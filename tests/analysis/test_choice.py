"""A choice among several options is privileged only ahead of every observer and of every control arm."""

import numpy as np
import pandas as pd
import pytest

from firsthand.analysis.choice import Chosen, judge_choice
from firsthand.analysis.results import CapabilityResult
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition, Verdict

OPTIONS, UNITS, EACH = 5, 24, 10
SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)


class World:
    """Trials of some concepts: every option is true equally often in each."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.truth = np.tile(np.arange(OPTIONS), UNITS * EACH // OPTIONS)
        self.concept = np.repeat([f"c{i}" for i in range(UNITS)], EACH)

    def guess(self, accuracy: float) -> np.ndarray:
        """Right with this probability, else any other option."""
        wrong = (self.truth + self.rng.integers(1, OPTIONS, len(self.truth))) % OPTIONS
        return np.where(self.rng.random(len(self.truth)) < accuracy, self.truth, wrong).astype(float)

    def chance(self) -> np.ndarray:
        return self.rng.integers(0, OPTIONS, len(self.truth)).astype(float)


def table(w: World, answer: np.ndarray, coverage: float = 0.9, **arms: np.ndarray) -> pd.DataFrame:
    frames = []
    for arm, given in {"target": answer, **arms}.items():
        frames.append(
            pd.DataFrame(
                {
                    "trial_id": [f"{arm} {i}" for i in range(len(w.truth))],
                    "arm": arm,
                    "truth": w.truth,
                    "answer": given,
                    "coverage": coverage,
                    "concept": w.concept,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def judged(w: World, frame: pd.DataFrame, observer: np.ndarray | None = None, reads: float = 0.99) -> CapabilityResult:
    observers = {"guesser": Chosen(w.chance() if observer is None else observer)}
    readers = {"probe": ("report", w.guess(reads))} if reads else {}
    return judge_choice(
        Capability.LOCALISATION,
        Condition.Y_WITHHELD,
        frame,
        OPTIONS,
        observers,
        readers,
        SPEC,
        ["other question", "no injection"],
    )


def arms(w: World, **changed: np.ndarray) -> dict[str, np.ndarray]:
    return {"other question": w.chance(), "no injection": w.chance(), **changed}


def test_a_report_ahead_of_observers_and_arms_is_privileged() -> None:
    w = World()
    result = judged(w, table(w, w.guess(0.6), **arms(w)))
    assert result.verdict is Verdict.PRIVILEGED
    assert result.chance == pytest.approx(0.2)
    assert result.score is not None
    assert result.score.units == UNITS
    assert {row.name for row in result.arms} == {"other question", "no injection"}


def test_the_same_answers_to_another_question_make_it_an_answer_to_something_else() -> None:
    w = World()
    answers = w.guess(0.6)
    result = judged(w, table(w, answers, **arms(w, **{"other question": answers})))
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "other question" in result.reasons[0]


def test_an_observer_that_does_as_well_makes_it_public() -> None:
    w = World()
    answers = w.guess(0.6)
    assert judged(w, table(w, answers, **arms(w)), observer=answers).verdict is Verdict.PUBLIC_INFERENCE


def test_a_constant_or_a_coin_that_a_probe_outdoes_has_the_state_available_but_not_reported() -> None:
    w = World()
    for answers in (np.full(len(w.truth), 3.0), w.chance()):
        result = judged(w, table(w, answers, **arms(w)))
        assert result.verdict is Verdict.AVAILABLE_NOT_REPORTED
        assert result.score is not None
        assert result.score.value == pytest.approx(0.2, abs=0.06)


def test_a_constant_without_a_reader_says_nothing() -> None:
    w = World()
    assert judged(w, table(w, np.full(len(w.truth), 3.0), **arms(w)), reads=0.0).verdict is Verdict.INSUFFICIENT


def test_a_report_that_always_avoids_the_truth_is_inverted() -> None:
    w = World()
    assert judged(w, table(w, w.guess(0.0), **arms(w))).verdict is Verdict.INVERTED


def test_low_coverage_a_missing_arm_or_no_observer_settle_nothing() -> None:
    w = World()
    low = judged(w, table(w, w.guess(0.6), coverage=0.05, **arms(w)))
    assert (low.verdict, "coverage" in low.reasons[0]) == (Verdict.INSUFFICIENT, True)
    missing = judged(w, table(w, w.guess(0.6), **{"no injection": w.chance()}))
    assert (missing.verdict, "other question" in missing.reasons[0]) == (Verdict.INSUFFICIENT, True)
    alone = judge_choice(
        Capability.LOCALISATION, Condition.Y_WITHHELD, table(w, w.guess(0.6), **arms(w)), OPTIONS, {}, {}, SPEC, []
    )
    assert alone.verdict is Verdict.INSUFFICIENT


def test_an_observer_that_saw_the_output_counts_only_where_it_is_shown() -> None:
    w = World()
    answers = w.guess(0.6)
    frame = table(w, answers, **arms(w))
    observers = {"guesser": Chosen(w.chance()), "reader of Y": Chosen(answers, sees_output=True)}
    found = {
        condition: judge_choice(
            Capability.LOCALISATION, condition, frame, OPTIONS, observers, {}, SPEC, ["other question"]
        ).verdict
        for condition in Condition
    }
    assert found == {Condition.Y_WITHHELD: Verdict.PRIVILEGED, Condition.Y_SHOWN: Verdict.PUBLIC_INFERENCE}


def test_an_observer_that_chooses_nothing_gets_what_a_guess_is_worth() -> None:
    w = World()
    silent = judged(w, table(w, w.guess(0.6), **arms(w)), observer=np.full(len(w.truth), np.nan))
    assert silent.observers[0].score.value == pytest.approx(0.2)
    picky = np.where(w.rng.random(len(w.truth)) < 0.1, w.truth, np.nan)  # says something only where it is right
    chosen = judged(w, table(w, w.guess(0.6), **arms(w)), observer=picky)
    assert chosen.observers[0].score.value == pytest.approx(0.1 + 0.9 * 0.2, abs=0.04)


def test_invalid_answers_are_left_out_and_never_wrong() -> None:
    w = World()
    answers = w.guess(0.6)
    holed = np.where(w.rng.random(len(answers)) < 0.3, np.nan, answers)
    result = judged(w, table(w, holed, **arms(w)))
    assert result.invalid_rate == pytest.approx(0.3, abs=0.08)
    assert result.score is not None
    assert result.score.value == pytest.approx(0.6, abs=0.08)


def test_reports_that_know_nothing_are_called_privileged_no_more_often_than_alpha() -> None:
    called = 0
    for seed in range(200):
        w = World(seed)
        called += judged(w, table(w, w.chance(), **arms(w)), reads=0.0).verdict is Verdict.PRIVILEGED
    assert called <= 200 * SPEC.alpha + 3 * np.sqrt(200 * SPEC.alpha * (1 - SPEC.alpha))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"truth": 9}, "not one of the 5 options"),
        ({"answer": 7.0}, "not one of the 5 options"),
        ({"trial_id": "x"}, "more than once"),
        ({"arm": "control"}, "no target trials"),
        ({"concept": None}, "empty values"),
    ],
)
def test_tables_that_cannot_be_analysed_are_refused(change: dict[str, object], problem: str) -> None:
    w = World()
    with pytest.raises(AnalysisError, match=problem):
        judged(w, table(w, w.chance(), **arms(w)).assign(**change))


def test_a_missing_column_is_named() -> None:
    w = World()
    with pytest.raises(AnalysisError, match="coverage"):
        judged(w, table(w, w.chance()).drop(columns="coverage"))
