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


@pytest.mark.parametrize("elsewhere", ["at chance", "always the same"])
def test_a_report_that_always_avoids_the_truth_is_inverted(elsewhere: str) -> None:
    w = World()
    avoids = (w.truth + 1.0) % OPTIONS
    for answers in (w.guess(0.0), avoids):
        other = w.chance() if elsewhere == "at chance" else np.zeros(len(w.truth))
        result = judged(w, table(w, answers, **arms(w, **{"other question": other})))
        assert result.verdict is Verdict.INVERTED
        assert "below every control arm" in result.reasons[1]


def test_avoiding_the_truth_as_much_under_another_question_is_no_inverted_report() -> None:
    w = World()
    result = judged(w, table(w, w.guess(0.02), **arms(w, **{"other question": w.guess(0.02)})))
    assert result.verdict is Verdict.ANOMALY_ONLY
    assert "the control arm other question gives as many wrong answers" in result.reasons[0]


def test_avoiding_the_truth_hardly_more_than_elsewhere_or_than_in_no_arm_settles_nothing() -> None:
    w = World()
    unclear = judged(w, table(w, w.guess(0.12), **arms(w, **{"other question": w.guess(0.18)})))
    assert unclear.verdict is Verdict.INSUFFICIENT
    assert "not shown to be below: other question" in unclear.reasons[0]
    observers = {"guesser": Chosen(w.chance())}
    frame = table(w, w.guess(0.0))
    alone = judge_choice(Capability.LOCALISATION, Condition.Y_WITHHELD, frame, OPTIONS, observers, {}, SPEC, [])
    assert alone.verdict is Verdict.INSUFFICIENT
    assert "any control arm, as none was run" in alone.reasons[0]


def test_an_option_that_is_never_true_is_refused() -> None:
    """With two of five options ever true, always one of these is right half the time, and always another one never."""
    w = World()
    w.truth = w.truth % 2
    for constant in (0.0, 4.0):
        frame = table(w, np.full(len(w.truth), constant), **arms(w))
        with pytest.raises(AnalysisError, match="options 2, 3, 4 are never true"):
            judged(w, frame)
    w = World()
    only_in_an_arm = table(w, w.chance(), **arms(w))
    target = only_in_an_arm["arm"] == "target"
    with pytest.raises(AnalysisError, match="option 0 is never true"):
        judged(w, only_in_an_arm[~(target & (only_in_an_arm["truth"] == 0))])


@pytest.mark.parametrize("constant", [0.0, 4.0])
def test_an_option_without_a_valid_answer_settles_nothing(constant: float) -> None:
    w = World()
    answers = np.where(w.truth < 2, constant, np.nan)
    result = judged(w, table(w, answers, **arms(w)))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "not one answer was valid where the true option was 2, 3, 4" in result.reasons[0]


@pytest.mark.parametrize(("answers", "verdict"), [(0.6, Verdict.PRIVILEGED), (0.0, Verdict.INVERTED)])
def test_an_arm_in_which_an_option_never_was_true_is_not_compared(answers: float, verdict: Verdict) -> None:
    """Its balance would be another one: always the option that is true there looks able, any other one unable."""
    w = World()
    frame = table(w, w.guess(answers), **arms(w, **{"other question": np.full(len(w.truth), 3.0)}))
    assert judged(w, frame).verdict is verdict
    other = frame["arm"] == "other question"
    for kept in (frame["truth"] == 3, frame["truth"] != 3):
        result = judged(w, frame[~other | kept])
        assert result.verdict is Verdict.INSUFFICIENT
        assert "other question (not known)" in result.reasons[0]


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


def holed(w: World, answers: np.ndarray, share: float, *, where_right: bool) -> np.ndarray:
    """Answers of which this share is invalid where they are right, or where they are wrong."""
    return np.where(((answers == w.truth) == where_right) & (w.rng.random(len(answers)) < share), np.nan, answers)


def test_a_coin_whose_wrong_answers_are_mostly_invalid_is_not_privileged() -> None:
    w = World()
    result = judged(w, table(w, holed(w, w.chance(), 0.9, where_right=False), **arms(w)))
    assert result.invalid_rate == pytest.approx(0.72, abs=0.05)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "of answers that are invalid decide the verdict: 'privileged' without them" in result.reasons[0]
    assert result.score_worst_case == pytest.approx(0.2, abs=0.06)
    assert result.score_best_case == pytest.approx(0.92, abs=0.06)


