"""Known ways in which this measurement goes wrong, each with the right outcome."""

import numpy as np
import pandas as pd
import pytest
from analysis_simulation import judged, public_observers, rules, table, wire, world

from firsthand.analysis import ObserverPrediction, Reading, judge
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Verdict

ID, DET = Capability.IDENTIFICATION, Capability.DETECTION


def identify(w, frame, readers=None, spec=None):
    return judged(ID, frame, public_observers(w, ID), readers or wire(w.post), spec=spec)


def test_low_coverage_is_insufficient_and_not_a_no() -> None:
    w = world()
    result = judged(DET, table(w, w.changed, 0 * w.changed, coverage=0.09), public_observers(w, DET), wire(w.changed))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "9.0%" in result.reasons[0]


def test_coverage_lost_on_one_kind_alone_closes_the_gate_too() -> None:
    w = world()
    result = identify(w, table(w, w.post, w.post, coverage=np.where(w.changed == 1, 0.1, 0.95)))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "on target trials" in result.reasons[0]


def test_invalid_answers_are_left_out_and_never_counted_as_no() -> None:
    w = world()
    answer = np.where(w.kind == Kind.BASELINE, np.nan, 1.0)
    result = judged(DET, table(w, w.changed, answer), public_observers(w, DET), wire(w.changed))
    baseline = next(row for row in result.kinds if row.kind is Kind.BASELINE)
    assert baseline.invalid_rate == 1.0
    assert (baseline.rate.low, baseline.rate.high, baseline.rate.n_trials) == (0.0, 1.0, 0)
    assert result.verdict is Verdict.INSUFFICIENT


def test_a_few_invalid_answers_leave_a_clear_verdict_alone() -> None:
    w = world()
    answer = w.post.copy()
    answer[::40] = np.nan
    result = identify(w, table(w, w.post, answer))
    assert result.verdict is Verdict.PRIVILEGED
    assert result.score_worst_case < result.score.value == result.score_best_case == 1.0


def test_a_verdict_that_hangs_on_invalid_answers_is_insufficient() -> None:
    w = world()
    answer = np.where((w.kind == Kind.TARGET) & (w.rng.random(len(w)) < 0.8), np.nan, w.post)
    result = identify(w, table(w, w.post, answer))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "invalid decide the verdict" in result.reasons[0]


def test_deterministic_repeats_count_once() -> None:
    w = world(24)
    frame = table(w, w.post, w.noisy(w.post, 0.62)).assign(input_hash=[f"h{i}" for i in range(len(w))])
    copies = pd.concat([frame.assign(block=frame["block"] + 100 * k) for k in range(20)], ignore_index=True)
    copies["trial_id"] = [f"t{i}" for i in range(len(copies))]
    many = {
        n: ObserverPrediction(o.sees_output, np.tile(o.probability, 20)) for n, o in public_observers(w, ID).items()
    }
    once = identify(w, frame)
    repeated = judged(ID, copies, many, {"wire": Reading("site", np.tile(2 * w.post - 1, 20))})
    assert repeated.repeats_collapsed == 19 * len(w)
    assert repeated.score == once.score
    assert repeated.verdict is once.verdict


