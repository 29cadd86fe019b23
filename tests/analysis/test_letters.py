"""Reporters whose answers hang on letters, on the cue or on where the change was looked for."""

import numpy as np
import pytest
from analysis_simulation import World, judged, public_observers, table, wire, world

from firsthand.analysis import ObserverPrediction
from firsthand.vocabulary import Capability, Kind, Verdict

ID, DET, CONF = Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE


def of_block(w: World, *, except_blocks: int = 0) -> np.ndarray:
    """What a fixed letter means: one answer a block, but any answer in the last few blocks."""
    answer = w.rng.integers(0, 2, w.block.max() + 1)[w.block].astype(float)
    return np.where(w.block < except_blocks, w.noisy(answer, 0.5), answer)


@pytest.mark.parametrize("capability", [ID, DET])
@pytest.mark.parametrize("excepted", [0, 30])
def test_one_answer_throughout_each_block_is_a_constant(capability: Capability, excepted: int) -> None:
    w = world(100)
    truth = w.post if capability is ID else w.changed
    frame = table(w, truth, of_block(w, except_blocks=excepted), contrast=np.zeros(len(w)))
    result = judged(capability, frame, public_observers(w, capability), wire(truth))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "of 100 blocks every valid answer is the same" in result.equivalence.refused
    there = judged(capability, frame, public_observers(w, capability), wire(truth, "report"))
    assert there.verdict is Verdict.AVAILABLE_NOT_REPORTED


def test_one_letter_throughout_each_block_is_a_constant_though_its_meaning_varies() -> None:
    w = world(100)
    frame = table(w, w.post, w.noisy(w.post, 0.5)).assign(surface=np.where(w.block % 2 == 1, "K", "M"))
    result = judged(ID, frame, public_observers(w, ID), wire(w.post))
    assert result.verdict is Verdict.INSUFFICIENT
    assert "in 100 of 100 blocks every valid code is the same" in result.equivalence.refused


def test_one_letter_in_fewer_than_half_of_the_blocks_is_no_constant() -> None:
    w = world(100)
    frame = table(w, w.post, of_block(w, except_blocks=60), contrast=np.zeros(len(w)))
    assert judged(ID, frame, public_observers(w, ID), wire(w.post)).verdict is Verdict.NO_ACCESS


def test_one_confidence_throughout_each_block_is_a_constant() -> None:
    w = world(100)
    right = w.noisy(np.ones(len(w)), 0.7)
    result = judged(
        CONF, table(w, right, right, probability=w.rng.random(100)[w.block]), sure_observers(w), wire(right)
    )
    assert result.verdict is Verdict.INSUFFICIENT
    assert "in 97 of 97 blocks every valid confidence is the same" in result.equivalence.refused
    assert result.score.value == 0.5


def test_certainty_in_blocks_without_an_error_is_no_constant() -> None:
    w = world(48)
    right = np.where(w.block % 5 == 0, w.noisy(np.ones(len(w)), 0.5), 1.0)
    result = judged(CONF, table(w, right, right, probability=right), sure_observers(w), wire(right))
    assert result.verdict is Verdict.PRIVILEGED


@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_reader_of_the_state_is_not_public_inference(seed: int) -> None:
    w = world(24, seed=seed)
    result = judged(ID, table(w, w.post, w.noisy(w.post, 0.7)), public_observers(w, ID), wire(w.post))
    assert result.verdict in (Verdict.INSUFFICIENT, Verdict.PRIVILEGED)
    if seed == 0:
        assert any("it carries the state beyond public evidence (following 0." in reason for reason in result.reasons)


def by_cue(w: World, answer: np.ndarray, where: str = "site"):
    frame = table(w, w.changed, answer).assign(stratum=np.where(w.cue == w.pre, "cue right", "cue wrong"))
    return judged(DET, frame, public_observers(w, DET), wire(w.changed, where))


@pytest.mark.parametrize("cue", [0.5, 0.72, 0.9])
@pytest.mark.parametrize("sign", [1, -1])
def test_what_one_stratum_undoes_in_another_is_never_an_absence(cue: float, sign: int) -> None:
    w = world(24, cue=cue)
    result = by_cue(w, ((w.post != w.cue) == (sign == 1)).astype(float))
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.score.value == pytest.approx(0.0)


def test_the_late_state_against_the_cue_is_no_detection() -> None:
    w = world(48)
    against_the_cue = (w.post != w.cue).astype(float)
    plain = judged(DET, table(w, w.changed, against_the_cue), public_observers(w, DET), wire(w.changed))
    assert plain.verdict is Verdict.PRIVILEGED, "without strata it looks like detection"
    result = by_cue(w, against_the_cue)
    assert result.verdict is Verdict.INSUFFICIENT
    assert result.score.value == pytest.approx(0.0)
    assert "in one stratum, undone in another" in result.equivalence.refused
    assert "balanced over strata" in " ".join(by_cue(w, w.changed).reasons)


@pytest.mark.parametrize("seed", range(5))
def test_balancing_over_strata_leaves_clear_reporters_alone(seed: int) -> None:
    w = world(24, seed=seed)
    assert by_cue(w, w.changed).verdict is Verdict.PRIVILEGED
    assert by_cue(w, w.disturbed).verdict is Verdict.ANOMALY_ONLY
    assert by_cue(w, np.zeros(len(w)), "report").verdict is Verdict.AVAILABLE_NOT_REPORTED


