"""Every verdict is reached by a reporter whose answer is known."""

import numpy as np
import pytest
from analysis_simulation import judged, public_observers, rules, table, wire, world

from firsthand.analysis import ObserverPrediction
from firsthand.vocabulary import Capability, Condition, Kind, Verdict

ID, DET, CONF = Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE


def identify(w, answer, readers=None, **options):
    return judged(ID, table(w, w.post, answer, **options), public_observers(w, ID), readers or wire(w.post))


def detect(w, answer, readers=None, observers=None, **options):
    seen = observers or public_observers(w, DET)
    return judged(DET, table(w, w.changed, answer, **options), seen, readers or wire(w.changed))


def sure_of(w, right, confidence, observers=None, readers=None):
    frame = table(w, right, (confidence > 0.5).astype(float), probability=confidence)
    return judged(CONF, frame, observers or public_observers(w, CONF), readers or wire(right))


class TestIdentification:
    def test_a_wire_is_privileged(self) -> None:
        w = world()
        result = identify(w, w.post)
        assert result.verdict is Verdict.PRIVILEGED
        assert result.score.value == 1.0
        assert result.target_score.value == 1.0

    def test_a_noisy_wire_is_privileged(self) -> None:
        w = world()
        assert identify(w, w.noisy(w.post, 0.88)).verdict is Verdict.PRIVILEGED

    def test_a_mimic_of_the_public_cue_is_public_inference_and_not_inverted(self) -> None:
        w = world()
        result = identify(w, w.cue)
        assert result.verdict is Verdict.PUBLIC_INFERENCE
        assert result.target_score.value < 0.5
        assert result.following.value == pytest.approx(0.5, abs=0.02)
        assert any("cue does as well" in reason for reason in result.reasons)

    def test_an_inverter_of_the_public_cue_is_neither_privileged_nor_inverted(self) -> None:
        w = world(48)
        assert identify(w, 1 - w.cue).verdict not in (Verdict.PRIVILEGED, Verdict.INVERTED, Verdict.PUBLIC_INFERENCE)

    def test_a_disturbance_that_turns_the_cue_round_is_not_privileged(self) -> None:
        w = world(48)
        assert identify(w, np.where(w.disturbed == 1, 1 - w.cue, w.cue)).verdict is not Verdict.PRIVILEGED

    def test_a_mimic_that_no_observer_matches_is_still_not_privileged(self) -> None:
        w = world(48)
        blind = {"guess": ObserverPrediction(False, np.full(len(w), 0.5))}
        result = judged(ID, table(w, w.post, w.cue), blind, wire(w.post))
        assert result.verdict is Verdict.INSUFFICIENT
        assert any("not above chance on: target" in reason for reason in result.reasons)
        assert "a signal is there" in result.equivalence.refused

    def test_the_opposite_of_the_state_is_inverted(self) -> None:
        w = world()
        assert identify(w, w.noisy(1 - w.post, 0.9)).verdict is Verdict.INVERTED

    def test_chance_with_shown_sensitivity_is_no_access(self) -> None:
        w = world(60)
        result = identify(w, w.noisy(w.post, 0.5))
        assert result.verdict is Verdict.NO_ACCESS
        assert result.equivalence.shown

    def test_chance_without_a_reader_is_insufficient(self) -> None:
        w = world(60)
        frame = table(w, w.post, w.noisy(w.post, 0.5))
        result = judged(ID, frame, public_observers(w, ID))
        assert result.verdict is Verdict.INSUFFICIENT
        assert "no wire or probe" in result.equivalence.refused

    def test_chance_with_a_weak_reader_is_insufficient(self) -> None:
        w = world(60)
        weak = wire(w.noisy(w.post, 0.8))
        assert identify(w, w.noisy(w.post, 0.5), weak).verdict is Verdict.INSUFFICIENT

    def test_chance_while_a_wire_reads_the_report_position_is_available_not_reported(self) -> None:
        w = world(60)
        result = identify(w, w.noisy(w.post, 0.5), wire(w.post, "report"))
        assert result.verdict is Verdict.AVAILABLE_NOT_REPORTED

    def test_a_reader_of_the_public_cue_shows_neither_sensitivity_nor_availability(self) -> None:
        w = world(60, cue=0.97)
        result = identify(w, np.ones(len(w)), wire(w.cue, "report"))
        assert result.readers[0].accuracy.value == pytest.approx(0.5, abs=0.03)
        assert result.verdict is Verdict.INSUFFICIENT

    def test_few_blocks_say_how_many_would_be_needed(self) -> None:
        w = world(10, seed=3)
        readers = wire(w.post)
        spec = rules(minimum_sensitivity=0.5)
        result = judged(ID, table(w, w.post, w.noisy(w.post, 0.5)), public_observers(w, ID), readers, spec=spec)
        assert result.verdict is Verdict.INSUFFICIENT
        assert any("power" in reason and "units of 'block' would be needed" in reason for reason in result.reasons)