def test_a_coin_whose_right_answers_are_mostly_invalid_is_not_inverted() -> None:
    w = World()
    result = judged(w, table(w, holed(w, w.chance(), 0.95, where_right=True), **arms(w)))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "'inverted' without them" in result.reasons[0]


def test_arms_whose_right_answers_are_mostly_invalid_lend_no_lead() -> None:
    """Whatever is invalid on target trials may have been wrong while what is invalid in an arm was right."""
    w = World()
    quiet = holed(w, w.guess(0.6), 0.9, where_right=True)
    result = judged(w, table(w, w.guess(0.6), **arms(w, **{"other question": quiet})))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "if they are scored as right" in result.reasons[0]
    told = w.guess(0.6)
    answers, quiet = (holed(w, told, 0.5, where_right=k) for k in (False, True))
    crossed = judged(w, table(w, answers, **arms(w, **{"other question": quiet})))
    assert crossed.verdict is Verdict.INSUFFICIENT
    assert "without them, 'anomaly-only' if they are scored as wrong on target trials and right" in crossed.reasons[0]


def test_a_few_invalid_answers_decide_nothing_and_bound_the_score() -> None:
    w = World()
    for able, verdict in ((0.6, Verdict.PRIVILEGED), (0.0, Verdict.INVERTED)):
        answers = np.where(np.arange(len(w.truth)) % 23 == 0, np.nan, w.guess(able))
        result = judged(
            w, table(w, answers, **arms(w, **{"other question": np.where(answers > 0, w.chance(), np.nan)}))
        )
        assert result.verdict is verdict
        assert result.score is not None
        assert result.score_worst_case < result.score_best_case
        assert result.score_worst_case <= result.score.value <= result.score_best_case
    whole = judged(w, table(w, w.guess(0.6), **arms(w)))
    assert whole.score_worst_case == whole.score.value == whole.score_best_case
    nothing = judged(w, table(w, np.full(len(w.truth), np.nan), **arms(w)))
    assert (nothing.verdict, nothing.score_worst_case, nothing.score_best_case) == (Verdict.INSUFFICIENT, 0.0, 1.0)


def test_one_answer_throughout_most_blocks_is_a_constant() -> None:
    """It is worth chance by arithmetic, whatever the answer of each block: that is no equivalence."""
    w = World()
    answers = np.repeat(w.rng.integers(0, OPTIONS, UNITS), EACH).astype(float)
    reader = {"probe": ("site", w.guess(0.99))}
    observers = {"guesser": Chosen(w.chance())}

    def ruled(frame: pd.DataFrame) -> CapabilityResult:
        given = ["other question", "no injection"]
        return judge_choice(
            Capability.LOCALISATION, Condition.Y_WITHHELD, frame, OPTIONS, observers, reader, SPEC, given
        )

    result = ruled(table(w, answers, **arms(w)))
    assert result.verdict is Verdict.INSUFFICIENT
    assert f"in {UNITS} of {UNITS} blocks every valid answer is the same, and a constant answer" in result.reasons[-1]
    assert ruled(table(w, w.chance(), **arms(w))).verdict is Verdict.NO_ACCESS
    half = table(w, w.chance(), **arms(w))
    half.loc[: UNITS * EACH - 1, "answer"] = np.tile(np.repeat([1.0, 4.0], 5), UNITS)
    assert ruled(half).verdict is Verdict.NO_ACCESS
    blocked = ruled(half.assign(block=half["concept"] + " " + (half.index // 5 % 2).astype(str)))
    assert blocked.verdict is Verdict.INSUFFICIENT
    assert "in 48 of 48 blocks" in blocked.reasons[-1]
    with pytest.raises(AnalysisError, match="no block"):
        ruled(half.assign(block=None))


def test_low_coverage_is_said_of_the_arm_that_has_it_and_of_no_arm_that_the_claim_leaves_out() -> None:
    w = World()
    frame = table(w, w.guess(0.6), **arms(w), spare=w.chance())
    low = judged(w, frame.assign(coverage=np.where(frame["arm"] == "no injection", 0.2, 0.9)))
    assert low.verdict is Verdict.INSUFFICIENT
    assert "coverage: in the control arm no injection valid answers hold 20.0%" in low.reasons[0]
    spare = judged(w, frame.assign(coverage=np.where(frame["arm"] == "spare", 0.2, 0.9)))
    assert spare.verdict is Verdict.PRIVILEGED


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
