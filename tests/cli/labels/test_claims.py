"""A claim of a label study comes from a file or from options, and never from both."""

from pathlib import Path

import pytest

from firsthand.claims import Bindings, write_claim, write_frozen
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BiofeedbackClaim
from firsthand.cli.labels.claims import claim_from
from firsthand.errors import ClaimError

CLAIM = BiofeedbackClaim(data_sha256="ab" * 32, shots=9, judged_from=3)
BINDINGS = Bindings(weights_sha256="a", tokenizer_sha256="b", config_sha256="c", package_version="0")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_claim(tmp_path / "claim.yaml", CLAIM)
    return tmp_path / "claim.yaml"


def test_options_make_a_claim_and_those_that_say_nothing_leave_the_default() -> None:
    claim, frozen = claim_from(None, {"data_sha256": "x", "shots": 80, "fit": None}, BiofeedbackClaim)
    assert claim == BiofeedbackClaim(data_sha256="x", shots=80)
    assert frozen is None


def test_options_that_do_not_fit_are_told_by_name() -> None:
    with pytest.raises(ClaimError, match="data_sha256"):
        claim_from(None, {"shots": 20}, BiofeedbackClaim)


def test_a_claim_that_is_not_frozen_is_run_as_it_is(path: Path) -> None:
    assert "firsthand labels biofeedback --claim" in path.read_text()
    assert claim_from(path, {"model": None}, BiofeedbackClaim) == (CLAIM, None)


def test_a_frozen_claim_is_found_beside_its_file_or_named_itself(path: Path) -> None:
    frozen = FrozenLabels.of(CLAIM, BINDINGS)
    lock = path.with_suffix(".frozen.json")
    write_frozen(lock, frozen)
    assert claim_from(path, {}, BiofeedbackClaim) == (CLAIM, frozen)
    assert claim_from(lock, {}, BiofeedbackClaim) == (CLAIM, frozen)


def test_options_beside_a_claim_are_refused_by_name(path: Path) -> None:
    with pytest.raises(ClaimError, match="seed, shots would change it"):
        claim_from(path, {"shots": 9, "seed": 0, "model": None}, BiofeedbackClaim)


def test_a_claim_of_another_study_is_refused(path: Path) -> None:
    path.write_text(path.read_text().replace("study: biofeedback", "study: sleep"))
    with pytest.raises(ClaimError, match="study"):
        claim_from(path, {}, BiofeedbackClaim)