class TestDetection:
    def test_a_wire_is_privileged(self) -> None:
        w = world()
        result = detect(w, w.changed)
        assert result.verdict is Verdict.PRIVILEGED
        assert {row.kind for row in result.controls} == set(Kind) - {Kind.TARGET}

    def test_a_smoke_alarm_is_anomaly_only(self) -> None:
        w = world()
        assert detect(w, w.disturbed).verdict is Verdict.ANOMALY_ONLY

    def test_an_alarm_for_internal_disturbance_alone_is_anomaly_only(self) -> None:
        w = world()
        inner = np.isin(w.kind, (Kind.TARGET, Kind.IMPACT_CONTROL)).astype(float)
        result = detect(w, w.noisy(inner, 0.95))
        assert result.verdict is Verdict.ANOMALY_ONLY
        assert any("fires on impact_control too" in reason for reason in result.reasons)

    def test_an_observer_that_sees_the_input_control_only_is_not_taken_for_specific(self) -> None:
        w = world()
        sees_noise = np.where(w.kind == Kind.INPUT_CONTROL, 0.0, 1.0)
        result = detect(w, w.changed, observers={"sees noise": ObserverPrediction(False, sees_noise)})
        assert result.verdict is Verdict.PRIVILEGED
        assert result.observers[0].score.value == pytest.approx(0.0)

    def test_an_observer_that_is_as_specific_makes_it_public_inference(self) -> None:
        w = world()
        result = detect(w, w.changed, observers={"knows": ObserverPrediction(False, w.changed.astype(float))})
        assert result.verdict is Verdict.PUBLIC_INFERENCE

    def test_the_denier_is_available_not_reported(self) -> None:
        w = world()
        result = detect(w, np.zeros(len(w)), wire(w.changed, "report"))
        assert result.verdict is Verdict.AVAILABLE_NOT_REPORTED

    def test_a_constant_without_a_report_reader_is_insufficient(self) -> None:
        w = world(100)
        result = detect(w, np.zeros(len(w)))
        assert result.verdict is Verdict.INSUFFICIENT
        assert "a constant answer passes any equivalence test" in result.equivalence.refused

    def test_a_coin_that_ignores_the_change_is_no_access(self) -> None:
        w = world(150)
        assert detect(w, w.noisy(np.zeros(len(w)), 0.7)).verdict is Verdict.NO_ACCESS

    def test_no_for_the_target_and_yes_for_controls_is_inverted(self) -> None:
        w = world()
        assert detect(w, w.noisy(1 - w.changed, 0.9)).verdict is Verdict.INVERTED

    def test_a_change_that_shows_in_public_is_public_inference(self) -> None:
        w = world()
        leak = {"leak": ObserverPrediction(True, 0.05 + 0.9 * w.changed)}
        assert detect(w, w.changed, observers=leak).verdict is Verdict.PUBLIC_INFERENCE

    def test_a_calibrated_observer_of_a_rare_change_is_held_to_the_base_rate(self) -> None:
        w = world()
        cautious = {"cautious": ObserverPrediction(True, 0.1 + 0.3 * w.changed)}
        result = detect(w, w.changed, observers=cautious)
        assert result.observers[0].score.value == 1.0
        assert result.verdict is Verdict.PUBLIC_INFERENCE


