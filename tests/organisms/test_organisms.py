"""Each organism does what its name says, with sensors alone."""

from dataclasses import fields, replace

import numpy as np
import pytest

from firsthand.organisms import SCRIPTED, Constant, Denier, Mimic, Organism, Sensors, SmokeAlarm, Wire
from firsthand.organisms.base import GAIN
from firsthand.vocabulary import Capability, Verdict

STATE, CHANGE = Capability.IDENTIFICATION, Capability.DETECTION
PRE = np.array([0, 1, 0, 1, 0, 1, 0, 1])
POST = np.array([0, 1, 1, 0, 0, 1, 0, 1])  # trials 2 and 3 are targets
SENSORS = Sensors(
    cue=np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]),
    second_option=np.array([0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0]),
    anomaly=np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
    site_early=2.0 * PRE - 1.0,
    site_late=2.0 * POST - 1.0,
    disturbance=np.array([0.0, 9e-6, 0.3, 0.2, 0.1, 0.4, 0.25, 2e-5]),
)


def said(organism: Organism, capability: Capability, sensors: Sensors = SENSORS) -> list[int]:
    return (organism.report(capability, sensors).contrast > 0).astype(int).tolist()


def test_no_organism_is_given_state_or_kind() -> None:
    assert {field.name for field in fields(Sensors)} == {
        "cue", "second_option", "anomaly", "site_early", "site_late", "disturbance",
    }  # fmt: skip


def test_the_wire_reports_what_the_site_holds() -> None:
    assert said(Wire(), STATE) == POST.tolist()
    assert said(Wire(), CHANGE) == (PRE != POST).astype(int).tolist()
    answers = Wire().report(STATE, SENSORS)
    assert answers.reading is not None
    assert np.array_equal(answers.contrast, GAIN * answers.reading)


def test_the_wire_is_as_sure_as_its_reading_is_clear() -> None:
    weak = replace(SENSORS, site_late=0.1 * SENSORS.site_late)
    assert np.allclose(np.abs(Wire().report(STATE, weak).contrast), 0.1 * GAIN)


def test_the_mimic_repeats_the_cue_and_calls_disagreement_a_change() -> None:
    assert said(Mimic(), STATE) == SENSORS.cue.astype(int).tolist()
    assert said(Mimic(), CHANGE) == (SENSORS.cue != SENSORS.second_option).astype(int).tolist()
    assert Mimic().report(STATE, SENSORS).reading is None


def test_a_matching_mimic_follows_the_cue_as_often_as_it_is_told_to() -> None:
    many = Sensors(*(np.resize(getattr(SENSORS, field.name), 20_000) for field in fields(Sensors)))
    for share in (0.0, 0.72, 1.0):
        followed = np.mean(np.array(said(Mimic(share, seed=3), STATE, many)) == many.cue)
        assert abs(followed - share) <= 4 * np.sqrt(share * (1 - share) / 20_000)
    assert said(Mimic(0.5, 1), STATE, many) == said(Mimic(0.5, 1), STATE, many) != said(Mimic(0.5, 2), STATE, many)


def test_the_smoke_alarm_sounds_at_any_disturbance_and_names_the_cue() -> None:
    assert said(SmokeAlarm(), CHANGE) == [0, 0, 1, 1, 1, 1, 1, 1]
    assert said(SmokeAlarm(threshold=0.22), CHANGE) == [0, 0, 1, 0, 0, 1, 1, 0]
    assert said(SmokeAlarm(), STATE) == SENSORS.cue.astype(int).tolist()


def test_the_denier_has_the_wires_reading_and_says_no() -> None:
    for capability in (STATE, CHANGE):
        denied, wired = Denier().report(capability, SENSORS), Wire().report(capability, SENSORS)
        assert (denied.contrast == -GAIN).all()
        assert np.array_equal(denied.reading, wired.reading)


def test_the_constant_has_nothing_behind_it() -> None:
    for capability in Capability:
        answers = Constant().report(capability, SENSORS)
        assert (answers.contrast == -GAIN).all()
        assert answers.reading is None


ALL = [field.name for field in fields(Sensors)]
USED = {
    "wire": {"site_early", "site_late"},
    "mimic": {"cue", "second_option"},
    "smoke alarm": {"cue", "disturbance"},
    "denier": set(),
    "constant": set(),
}


@pytest.mark.parametrize("organism", SCRIPTED, ids=lambda organism: organism.name)
@pytest.mark.parametrize("sensor", ALL)
def test_the_report_of_each_hangs_on_its_own_sensors_only(organism: Organism, sensor: str) -> None:
    turned = 1.0 - getattr(SENSORS, sensor) if not sensor.startswith("site") else -getattr(SENSORS, sensor)
    other = replace(SENSORS, **{sensor: turned})
    moved = any(said(organism, capability) != said(organism, capability, other) for capability in (STATE, CHANGE))
    assert moved == (sensor in USED[organism.name])


def test_the_panel_holds_every_kind_with_the_verdict_that_it_must_get() -> None:
    expected = {organism.name: organism.expected for organism in SCRIPTED}
    assert expected == {
        "wire": {STATE: Verdict.PRIVILEGED, CHANGE: Verdict.PRIVILEGED},
        "mimic": {STATE: Verdict.PUBLIC_INFERENCE},
        "smoke alarm": {CHANGE: Verdict.ANOMALY_ONLY},
        "denier": {CHANGE: Verdict.AVAILABLE_NOT_REPORTED},
        "constant": {STATE: Verdict.INSUFFICIENT, CHANGE: Verdict.INSUFFICIENT},
    }


@pytest.mark.parametrize("organism", SCRIPTED, ids=lambda organism: organism.name)
def test_every_report_has_one_finite_answer_a_trial(organism: Organism) -> None:
    for capability in (STATE, CHANGE):
        answers = organism.report(capability, SENSORS)
        assert answers.contrast.shape == (len(SENSORS),)
        assert np.isfinite(answers.contrast).all()
        assert (answers.contrast != 0).all()