def test_sampled_repeats_that_differ_make_their_input_a_cluster() -> None:
    w = world(24)
    hashes = [f"h{i // 20}" for i in range(len(w))]
    tendency = np.tile([0.95, 0.3], 6)[np.arange(len(w)) // 20]
    answer = np.where(w.rng.random(len(w)) < tendency, w.post, 1 - w.post)
    frame = table(w, w.post, answer).assign(input_hash=hashes)
    result = identify(w, frame)
    assert result.score.cluster == "input_hash"
    assert result.score.units == 12


def test_guessing_the_commoner_state_is_worth_one_half() -> None:
    w = world(60)
    truth = np.where(w.rng.random(len(w)) < 0.6, 1.0, w.post)
    result = judged(ID, table(w, truth, np.ones(len(w))), public_observers(w, ID), wire(truth))
    assert truth.mean() > 0.75
    assert result.score.value == 0.5
    assert result.verdict is Verdict.INSUFFICIENT


def test_a_letter_bias_that_hides_the_state_is_reported_and_never_no_access() -> None:
    w = world(100)
    letter = w.rng.integers(0, 2, (100, 5))[w.block, np.arange(len(w)) % 10 // 2]
    contrast = np.where(letter == 1, 4.0, -4.0) + 0.8 * (2 * w.post - 1) + w.rng.normal(0, 0.3, len(w))
    result = identify(w, table(w, w.post, letter.astype(float), contrast=contrast))
    assert result.contrast.low > 0
    assert result.contrast_following.value == pytest.approx(1.6, abs=0.2)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "logit contrast does" in result.equivalence.refused


def test_one_code_given_always_is_constant_though_its_meaning_varies() -> None:
    w = world(100)
    meaning = w.rng.integers(0, 2, 100)[w.block].astype(float)
    frame = table(w, w.post, meaning, contrast=np.zeros(len(w))).assign(surface="K")
    result = identify(w, frame)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "the code 'K'" in result.equivalence.refused
    varied = identify(w, frame.assign(surface=np.where(meaning == 1, "K", "M")))
    assert varied.verdict is Verdict.INSUFFICIENT, "one meaning throughout a block is constant as well"
    assert "in 100 of 100 blocks" in varied.equivalence.refused
    by_kind = w.rng.integers(0, 2, (100, 5))[w.block, np.arange(len(w)) % 10 // 2].astype(float)
    frame = table(w, w.post, by_kind, contrast=np.zeros(len(w)))
    assert identify(w, frame.assign(surface=np.where(by_kind == 1, "K", "M"))).verdict is Verdict.NO_ACCESS


def test_an_impact_control_that_did_not_match_supports_nothing_privileged() -> None:
    w = world()
    matched = np.where(w.kind == Kind.IMPACT_CONTROL, w.block % 2 == 0, True)
    result = identify(w, table(w, w.post, w.post).assign(impact_matched=matched))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "only 50%" in result.reasons[0]
    mimic = identify(w, table(w, w.post, w.cue).assign(impact_matched=matched))
    assert mimic.verdict is Verdict.PUBLIC_INFERENCE


def test_a_required_control_without_trials_is_insufficient() -> None:
    w = world()
    rows = w.kind != Kind.SHAM
    frame = table(w, w.post, w.post)[rows].reset_index(drop=True)
    observers = {"guess": ObserverPrediction(False, np.full(len(frame), 0.5))}
    result = judged(ID, frame, observers, {"wire": Reading("site", (2 * w.post - 1)[rows])})
    assert result.verdict is Verdict.INSUFFICIENT
    assert "sham" in result.reasons[0]


def test_a_claim_without_all_controls_cannot_be_privileged() -> None:
    w = world()
    some = tuple(kind for kind in CONTROLS if kind is not Kind.IMPACT_CONTROL)
    frame, observers = table(w, w.post, w.post), public_observers(w, ID)
    result = judge(ID, Condition.Y_SHOWN, frame, observers, wire(w.post), rules(), some)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "impact_control" in result.reasons[0]


def test_without_an_observer_in_the_condition_nothing_is_concluded() -> None:
    w = world()
    seeing = {"sees": ObserverPrediction(True, np.full(len(w), 0.5))}
    frame = table(w, w.post, w.post)
    result = judged(ID, frame, seeing, wire(w.post), condition=Condition.Y_WITHHELD)
    assert result.verdict is Verdict.INSUFFICIENT
    assert "no observer" in result.reasons[0]


def test_a_coarser_cluster_column_widens_the_interval() -> None:
    w = world(48)
    frame = table(w, w.post, w.cue).assign(carrier=w.block % 6)
    fine, both = identify(w, frame), identify(w, frame, spec=rules(clusters=("block", "carrier")))
    assert both.score.high - both.score.low >= fine.score.high - fine.score.low
    assert both.score.p >= fine.score.p
