"""A claim of a label study comes from a file or from options, and never from both."""

from pathlib import Path

import pytest
from commands import Command, assert_refused

from firsthand.claims import Bindings, write_claim, write_frozen
from firsthand.claims.freeze import FrozenLabels
from firsthand.claims.labels import BeliefClaim, BiofeedbackClaim, DirectMetaClaim
from firsthand.claims.studies import LABEL_STUDIES
from firsthand.cli.labels.ask import Ask
from firsthand.cli.labels.claims import NOTHING, Draft, claim_from
from firsthand.cli.labels.standard import FROM_DATA
from firsthand.errors import ClaimError

CLAIM = BiofeedbackClaim(data_sha256="ab" * 32, shots=9, judged_from=3, regulated_after=3)
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


def test_an_option_that_leaves_something_out_is_told_from_one_that_says_nothing() -> None:
    fields = {"data_sha256": "x", "reader": None}
    assert claim_from(None, {**fields, "steering": NOTHING}, BeliefClaim)[0].steering is None
    assert claim_from(None, {**fields, "steering": None}, BeliefClaim)[0].steering is not None


def test_before_the_data_are_read_a_claim_says_what_its_file_options_or_defaults_say(path: Path) -> None:
    options = {"shots": 70, "fit": None}
    assert Draft.of(None, options, BiofeedbackClaim).value("shots") == 70
    assert Draft.of(None, options, BiofeedbackClaim).value("fit") == 900
    assert Draft.of(None, {}, DirectMetaClaim).value("models") is None
    assert Draft.of(path, {}, BiofeedbackClaim).value("shots") == 9


def test_what_data_suggest_gives_way_to_options_and_to_a_claim(path: Path) -> None:
    found = {"data_sha256": CLAIM.data_sha256, "shots": 50, "fit": 300}
    made = Draft.of(None, {"shots": 70, "fit": None}, BiofeedbackClaim).settled(found)
    assert (made.shots, made.fit) == (70, 300)
    assert Draft.of(path, {}, BiofeedbackClaim).settled(found) == CLAIM


def test_a_claim_about_other_data_is_refused(path: Path) -> None:
    with pytest.raises(ClaimError, match="not those that the claim names: data_sha256 is ff, and the claim has abab"):
        Draft.of(path, {}, BiofeedbackClaim).settled({"data_sha256": "ff"})


def test_every_label_study_has_a_standard_claim() -> None:
    assert set(FROM_DATA) == set(LABEL_STUDIES)


def test_commands_that_repeat_a_study_quote_what_they_name_and_leave_out_what_was_not_said() -> None:
    ask = Ask(None, {}, Path("runs/my run"), dtype="bfloat16")
    again, verify, report = ask.commands("belief", {"data": Path("a b.csv"), "text": None, "longest": 64})
    assert again == (
        "firsthand labels belief --claim 'runs/my run/claim.frozen.json' --data 'a b.csv' --longest 64 "
        "--dtype bfloat16 --out NEW_FOLDER"
    )
    assert (verify, report) == ("firsthand verify 'runs/my run'", "firsthand report 'runs/my run'")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--study", "biofeedback"), ("made on labelled texts", "--data FILE")),
        (("--study", "belief"), ("made on facts", "--data FILE")),
        (("--study", "confidence"), ("made on questions", "--data FILE")),
        (("--study", "direct-meta"), ("--model names smollm2 alone", "--model smollm2,gemma3-270m")),
        (("--study", "register", "--data", "x.csv"), ("no data of yours", "Leave --data out")),
        (("--study", "sleep"), ("no study 'sleep'", "biofeedback")),
    ],
)
def test_a_claim_that_cannot_be_made_is_told_in_words(
    firsthand: Command, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    path = tmp_path / "claim.yaml"
    assert_refused(firsthand("claim", "new", path, *extra), *words)
    assert not path.exists()
