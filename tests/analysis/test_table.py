import numpy as np
import pytest
from analysis_simulation import judged, public_observers, rules, table, wire, world

from firsthand.analysis import ObserverPrediction, Reading, judge
from firsthand.errors import AnalysisError
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind

ID = Capability.IDENTIFICATION


def refused(match: str, *, change=None, observers=None, readers=None, capability=ID, spec=None, truth=None) -> None:
    w = world(4)
    frame = table(w, w.post if truth is None else truth, w.post)
    frame = frame if change is None else change(frame)
    with pytest.raises(AnalysisError, match=match) as raised:
        judged(capability, frame, observers or public_observers(w, ID), readers or {}, spec=spec)
    assert raised.value.remedy


def test_a_missing_cluster_column_is_refused() -> None:
    refused("lacks the columns: concept", spec=rules(clusters=("block", "concept")))


def test_a_missing_column_is_named() -> None:
    refused("lacks the columns: contrast", change=lambda f: f.drop(columns="contrast"))


def test_one_unit_only_is_refused() -> None:
    refused("one unit only", change=lambda f: f.assign(block=1))


def test_an_empty_unit_is_refused() -> None:
    refused("empty values", change=lambda f: f.assign(block=f["block"].where(f["block"] > 0)))


def test_repeated_trial_ids_are_refused() -> None:
    refused("occur more than once", change=lambda f: f.assign(trial_id="t0"))


def test_one_class_only_is_refused() -> None:
    refused("one class only", truth=np.ones(40))


def test_no_controls_at_all_are_refused() -> None:
    refused("no control trials", change=lambda f: f.assign(kind=Kind.TARGET.value))


def test_no_target_trials_are_refused() -> None:
    refused("no target trials", change=lambda f: f.assign(kind=Kind.SHAM.value))


def test_unknown_kinds_are_named() -> None:
    refused("Unknown trial kinds: placebo", change=lambda f: f.assign(kind="placebo"))


@pytest.mark.parametrize(
    ("column", "value"),
    [("probability", np.nan), ("probability", 1.2), ("coverage", -0.5), ("answer", 0.3), ("truth", 2)],
)
def test_impossible_values_are_refused_with_their_column(column: str, value: float) -> None:
    refused(f"column '{column}'", change=lambda f: f.assign(**{column: value}))


def test_detection_truth_must_be_that_the_state_was_changed() -> None:
    refused("exactly on target trials", capability=Capability.DETECTION)


def test_an_observer_of_another_length_or_with_nan_is_refused() -> None:
    refused("Observer 'o'", observers={"o": ObserverPrediction(False, np.full(3, 0.5))})
    refused("NaN or outside", observers={"o": ObserverPrediction(False, np.full(40, np.nan))})


def test_a_reader_of_another_length_is_refused() -> None:
    refused("Reader 'r'", readers={"r": Reading("site", np.zeros(3))})


def test_controls_must_be_named_and_leave_the_state_alone() -> None:
    w = world(4)
    frame, observers = table(w, w.post, w.post), public_observers(w, ID)
    for controls in ((), (Kind.TARGET, Kind.SHAM)):
        with pytest.raises(AnalysisError, match="controls"):
            judge(ID, Condition.Y_SHOWN, frame, observers, {}, rules(), controls)


def test_a_capability_without_rules_is_refused() -> None:
    w = world(4)
    with pytest.raises(AnalysisError, match="no rules of judgement"):
        judge(Capability.LOCALISATION, Condition.Y_SHOWN, table(w, w.post, w.post), {}, {}, rules(), CONTROLS)


def test_an_unreadable_row_counts_against_the_reader() -> None:
    w = world(24)
    half = {"wire": Reading("site", np.where(np.arange(len(w)) % 4 < 2, 2 * w.post - 1, np.nan))}
    result = judged(ID, table(w, w.post, w.post), public_observers(w, ID), half)
    assert result.readers[0].accuracy.value == pytest.approx(0.5)
    assert judged(ID, table(w, w.post, w.post), public_observers(w, ID), wire(w.post)).readers[0].accuracy.value == 1.0