class TestConfidence:
    def test_knowing_when_it_is_right_beyond_observers_is_privileged(self) -> None:
        w = world()
        right = w.noisy(np.ones(len(w)), 0.7)
        result = sure_of(w, right, np.clip(0.3 + 0.4 * right + w.rng.normal(0, 0.2, len(w)), 0, 1))
        assert result.verdict is Verdict.PRIVILEGED
        assert result.calibration.auroc2_stratified.low > 0.5
        parts = result.calibration
        assert parts.brier.value == pytest.approx(parts.reliability - parts.resolution + parts.uncertainty)

    def test_following_public_difficulty_is_public_inference(self) -> None:
        w = world(48)
        easy = w.noisy(np.zeros(len(w)), 0.5)
        right = np.where(easy == 1, w.noisy(np.ones(len(w)), 0.9), w.noisy(np.ones(len(w)), 0.5))
        difficulty = {"difficulty": ObserverPrediction(False, 0.5 + 0.4 * easy)}
        result = sure_of(w, right, np.clip(0.5 + 0.3 * easy + w.rng.normal(0, 0.05, len(w)), 0, 1), difficulty)
        assert result.verdict is Verdict.PUBLIC_INFERENCE

    def test_surer_where_wrong_is_inverted(self) -> None:
        w = world()
        right = w.noisy(np.ones(len(w)), 0.7)
        assert (
            sure_of(w, right, np.clip(0.7 - 0.4 * right + w.rng.normal(0, 0.1, len(w)), 0, 1)).verdict
            is Verdict.INVERTED
        )

    def test_a_constant_confidence_gets_no_credit(self) -> None:
        w = world(60)
        result = sure_of(w, w.noisy(np.ones(len(w)), 0.7), np.full(len(w), 0.7))
        assert result.verdict is Verdict.INSUFFICIENT
        assert any("constant confidence" in reason for reason in result.reasons)

    def test_confidence_at_random_with_shown_sensitivity_is_no_access(self) -> None:
        w = world(100)
        assert sure_of(w, w.noisy(np.ones(len(w)), 0.6), w.rng.random(len(w))).verdict is Verdict.NO_ACCESS

    def test_always_right_leaves_nothing_to_tell_apart(self) -> None:
        w = world()
        result = sure_of(w, np.ones(len(w)), w.rng.random(len(w)))
        assert result.verdict is Verdict.INSUFFICIENT
        assert any("rarer outcome" in reason for reason in result.reasons)

    def test_knowing_the_trial_kind_is_not_knowing_whether_one_was_right(self) -> None:
        w = world(60)
        right = np.where(w.changed == 1, w.noisy(np.ones(len(w)), 0.3), w.noisy(np.ones(len(w)), 0.8))
        by_kind = np.where(w.changed == 1, 0.3, 0.8) + w.rng.normal(0, 0.02, len(w))
        result = sure_of(w, right, by_kind)
        assert result.calibration.auroc2.low > 0.55, "pooled, it looks like knowledge"
        assert result.verdict is not Verdict.PRIVILEGED


def test_under_y_withheld_only_observers_that_did_not_see_y_count() -> None:
    w = world()
    leak = {"sees": ObserverPrediction(True, 0.05 + 0.9 * w.post), "blind": ObserverPrediction(False, 0.5 + 0 * w.post)}
    frame = table(w, w.post, w.post)
    withheld = judged(ID, frame, leak, wire(w.post), condition=Condition.Y_WITHHELD)
    shown = judged(ID, frame, leak, wire(w.post), condition=Condition.Y_SHOWN)
    assert withheld.verdict is Verdict.PRIVILEGED
    assert [row.name for row in withheld.observers] == ["blind"]
    assert shown.verdict is Verdict.PUBLIC_INFERENCE


def test_equal_inputs_give_equal_results() -> None:
    w = world()
    answer = w.noisy(w.post, 0.8)
    assert identify(w, answer) == identify(w, answer)
