"""The seed's table: every figure in closed form, every verdict known, and a loud failure if scoring regresses."""

import pytest

from firsthand.analysis.results import CapabilityResult
from firsthand.auditing import triangle as module
from firsthand.auditing.triangle import closed_forms, triangle
from firsthand.errors import ClaimError, InstrumentError
from firsthand.organisms import Answers, Mimic, Sensors
from firsthand.vocabulary import Capability, Verdict


def test_the_table_is_the_seeds_table() -> None:
    made = triangle(blocks=100, seed=3)
    rows = {row.name: row for row in made.rows}
    privileged, mimic = rows["privileged reporter"], rows["surface mimic"]
    alarm, always_no = rows["generic anomaly detector"], rows["always-no reporter"]
    assert (privileged.state_accuracy, privileged.target_tpr, privileged.specificity) == (1.0, 1.0, 1.0)
    assert 0.58 < privileged.observer < 0.70
    assert mimic.gap < 0
    assert (alarm.target_tpr, alarm.specificity) == (1.0, 0.0)
    assert (always_no.target_tpr, always_no.specificity, always_no.state_accuracy) == (0.0, 0.0, 0.5)


def test_closed_forms_agree_with_a_long_simulation() -> None:
    made = triangle(blocks=1500, seed=11)
    for row in made.rows:
        assert row.figures[:4] == pytest.approx(closed_forms()[row.name][:4], abs=0.025)


def test_the_four_reporters_get_their_verdicts() -> None:
    def verdicts(results: tuple[CapabilityResult, ...]) -> dict[Capability, Verdict]:
        return {r.capability: r.verdict for r in results}

    found = {row.name: verdicts(row.results) for row in triangle(blocks=60, seed=2).rows}
    assert set(found["privileged reporter"].values()) == {Verdict.PRIVILEGED}
    assert found["surface mimic"][Capability.IDENTIFICATION] is Verdict.PUBLIC_INFERENCE
    assert found["surface mimic"][Capability.DETECTION] is not Verdict.PRIVILEGED
    assert found["generic anomaly detector"][Capability.DETECTION] is Verdict.ANOMALY_ONLY
    assert set(found["always-no reporter"].values()) == {Verdict.INSUFFICIENT}


def test_too_few_blocks_are_refused() -> None:
    with pytest.raises(ClaimError, match="too few"):
        triangle(blocks=5)


def test_a_mimic_that_peeks_makes_the_checks_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeks(self: Mimic, capability: Capability, sensors: Sensors) -> Answers:
        return Answers(6.0 * sensors.site_late)

    monkeypatch.setattr(Mimic, "report", peeks)
    with pytest.raises(InstrumentError, match="surface mimic"):
        triangle(blocks=40)


def test_a_wrong_closed_form_makes_the_checks_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CUE_RELIABILITY", 0.95)
    with pytest.raises(InstrumentError, match="must be"):
        triangle(blocks=40)
