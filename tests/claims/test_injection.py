"""Claims of injection studies: what cannot be run is refused, and a frozen claim is held to what it said."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from firsthand.claims import (
    Bindings,
    Claim,
    FrozenClaim,
    FrozenInjection,
    InjectionClaim,
    Question,
    lock_path,
    read_frozen,
    write_claim,
    write_frozen,
)
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.files import parse_injection_claim, read_any_claim, read_claim, read_injection_claim
from firsthand.claims.injection import EVERY, USUAL
from firsthand.errors import ClaimError

NEEDING = ("confidence", "transfer", "lifted", "open", "visible")  # go on from detection
WORDS = ("apple", "Zurich", "the sea")


@pytest.fixture
def study() -> InjectionClaim:
    return InjectionClaim(concepts=WORDS)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"concepts": ()}, "concepts must hold at least one"),
        ({"concepts": ("sea", "sea")}, "concepts"),
        ({"concepts": ("sea", "Sea")}, "concepts"),
        ({"layers": ()}, "layers must hold at least one"),
        ({"layers": (-1,)}, "layers"),
        ({"layers": (3, 3)}, "layers"),
        ({"doses": ()}, "doses must hold at least one"),
        ({"doses": (0.0,)}, "doses"),
        ({"doses": (-1.0,)}, "doses"),
        ({"doses": (float("inf"),)}, "doses"),
        ({"doses": (float("nan"),)}, "doses"),
        ({"doses": (1.0, 1)}, "doses"),
        ({"options": ()}, "options must hold at least one"),
        ({"options": (4,)}, "options"),
        ({"options": (2, 2)}, "options"),
        ({"framings": ()}, "framings must hold at least one"),
        ({"framings": ("song",)}, "framings"),
        ({"questions": ()}, "questions must hold at least one"),
        ({"questions": ("mood",)}, "questions"),
        ({"questions": ("detection", "detection")}, "questions"),
        ({"questions": ("confidence",)}, "confidence need detection"),
        ({"questions": ("transfer", "lifted", "strength")}, "lifted, transfer need detection"),
        ({"questions": ("open",)}, "open need detection"),
        ({"samples": 0}, "samples"),
        ({"samples": 101}, "samples"),
        ({"recipe": "magic"}, "recipe"),
        ({"voices": 0}, "voices"),
        ({"delay": 0}, "delay"),
        ({"delay": 9}, "delay"),
        ({"sentences": 1}, "sentences"),
        ({"sentences": 11}, "sentences"),
        ({"list_length": 1}, "list_length"),
        ({"list_length": 9}, "list_length"),
        ({"seed": -1}, "seed"),
        ({"study": "register"}, "study"),
        ({"version": 2}, "version"),
        ({"colour": "red"}, "colour"),
        ({"analysis": AnalysisSpec(clusters=("trial_id",))}, "must be \\[concept\\]"),
        ({"analysis": AnalysisSpec(clusters=("concept", "voice"))}, "must be \\[concept\\]"),
    ],
)
def test_what_cannot_be_run_is_refused_by_the_name_of_its_field(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ClaimError, match=words) as caught:
        parse_injection_claim({"concepts": WORDS, **fields}, "the claim")
    assert caught.value.exit_code == 2


def test_only_concepts_have_to_be_given() -> None:
    with pytest.raises(ClaimError, match="concepts: Field required"):
        parse_injection_claim({}, "the claim")
    study = parse_injection_claim({"concepts": list(WORDS)}, "the claim")
    assert study.questions == USUAL
    assert set(USUAL) < set(EVERY) == set(Question) - {Question.OPEN}
    assert study.analysis.clusters == ("concept",)


@pytest.mark.parametrize("question", [q for q in Question if q not in NEEDING])
def test_every_other_question_can_be_asked_alone(question: Question) -> None:
    assert InjectionClaim(concepts=WORDS, questions=(question,)).questions == (question,)


@pytest.mark.parametrize(
    "fields",
    [
        {"concepts": ("", "sea")},
        {"concepts": ("the {concept}", "sea")},
        {"pushes": ("Think of the weather.",)},
    ],
)
def test_what_files_may_not_hold_a_claim_may_not_either(fields: dict[str, Any]) -> None:
    with pytest.raises(ClaimError):
        parse_injection_claim({"concepts": WORDS, **fields}, "the claim")


def test_a_claim_does_not_change(study: InjectionClaim) -> None:
    with pytest.raises(ValidationError):
        study.seed = 1  # type: ignore[misc]


CONCEPT = st.text(st.characters(categories=("Ll", "Lu"), max_codepoint=0x24F), min_size=1, max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    concepts=st.lists(CONCEPT, min_size=1, max_size=6, unique_by=str.casefold),
    doses=st.lists(st.integers(1, 400).map(lambda n: n / 8), min_size=1, unique=True),
    layers=st.none() | st.lists(st.integers(0, 99), min_size=1, unique=True),
    questions=st.lists(st.sampled_from(Question), unique=True),
    seed=st.integers(0, 2**40),
)
def test_any_claim_is_read_back_the_same(
    tmp_path: Path,
    concepts: list[str],
    doses: list[float],
    layers: list[int] | None,
    questions: list[Question],
    seed: int,
) -> None:
    study = InjectionClaim(
        concepts=tuple(concepts),
        doses=tuple(doses),
        layers=None if layers is None else tuple(layers),
        questions=(Question.DETECTION, *(q for q in questions if q is not Question.DETECTION)),
        seed=seed,
    )
    path = tmp_path / "claim.yaml"
    path.unlink(missing_ok=True)
    write_claim(path, study)
    assert read_injection_claim(path) == study
    assert read_any_claim(path) == study


def test_a_written_claim_says_how_it_is_run(tmp_path: Path, study: InjectionClaim) -> None:
    write_claim(tmp_path / "claim.yaml", study)
    text = (tmp_path / "claim.yaml").read_text()
    assert "firsthand inject --claim" in text
    assert "firsthand audit" not in text
    with pytest.raises(ClaimError, match="exists already"):
        write_claim(tmp_path / "claim.yaml", study)


def test_own_wordings_and_pushes_are_read_back_the_same(tmp_path: Path) -> None:
    from firsthand.studies.injection.built_in import built_in

    own = tuple(w.model_dump(mode="json", exclude_none=True) for w in built_in(options=2)[:2])
    study = InjectionClaim(concepts=WORDS, wordings=own, pushes=("Mind {concept}: all of it.",))
    write_claim(tmp_path / "claim.yaml", study)
    assert read_injection_claim(tmp_path / "claim.yaml") == study


def test_a_claim_is_read_as_that_of_the_study_it_names(tmp_path: Path, claim: Claim, study: InjectionClaim) -> None:
    for name, written in (("register", claim), ("injection", study)):
        path = tmp_path / f"{name}.yaml"
        write_claim(path, written)
        assert read_any_claim(path) == written
        assert type(read_any_claim(path)) is type(written)
    with pytest.raises(ClaimError, match="study"):
        read_claim(tmp_path / "injection.yaml")
    with pytest.raises(ClaimError, match="study"):
        read_injection_claim(tmp_path / "register.yaml")


@pytest.mark.parametrize("content", ["", "just words", "study: [injection", "study: sleep\nconcepts: [sea]"])
def test_a_file_that_holds_no_claim_of_any_study_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text(content)
    with pytest.raises(ClaimError, match=r"claim\.yaml"):
        read_any_claim(path)
    with pytest.raises(ClaimError, match="does not exist"):
        read_any_claim(tmp_path / "nowhere.yaml")


def test_errors_in_a_file_name_file_and_field(tmp_path: Path) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text(yaml.safe_dump({"study": "injection", "concepts": ["sea"], "doses": [-1.0], "voices": 0}))
    with pytest.raises(ClaimError, match=r"claim\.yaml(.|\n)*doses\.0(.|\n)*voices"):
        read_any_claim(path)


def test_a_frozen_claim_is_read_back_the_same(tmp_path: Path, study: InjectionClaim, bindings: Bindings) -> None:
    path = lock_path(tmp_path / "claim.yaml")
    frozen = FrozenInjection.of(study, bindings)
    write_frozen(path, frozen)
    again = read_frozen(path, FrozenInjection)
    assert again == frozen
    again.refuse_if_changed(study, bindings)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("seed", 1, r"claim\.seed was 0, is 1"),
        ("concepts", ("apple", "Zurich", "sand"), r"claim\.concepts was"),
        ("doses", (1.0,), r"claim\.doses was"),
        ("full_grid", True, r"claim\.full_grid was false, is true"),
        ("pushes", ("{concept}!",), r"claim\.pushes was null"),
    ],
)
def test_a_claim_that_was_changed_after_freezing_is_refused_by_its_field(
    study: InjectionClaim, bindings: Bindings, field: str, value: object, words: str
) -> None:
    frozen = FrozenInjection.of(study, bindings)
    with pytest.raises(ClaimError, match=words):
        frozen.refuse_if_changed(study.model_copy(update={field: value}), bindings)


def test_another_model_is_refused(study: InjectionClaim, bindings: Bindings) -> None:
    other = bindings.model_copy(update={"weights_sha256": "d" * 64})
    with pytest.raises(ClaimError, match="weights_sha256 was"):
        FrozenInjection.of(study, bindings).refuse_if_changed(study, other)


def test_a_frozen_claim_that_was_edited_or_is_of_another_study_is_refused(
    tmp_path: Path, claim: Claim, study: InjectionClaim, bindings: Bindings
) -> None:
    path = tmp_path / "claim.frozen.json"
    write_frozen(path, FrozenInjection.of(study, bindings))
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 7').replace('"seed":0', '"seed":7'))
    with pytest.raises(ClaimError, match="changed after freezing"):
        read_frozen(path, FrozenInjection)
    write_frozen(path, FrozenClaim.of(claim, bindings))
    with pytest.raises(ClaimError, match="not a frozen claim of this study"):
        read_frozen(path, FrozenInjection)
    write_frozen(path, FrozenInjection.of(study, bindings))
    with pytest.raises(ClaimError, match="not a frozen claim of this study"):
        read_frozen(path)
