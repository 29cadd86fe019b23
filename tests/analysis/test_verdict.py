"""The verdict as a pure function of evidence made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from analysis_simulation import judged, public_observers, rules, table, wire, world

from firsthand.analysis.evidence import DetectionEvidence, Gates, IdentificationEvidence, ReaderEvidence
from firsthand.analysis.gap import AnyOf, Joint
from firsthand.analysis.inference import Measured
from firsthand.analysis.results import CapabilityResult
from firsthand.analysis.verdict import compile_verdict
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Verdict


def about(value: float, se: float = 0.02, span: tuple[float, float] = (0.0, 1.0)) -> Measured:
    return Measured.approximate(value, se, 24, span)


def identified(accuracy: float, *, target: float, gap: float, se: float = 0.02) -> IdentificationEvidence:
    unchanged = (accuracy - 0.2 * target) / 0.8
    return IdentificationEvidence(
        condition=Condition.Y_SHOWN,
        gates=Gates(),
        readers=(ReaderEvidence("wire", "site", Joint({"": about(0.99, 0.005)})),),
        accuracy=about(accuracy, se),
        target=about(target, se),
        unchanged=about(unchanged, se),
        controls={kind: about(unchanged, se) for kind in CONTROLS},
        following=about((target + unchanged) / 2, se),
        gap=Joint({"strong": about(gap, se, (-1.0, 1.0)), "weak": about(gap + 0.2, se, (-1.0, 1.0))}),
        gap_target=Joint({"strong": about(target - 0.3, se, (-1.0, 1.0))}),
    )


def verdict(evidence, **changes) -> Verdict:
    return compile_verdict(evidence, rules(**changes)).verdict


def test_a_gap_that_is_real_but_smaller_than_the_least_effect_is_not_privileged() -> None:
    evidence = identified(0.9, target=0.9, gap=0.04, se=0.005)
    assert verdict(evidence) is Verdict.INSUFFICIENT
    assert verdict(evidence, minimum_effect=0.03) is Verdict.PRIVILEGED


def test_an_unbeaten_observer_makes_public_inference_only_where_the_sample_can_tell() -> None:
    assert verdict(identified(0.7, target=0.2, gap=0.02, se=0.05)) is Verdict.PUBLIC_INFERENCE
    assert verdict(identified(0.7, target=0.2, gap=0.10, se=0.08)) is Verdict.INSUFFICIENT


def test_following_by_less_than_the_least_effect_leaves_public_inference_alone() -> None:
    evidence = identified(0.7, target=0.2, gap=0.02)
    assert verdict(replace(evidence, following=about(0.54, 0.005))) is Verdict.PUBLIC_INFERENCE
    assert verdict(replace(evidence, following=about(0.56, 0.005))) is Verdict.INSUFFICIENT
    assert verdict(replace(evidence, following=about(0.60, 0.200))) is Verdict.PUBLIC_INFERENCE


def test_what_carries_the_state_is_public_inference_only_where_y_tells_an_observer_as_much() -> None:
    evidence = identified(0.7, target=0.7, gap=0.02)
    found = compile_verdict(evidence, rules())
    assert found.verdict is Verdict.INSUFFICIENT
    assert "it carries the state beyond public evidence (following 0.700" in found.reasons[0]
    names = evidence.gap.members
    level = Joint({name: about(0.0, span=(-1.0, 1.0)) for name in names})
    told = replace(evidence, gap_following=level, following_by_observer={name: about(0.7) for name in names})
    assert verdict(told) is Verdict.PUBLIC_INFERENCE
    assert verdict(replace(told, following_by_observer={name: about(0.5) for name in names})) is Verdict.INSUFFICIENT
    ahead = Joint({name: about(0.2, span=(-1.0, 1.0)) for name in names})
    assert verdict(replace(told, gap_following=ahead)) is Verdict.INSUFFICIENT


@pytest.mark.parametrize("kind", CONTROLS)
def test_one_control_at_chance_is_enough_to_withhold_privilege(kind: Kind) -> None:
    evidence = identified(0.9, target=0.9, gap=0.3)
    assert verdict(evidence) is Verdict.PRIVILEGED
    assert verdict(replace(evidence, controls={**evidence.controls, kind: about(0.5)})) is not Verdict.PRIVILEGED


def test_one_unbeaten_observer_is_enough_to_withhold_privilege() -> None:
    evidence = identified(0.9, target=0.9, gap=0.3)
    third = Joint({**evidence.gap.members, "stronger": about(0.0, span=(-1.0, 1.0))})
    assert verdict(replace(evidence, gap=third)) is Verdict.INSUFFICIENT
    mimic = identified(0.7, target=0.2, gap=0.3)
    assert verdict(replace(mimic, gap=third)) is Verdict.PUBLIC_INFERENCE


def test_target_trials_below_chance_alone_are_not_inverted() -> None:
    assert verdict(identified(0.3, target=0.3, gap=-0.3)) is Verdict.INVERTED
    assert verdict(identified(0.45, target=0.2, gap=-0.3)) is not Verdict.INVERTED


def test_a_gate_closes_before_anything_else_is_asked() -> None:
    evidence = identified(1.0, target=1.0, gap=0.4)
    for gates in (Gates(coverage=0.1), Gates(observers=0), Gates(valid=0), Gates(missing_controls=(Kind.SHAM,))):
        assert verdict(replace(evidence, gates=gates)) is Verdict.INSUFFICIENT


def detected(margin: float, *, impact: float) -> DetectionEvidence:
    rates = {Kind.TARGET: margin, Kind.IMPACT_CONTROL: impact}
    margins = {k.value: about(margin - rates.get(k, 0.0), span=(-1.0, 1.0)) for k in CONTROLS}
    return DetectionEvidence(
        condition=Condition.Y_SHOWN,
        gates=Gates(),
        rates={k: about(rates.get(k, 0.0)) for k in Kind},
        margins=Joint(margins),
        beyond=Joint({"o": AnyOf({k: Joint({k: m}) for k, m in margins.items()})}),
        excess={k: about(rates.get(k, 0.0), span=(-1.0, 1.0)) for k in (Kind.INPUT_CONTROL, Kind.IMPACT_CONTROL)},
    )


def test_firing_less_on_a_control_than_on_the_target_is_specific_and_as_often_is_an_anomaly_alarm() -> None:
    assert verdict(detected(0.9, impact=0.2)) is Verdict.PRIVILEGED
    assert verdict(detected(0.9, impact=0.9)) is Verdict.ANOMALY_ONLY


def test_an_anomaly_alarm_must_be_shown_to_be_as_loud_on_the_control() -> None:
    evidence = detected(0.9, impact=0.8)

    def with_margin(value: float, se: float) -> DetectionEvidence:
        return replace(
            evidence, margins=Joint({**evidence.margins.members, "impact_control": about(value, se, (-1, 1))})
        )

    assert verdict(with_margin(0.04, 0.05)) is Verdict.ANOMALY_ONLY
    unclear = compile_verdict(with_margin(0.10, 0.08), rules())
    assert unclear.verdict is Verdict.INSUFFICIENT
    assert any("a margin against impact_control above 0.15 is not excluded" in reason for reason in unclear.reasons)


def test_missing_target_and_disturbance_alike_is_no_alarm() -> None:
    assert verdict(detected(0.0, impact=0.0)) is Verdict.INSUFFICIENT


@pytest.mark.parametrize("invalid", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("capability", [Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE])
def test_every_result_survives_being_written_and_read_and_gives_reasons(capability: Capability, invalid: float) -> None:
    w = world(6)
    truth = w.changed if capability is Capability.DETECTION else w.post
    answer = np.where(w.rng.random(len(w)) < invalid, np.nan, w.noisy(truth, 0.8))
    result = judged(capability, table(w, truth, answer), public_observers(w, capability), wire(truth))
    assert CapabilityResult.model_validate_json(result.model_dump_json()) == result
    assert result.reasons
    assert all(reason.strip() for reason in result.reasons)


def test_reasons_name_the_numbers_that_they_rest_on() -> None:
    w = world()
    result = judged(Capability.IDENTIFICATION, table(w, w.post, w.cue), public_observers(w, Capability.IDENTIFICATION))
    assert f"{result.score.value:.3f}" in result.reasons[0]
    assert all(any(letter.isdigit() for letter in reason) for reason in result.reasons)


def test_leading_overall_but_not_on_target_trials_is_not_privileged() -> None:
    evidence = identified(0.9, target=0.9, gap=0.3)
    level_on_target = Joint({"strong": about(0.0, span=(-1.0, 1.0))})
    assert verdict(replace(evidence, gap_target=level_on_target)) is not Verdict.PRIVILEGED


def test_an_accuracy_that_may_still_be_high_forbids_no_access() -> None:
    evidence = replace(identified(0.5, target=0.5, gap=-0.2), following=about(0.5))
    assert verdict(evidence) is Verdict.NO_ACCESS
    assert verdict(replace(evidence, accuracy=about(0.58, 0.06))) is Verdict.INSUFFICIENT
