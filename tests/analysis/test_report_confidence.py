"""A stated confidence is privileged only where it tells right from wrong reports better than every observer."""

import numpy as np
import pandas as pd
import pytest
from analysis_plain import pairwise_area
from sklearn.metrics import brier_score_loss, roc_auc_score

from firsthand.analysis.report_confidence import Control, Foreseen, judge_report_confidence
from firsthand.analysis.results import CapabilityResult
from firsthand.claims.claim import AnalysisSpec
from firsthand.errors import AnalysisError
from firsthand.vocabulary import Capability, Condition, Verdict

UNITS, EACH = 24, 10
ROWS = UNITS * EACH
SPEC = AnalysisSpec(clusters=("concept",), bootstrap_draws=400)


class Reports:
    """Reports of two strata; in the second one they are right far more often."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.hard = np.arange(ROWS) % 2 == 0
        self.right = (self.rng.random(ROWS) < np.where(self.hard, 0.4, 0.8)).astype(float)

    def knowing(self, how_far: float) -> np.ndarray:
        """A confidence that is higher where the report is right, by so many standard deviations."""
        return 1.0 / (1.0 + np.exp(-how_far * (2 * self.right - 1) / 2 - self.rng.normal(0, 1, ROWS)))

    def coin(self) -> np.ndarray:
        return self.rng.random(ROWS)

    def table(self, confidence: np.ndarray, coverage: object = 0.9) -> pd.DataFrame:
        return pd.DataFrame(
            {
                "trial_id": [f"t{i}" for i in range(ROWS)],
                "right": self.right,
                "confidence": confidence,
                "coverage": coverage,
                "stratum": np.where(self.hard, "hard", "easy"),
                "concept": np.repeat([f"c{i}" for i in range(UNITS)], EACH),
            }
        )


def said(values: np.ndarray) -> Control:
    """A control that is valid wherever it is finite."""
    return Control(values, np.isfinite(values), np.where(np.isfinite(values), 1.0, np.nan))


def judged(r: Reports, frame: pd.DataFrame, observer: np.ndarray | None = None) -> CapabilityResult:
    observers = {"guesser": Foreseen(r.coin() if observer is None else observer)}
    return judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD)


def test_a_confidence_that_knows_where_the_report_is_right_is_privileged() -> None:
    r = Reports()
    result = judged(r, r.table(r.knowing(2.0)))
    assert (result.capability, result.verdict, result.chance) == (Capability.CONFIDENCE, Verdict.PRIVILEGED, 0.5)
    assert result.score is not None
    assert result.score.units == UNITS
    assert result.gap is not None
    assert result.gap.low > 0


def test_a_confidence_that_is_certain_exactly_where_it_is_right_has_an_area_of_one() -> None:
    r = Reports()
    result = judged(r, r.table(r.right))
    assert result.verdict is Verdict.PRIVILEGED
    assert result.score is not None
    assert result.calibration is not None
    assert (result.score.value, result.calibration.brier.value, result.calibration.ece_debiased) == (1.0, 0.0, 0.0)


def test_an_observer_that_foresees_as_much_makes_it_public() -> None:
    r = Reports()
    sure = r.knowing(2.0)
    assert judged(r, r.table(sure), observer=sure).verdict is Verdict.PUBLIC_INFERENCE


def test_a_confidence_that_is_higher_where_the_report_is_wrong_is_inverted() -> None:
    r = Reports()
    sure = r.knowing(-2.0)
    assert judged(r, r.table(sure)).verdict is Verdict.INVERTED
    for same in (sure, 1.0 - sure):
        assert judged(r, r.table(sure), observer=same).verdict is Verdict.INSUFFICIENT, "an observer is as far from it"


def test_knowing_which_stratum_is_easier_earns_nothing() -> None:
    r = Reports()
    result = judged(r, r.table(np.where(r.hard, 0.4, 0.8)))
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.score is not None
    assert result.score.value == 0.5
    assert result.calibration is not None
    assert result.calibration.auroc2.value > 0.65


def test_a_coin_or_a_constant_settles_nothing() -> None:
    r = Reports()
    assert judged(r, r.table(r.coin())).verdict is Verdict.INSUFFICIENT
    constant = judged(r, r.table(np.full(ROWS, 0.9)))
    assert constant.verdict is Verdict.INSUFFICIENT
    assert "one and the same confidence" in constant.reasons[0]
    nearly = np.where(np.arange(ROWS) < 4, r.right, 0.9)
    assert "98.3% of the valid reports give one" in judged(r, r.table(nearly)).reasons[0]


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_few_right_or_wrong_reports_are_not_enough(outcome: float) -> None:
    r = Reports()
    r.right = np.where(np.arange(ROWS) % 27 == 0, 1.0 - outcome, outcome)
    result = judged(r, r.table(r.right))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "only 9 had the rarer outcome" in result.reasons[0]


def test_right_and_wrong_reports_that_never_meet_in_a_stratum_are_not_enough() -> None:
    """As many of both as one could wish, but nearly all wrong ones stand alone in their stratum."""
    r = Reports()
    r.right = np.where(r.hard, 0.0, 1.0)
    apart = judged(r, r.table(r.right))
    assert (apart.verdict, "only 0 had the rarer outcome" in apart.reasons[0]) == (Verdict.INSUFFICIENT, True)
    r.right[1:14:2] = 0.0
    met = judged(r, r.table(r.right))
    assert (met.verdict, "only 7 had the rarer outcome" in met.reasons[0]) == (Verdict.INSUFFICIENT, True)


def test_low_coverage_overall_or_in_one_stratum_and_no_observer_settle_nothing() -> None:
    r = Reports()
    sure = r.knowing(2.0)
    for coverage in (0.05, np.where(r.hard, 0.2, 0.99)):
        low = judged(r, r.table(sure, coverage))
        assert (low.verdict, "coverage" in low.reasons[0]) == (Verdict.INSUFFICIENT, True)
    alone = judge_report_confidence(r.table(sure), {}, SPEC, Condition.Y_SHOWN)
    assert (alone.verdict, "no observer" in alone.reasons[0]) == (Verdict.INSUFFICIENT, True)


def test_an_observer_that_saw_the_output_counts_only_where_it_is_shown() -> None:
    r = Reports()
    sure = r.knowing(2.0)
    observers = {"guesser": Foreseen(r.coin()), "reader of Y": Foreseen(sure, sees_output=True)}
    found = {c: judge_report_confidence(r.table(sure), observers, SPEC, c).verdict for c in Condition}
    assert found == {Condition.Y_WITHHELD: Verdict.PRIVILEGED, Condition.Y_SHOWN: Verdict.PUBLIC_INFERENCE}


def test_invalid_reports_and_confidences_are_left_out() -> None:
    r = Reports()
    sure = r.knowing(2.0)
    frame = r.table(sure)
    holes = np.arange(ROWS) % 40
    holed = frame.assign(right=np.where(holes == 0, np.nan, r.right), confidence=np.where(holes == 1, np.nan, sure))
    observer = np.where(holes < 2, np.nan, r.coin())
    result = judged(r, holed, observer)
    kept = judged(r, frame[holes > 1], observer[holes > 1])
    assert result.invalid_rate == pytest.approx(0.05)
    assert (result.verdict, result.calibration.bins) == (kept.verdict, kept.calibration.bins)
    assert result.score.value == pytest.approx(kept.score.value)
    assert result.gap.value == pytest.approx(kept.gap.value)
    nothing = judged(r, frame.assign(confidence=np.nan))
    assert (nothing.verdict, nothing.calibration) == (Verdict.INSUFFICIENT, None)


@pytest.mark.parametrize(("knows", "verdict"), [(1.0, Verdict.PRIVILEGED), (0.0, Verdict.INVERTED)])
def test_a_coin_that_is_invalid_where_it_would_have_been_wrong_is_not_believed(knows: float, verdict: Verdict) -> None:
    r = Reports()
    sure = r.coin()
    sure = np.where((sure > 0.5) == (r.right == knows), sure, np.nan)
    for observer in (None, np.where(np.isnan(sure), np.nan, 0.5)):
        result = judged(r, r.table(sure), observer)
        assert result.verdict is Verdict.INSUFFICIENT
        assert f"of answers that are invalid decide the verdict: '{verdict}' without them" in result.reasons[0]
        assert result.score_worst_case < 0.5 < result.score_best_case


def test_a_few_invalid_confidences_decide_nothing_and_bound_the_area() -> None:
    r = Reports()
    sure = r.knowing(2.0)
    result = judged(r, r.table(np.where(np.arange(ROWS) % 40 == 0, np.nan, sure)))
    assert result.verdict is Verdict.PRIVILEGED
    assert result.score_worst_case < result.score.value < result.score_best_case
    whole = judged(r, r.table(sure))
    assert whole.score_worst_case == whole.score.value == whole.score_best_case


def test_reasons_speak_of_reports_and_of_strata() -> None:
    r = Reports()
    assert "type-2 AUROC within strata" in judged(r, r.table(r.knowing(2.0))).reasons[0]
    low = judged(r, r.table(r.knowing(2.0), np.where(r.hard, 0.3, 0.9)))
    assert "coverage: in the stratum hard valid answers hold 30.0%" in low.reasons[0]
    r.right = np.where(np.arange(ROWS) % 27 == 0, 0.0, 1.0)
    assert f"of {ROWS} reports only 9 had" in judged(r, r.table(r.right)).reasons[0]


def test_areas_and_brier_score_are_those_of_slow_pairs_and_of_scikit_learn() -> None:
    r = Reports()
    sure = np.round(r.knowing(1.0) * 4) / 4
    observer = np.round(r.coin(), 1)
    result = judged(r, r.table(sure), observer)
    mine, theirs = (pairwise_area(r.right, score, r.hard.astype(np.int64)) for score in (sure, observer))
    assert result.score is not None
    assert result.gap is not None
    assert result.score.value == pytest.approx(mine)
    assert result.observers[0].score.value == pytest.approx(theirs)
    assert result.gap.value == pytest.approx(mine - theirs)
    found = result.calibration
    assert found is not None
    assert found.auroc2_stratified == result.score
    assert found.auroc2.value == pytest.approx(roc_auc_score(r.right, sure))
    assert found.brier.value == pytest.approx(brier_score_loss(r.right, sure))
    assert found.brier.value == pytest.approx(found.reliability - found.resolution + found.uncertainty)
    assert found.bins[0].accuracy.value == pytest.approx(r.right[sure == sure.min()].mean())


def test_an_overconfident_report_exceeds_the_null_of_its_calibration_error_and_a_calibrated_one_does_not() -> None:
    r = Reports()
    stated = np.where(r.hard, 0.4, 0.8) + r.rng.uniform(-0.05, 0.05, ROWS)
    calibrated = judged(r, r.table(stated)).calibration
    boasting = judged(r, r.table(np.minimum(stated + 0.3, 1.0))).calibration
    assert calibrated is not None
    assert boasting is not None
    assert calibrated.ece_debiased <= calibrated.ece_null
    assert boasting.ece_debiased > boasting.ece_null


def test_only_the_order_of_confidence_within_its_stratum_moves_the_score() -> None:
    r = Reports()
    sure, observer = np.round(r.knowing(1.5), 6), r.coin()
    first = judged(r, r.table(sure), observer)
    bent = judged(r, r.table(np.where(r.hard, sure**3, sure / 2)), np.log(observer))
    assert (bent.verdict, bent.score, bent.gap) == (first.verdict, first.score, first.gap)
    assert bent.calibration != first.calibration
    renamed = r.table(sure).assign(stratum=np.where(r.hard, "a", "b"))
    assert judged(r, renamed, observer) == first
    backwards = judged(r, r.table(sure)[::-1], observer[::-1])
    assert (backwards.verdict, backwards.score.value) == (first.verdict, pytest.approx(first.score.value))


def test_confidences_that_know_nothing_are_called_privileged_no_more_often_than_alpha() -> None:
    """Units differ in how often they are right and in how sure they are, by themselves."""
    called = 0
    for seed in range(100):
        r = Reports(seed)
        able, bold = (np.repeat(r.rng.beta(2, 2, UNITS), EACH) for _ in range(2))
        r.right = (r.rng.random(ROWS) < able).astype(float)
        called += judged(r, r.table((r.coin() + bold) / 2)).verdict is Verdict.PRIVILEGED
    assert called <= 100 * SPEC.alpha + 3 * np.sqrt(100 * SPEC.alpha * (1 - SPEC.alpha))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"right": 0.5}, "'right' must be 1, 0 or NaN"),
        ({"confidence": 90.0}, "outside of 0 to 1"),
        ({"confidence": -np.inf}, "outside of 0 to 1"),
        ({"coverage": np.nan}, "coverage"),
        ({"trial_id": "x"}, "more than once"),
        ({"stratum": None}, "no stratum"),
        ({"concept": None}, "empty values"),
    ],
)
def test_tables_that_cannot_be_analysed_are_refused(change: dict[str, object], problem: str) -> None:
    r = Reports()
    with pytest.raises(AnalysisError, match=problem):
        judged(r, r.table(r.coin()).assign(**change))


def test_a_missing_column_an_empty_table_and_observers_out_of_line_are_refused() -> None:
    r = Reports()
    frame = r.table(r.coin())
    with pytest.raises(AnalysisError, match="stratum"):
        judged(r, frame.drop(columns="stratum"))
    with pytest.raises(AnalysisError, match="no rows"):
        judged(r, frame[:0])
    for observer in (r.coin()[1:], np.full(ROWS, np.nan)):
        with pytest.raises(AnalysisError, match="'guesser' must give one finite confidence"):
            judged(r, frame, observer)


def test_a_confidence_that_the_same_report_about_something_else_matches_is_not_about_the_answer() -> None:
    r = Reports()
    frame, observers = r.table(r.knowing(2.5)), {"guesser": Foreseen(r.coin())}
    about_other = {"lot": r.coin(), "as good": r.knowing(2.5)}
    verdicts = {
        name: judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, controls={name: said(given)})
        for name, given in about_other.items()
    }
    assert verdicts["lot"].verdict is Verdict.PRIVILEGED
    assert verdicts["lot"].arms[0].lead.low > 0
    assert verdicts["as good"].verdict is Verdict.ANOMALY_ONLY
    assert "something else" in verdicts["as good"].reasons[-1]


def test_a_control_that_is_invalid_or_not_covered_is_no_control_and_one_of_another_length_is_refused() -> None:
    r = Reports()
    frame, observers = r.table(r.knowing(2.5)), {"guesser": Foreseen(r.coin())}
    lot = r.coin()
    controls = {
        "silent": said(np.full(ROWS, np.nan)),
        "hoarse": Control(lot, np.arange(ROWS) % 10 == 0, np.ones(ROWS)),
        "elsewhere": Control(lot, np.ones(ROWS, dtype=bool), np.full(ROWS, 0.2)),
    }
    for name, control in controls.items():
        result = judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, controls={name: control})
        assert result.verdict is Verdict.INSUFFICIENT, name
    few = Control(lot, np.arange(ROWS) % 60 != 0, np.ones(ROWS))
    result = judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, controls={"few": few})
    assert result.verdict is Verdict.PRIVILEGED
    with pytest.raises(AnalysisError, match="every row"):
        judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, controls={"short": said(np.zeros(3))})


def test_a_wrong_sign_that_the_same_report_about_something_else_has_too_is_not_inverted() -> None:
    r = Reports()
    frame, observers = r.table(r.knowing(-2.5)), {"guesser": Foreseen(r.coin())}
    controls = {
        Verdict.INVERTED: said(r.coin()),
        Verdict.ANOMALY_ONLY: said(r.knowing(-2.5)),
        Verdict.INSUFFICIENT: Control(r.coin(), np.ones(ROWS, dtype=bool), np.full(ROWS, 0.2)),
    }
    for verdict, control in controls.items():
        found = judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, controls={"other": control})
        assert found.verdict is verdict, found.reasons


def test_where_a_probe_reads_what_a_report_does_not_say_it_was_available() -> None:
    r = Reports(3)
    many = pd.concat([r.table(r.coin()) for _ in range(4)], ignore_index=True)
    frame = many.assign(trial_id=[str(i) for i in range(len(many))], confidence=r.rng.random(len(many)))
    observers = {"guesser": Foreseen(r.rng.random(len(many)))}
    read = np.where(many["right"] == 1, 1.0, -1.0)
    verdicts = {"report": Verdict.AVAILABLE_NOT_REPORTED, "site": Verdict.NO_ACCESS}
    for where, verdict in verdicts.items():
        result = judge_report_confidence(frame, observers, SPEC, Condition.Y_WITHHELD, readers={"probe": (where, read)})
        assert result.verdict is verdict, result.reasons
        assert (result.readers[0].accuracy.value, result.readers[0].where) == (1.0, where)
    blind = judge_report_confidence(
        frame, observers, SPEC, Condition.Y_WITHHELD, readers={"probe": ("report", np.full(len(many), np.nan))}
    )
    assert blind.verdict is Verdict.INSUFFICIENT
