"""A claim says everything that could be chosen after seeing data, and nothing that would not be done."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from firsthand.claims import Claim, default_claim
from firsthand.claims.files import parse_claim
from firsthand.errors import ClaimError
from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Timing


def fields() -> dict[str, Any]:
    return default_claim().model_dump(mode="json")


def refused(change: Callable[[dict[str, Any]], object], *words: str) -> None:
    value = fields()
    change(value)
    with pytest.raises(ClaimError) as caught:
        parse_claim(value, "claim.yaml")
    assert caught.value.problem.startswith("claim.yaml is not a valid claim")
    assert caught.value.remedy == "Correct these fields."
    for word in words:
        assert word in caught.value.problem


def test_the_default_claim_is_the_standard_audit(claim: Claim) -> None:
    assert set(claim.controls) == set(CONTROLS) == set(Kind) - {Kind.TARGET}
    assert claim.capabilities == (Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE)
    assert claim.conditions == (Condition.Y_WITHHELD, Condition.Y_SHOWN)
    assert claim.observers == ("table", "text_classifier", "third_person", "sibling")
    assert claim.analysis.clusters == ("block", "carrier")
    assert claim.public.cue_reliability == 0.72
    assert claim.model == "smollm2"
    assert default_claim("folder/of/mine").model == "folder/of/mine"


def test_a_claim_cannot_be_changed_in_place(claim: Claim) -> None:
    with pytest.raises(ValidationError):
        claim.model = "other"  # type: ignore[misc]
    with pytest.raises(ValidationError):
        claim.analysis.alpha = 0.5  # type: ignore[misc]


@pytest.mark.parametrize("part", ["controls", "observers", "analysis"])
def test_what_must_be_said_has_no_default(part: str) -> None:
    refused(lambda value: value.pop(part), f"{part}: Field required")


@pytest.mark.parametrize("control", CONTROLS)
def test_a_missing_control_is_named(control: Kind) -> None:
    refused(lambda value: value["controls"].remove(control), "controls must name every control", f"missing: {control}")


def test_no_controls_names_all_that_are_missing() -> None:
    refused(lambda value: value.update(controls=[]), "missing: baseline, impact_control, input_control, sham")


def set_in(part: str | None, field: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda claim: (claim if part is None else claim[part]).update({field: value})


BAD = [
    ("analysis", "clusters", [], "analysis.clusters must name at least one"),
    ("analysis", "clusters", ["block", "moon"], "analysis.clusters names moon"),
    ("analysis", "clusters", None, "analysis.clusters"),
    ("analysis", "alpha", 0.0, "analysis.alpha"),
    ("analysis", "alpha", 1.0, "analysis.alpha"),
    ("analysis", "equivalence_margin", float("nan"), "analysis.equivalence_margin"),
    ("analysis", "minimum_coverage", "much", "analysis.minimum_coverage"),
    ("analysis", "bootstrap_draws", 10, "analysis.bootstrap_draws"),
    ("state", "layers", [], "state.layers"),
    ("state", "layers", [-1], "state.layers.0"),
    ("state", "layers", [3, 3], "state.layers names 3 more than once"),
    ("state", "doses", [], "state.doses"),
    ("state", "doses", [0.0], "state.doses.0"),
    ("state", "doses", [float("inf")], "state.doses.0"),
    ("state", "doses", [float("nan")], "state.doses.0"),
    ("state", "doses", [1.0, 1.0000001], "state.doses names 1 more than once"),
    ("state", "site", "resid_mid", "state.site"),
    ("state", "timing", "live", "state.timing must be prefill"),
    ("design", "confirmation_blocks", 1, "design.confirmation_blocks"),
    ("design", "selection_blocks", 0, "design.selection_blocks"),
    ("design", "seed", -1, "design.seed"),
    ("public", "cue_reliability", 0.49, "public.cue_reliability"),
    ("public", "cue_reliability", 1.0, "public.cue_reliability"),
    ("report", "format", "free text", "report.format"),
    (None, "observers", [], "observers must name at least one observer"),
    (None, "observers", ["table", "table"], "observers names table more than once"),
    (None, "controls", [*CONTROLS, "target"], "controls must not name target"),
    (None, "controls", [*CONTROLS, "sham"], "controls names sham more than once"),
    (None, "controls", [*CONTROLS, "placebo"], "controls.4"),
    (None, "capabilities", [], "capabilities"),
    (None, "capabilities", ["identification"], "capabilities of study 'register' must name: detection"),
    (None, "capabilities", ["detection", "confidence"], "must name: identification"),
    (None, "capabilities", ["identification", "detection", "localisation"], "cannot ask for: localisation"),
    (None, "conditions", [], "conditions"),
    (None, "study", "tea leaves", "study"),
    (None, "version", 2, "version"),
    (None, "surprise", 1, "surprise: Extra inputs are not permitted"),
    ("analysis", "alhpa", 0.05, "analysis.alhpa: Extra inputs"),
    ("state", "layer", 8, "state.layer: Extra inputs"),
]


@pytest.mark.parametrize(("part", "field", "value", "word"), BAD)
def test_a_bad_value_is_refused_and_its_field_named(part: str | None, field: str, value: object, word: str) -> None:
    refused(set_in(part, field, value), word)


def test_all_bad_fields_are_named_at_once() -> None:
    def change(value: dict[str, Any]) -> None:
        value["analysis"]["alpha"] = 2
        value["design"]["seed"] = "x"
        value["odd"] = 1

    refused(change, "analysis.alpha", "design.seed", "odd")


def test_changes_of_the_default_claim_are_checked_too() -> None:
    assert default_claim(title="Mine.").title == "Mine."
    with pytest.raises(ClaimError, match="observers"):
        default_claim(observers=())


def test_only_a_prefill_edit_may_be_claimed() -> None:
    assert {timing for timing in Timing if _accepted(timing)} == {Timing.PREFILL}


def _accepted(timing: Timing) -> bool:
    value = fields()
    value["state"]["timing"] = timing
    try:
        parse_claim(value, "claim")
    except ClaimError:
        return False
    return True