def test_an_observer_is_balanced_over_strata_as_the_report_is() -> None:
    w = world(24)
    against = {"against": ObserverPrediction(False, 0.1 + 0.8 * (w.post != w.cue))}
    frame = table(w, w.changed, w.changed)
    plain = judged(DET, frame, against, wire(w.changed))
    split = judged(DET, frame.assign(stratum=w.cue == w.pre), against, wire(w.changed))
    assert plain.observers[0].score.value > 0.3
    assert split.observers[0].score.value == pytest.approx(0.0)


def test_a_stratum_without_targets_is_left_out_of_both_sides() -> None:
    w = world(24)
    stratum = np.where((w.kind == Kind.SHAM) & (w.block % 2 == 0), "sham only", "all")
    answer = np.where(stratum == "sham only", 1.0, w.changed)
    frame = table(w, w.changed, answer).assign(stratum=stratum)
    result = judged(DET, frame, public_observers(w, DET), wire(w.changed))
    sham = next(row for row in result.controls if row.kind is Kind.SHAM)
    assert sham.margin.value == 1.0
    assert sham.false_alarms.value == 0.5, "rates are shown plain"


def sure_observers(w: World) -> dict[str, ObserverPrediction]:
    return public_observers(w, CONF)


def logistic(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


@pytest.mark.parametrize("known", ["contrast", "probability"])
def test_a_letter_bias_between_blocks_does_not_hide_confidence(known: str) -> None:
    w = world(48)
    right = w.noisy(np.ones(len(w)), 0.7)
    contrast = 0.4 * right + w.rng.normal(0, 1.4, 48)[w.block]
    seen = contrast if known == "contrast" else np.full(len(w), np.inf)
    frame = table(w, right, (contrast > 0).astype(float), probability=logistic(contrast), contrast=seen)
    result = judged(CONF, frame, sure_observers(w), wire(right))
    assert result.score.value > 0.85
    assert result.score.low > 0.8
    assert result.verdict is Verdict.PRIVILEGED
    stated = result.calibration.brier.value
    assert stated == pytest.approx(np.mean((logistic(contrast) - right) ** 2)), "of the stated probability"


def test_a_letter_bias_alone_is_worth_one_half() -> None:
    w = world(100)
    ease = w.rng.beta(2, 1, 100)[w.block]
    right = (w.rng.random(len(w)) < ease).astype(float)
    contrast = 4.0 * ease + w.rng.normal(0, 1.4, 100)[w.block] + w.rng.normal(0, 0.1, len(w))
    frame = table(w, right, (contrast > 0).astype(float), probability=logistic(contrast))
    result = judged(CONF, frame, sure_observers(w), wire(right))
    assert result.score.value == pytest.approx(0.5, abs=0.05)
    assert result.verdict is Verdict.NO_ACCESS


def test_invalid_confidence_scored_as_right_or_wrong_bounds_the_area() -> None:
    w = world(48)
    right = w.noisy(np.ones(len(w)), 0.7)
    contrast = 0.4 * right + w.rng.normal(0, 1.4, 48)[w.block] + w.rng.normal(0, 0.3, len(w))
    answer = np.where(np.arange(len(w)) % 7 == 0, np.nan, 1.0)
    result = judged(CONF, table(w, right, answer, probability=logistic(contrast)), sure_observers(w), wire(right))
    assert result.score_worst_case < result.score.value < result.score_best_case


def test_a_centred_observer_counts_where_that_helps_it() -> None:
    w = world(48)
    right = w.noisy(np.ones(len(w)), 0.7)
    drifting = logistic(0.4 * right + w.rng.normal(0, 1.4, 48)[w.block])
    frame = table(w, right, np.ones(len(w)), probability=drifting)
    result = judged(CONF, frame, {"drifting": ObserverPrediction(False, drifting)}, wire(right))
    assert result.gap.value == pytest.approx(0.0)
    assert result.verdict is Verdict.PUBLIC_INFERENCE


@pytest.mark.parametrize("sign", [1, -1])
def test_confidence_that_a_public_observer_inverts_as_well_is_not_inverted(sign: int) -> None:
    w = world(48)
    easy = w.noisy(np.zeros(len(w)), 0.5)
    right = np.where(easy == 1, w.noisy(np.ones(len(w)), 0.9), w.noisy(np.ones(len(w)), 0.5))
    hard = np.clip(0.5 - 0.3 * easy + w.rng.normal(0, 0.05, len(w)), 0.01, 0.99)
    frame = table(w, right, (hard > 0.5).astype(float), probability=hard)
    result = judged(CONF, frame, {"difficulty": ObserverPrediction(False, 0.5 - sign * 0.4 * easy)}, wire(right))
    assert result.verdict is Verdict.INSUFFICIENT
    assert any("not shown to be further from one half than: difficulty" in reason for reason in result.reasons)
    assert judged(CONF, frame, sure_observers(w), wire(right)).verdict is Verdict.INVERTED
