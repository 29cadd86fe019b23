"""A frozen claim is bound to its content, model, tokenizer and package; a run refuses anything else and says why."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from firsthand.claims import (
    Bindings,
    Claim,
    FrozenClaim,
    claim_hash,
    default_claim,
    lock_path,
    read_frozen,
    write_frozen,
)
from firsthand.claims.files import parse_claim
from firsthand.errors import ClaimError


def leaves(value: Any, where: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*where, key))
    else:
        yield where


OTHER: dict[str, Any] = {
    "title": "Another title.", "model": "gemma3-270m", "state.name": "coin", "state.layers": [3], "state.doses": [0.5],
    "state.direction_seed": 1, "report.code_letters": "ABCDEFGH", "public.cue_reliability": 0.73,
    "design.selection_blocks": 7, "design.confirmation_blocks": 25, "design.seed": 1, "observers": ["table"],
    "controls": ["sham", "baseline", "input_control", "impact_control"],
    "capabilities": ["identification", "detection"], "conditions": ["y_shown"], "analysis.alpha": 0.01,
    "analysis.equivalence_margin": 0.1, "analysis.minimum_coverage": 0.4, "analysis.minimum_effect": 0.06,
    "analysis.minimum_sensitivity": 0.8, "analysis.impact_tolerance": 0.2, "analysis.bootstrap_draws": 2001,
    "analysis.clusters": ["block"],
}  # fmt: skip
SINGLE = {"version", "study", "state.site", "state.timing", "report.format"}
"""Fields of which only one value is allowed so far."""


def changed(field: str) -> Claim:
    value = default_claim().model_dump(mode="json")
    *parents, last = field.split(".")
    inner = value
    for parent in parents:
        inner = inner[parent]
    assert inner[last] != OTHER[field]
    inner[last] = OTHER[field]
    return parse_claim(value, "the claim")


def test_every_field_of_a_claim_is_covered_here(claim: Claim) -> None:
    assert {".".join(leaf) for leaf in leaves(claim.model_dump(mode="json"))} == set(OTHER) | SINGLE


@pytest.mark.parametrize("field", OTHER)
def test_every_field_changes_the_hash_and_is_named(claim: Claim, bindings: Bindings, field: str) -> None:
    frozen = FrozenClaim.of(claim, bindings)
    other = changed(field)
    assert claim_hash(other, bindings) != frozen.sha256
    with pytest.raises(ClaimError, match="changed after it was frozen") as caught:
        frozen.refuse_if_changed(other, bindings)
    assert f"): claim.{field} was " in caught.value.problem
    assert "; " not in caught.value.problem  # no other difference


@pytest.mark.parametrize("field", list(Bindings.model_fields))
def test_every_binding_changes_the_hash_and_is_named(claim: Claim, bindings: Bindings, field: str) -> None:
    frozen = FrozenClaim.of(claim, bindings)
    other = bindings.model_copy(update={field: "d" * 64})
    assert claim_hash(claim, other) != frozen.sha256
    with pytest.raises(ClaimError, match=rf': {field} was ".*", is "d+"\.'):
        frozen.refuse_if_changed(claim, other)


def test_all_differences_are_named_with_their_values(claim: Claim, bindings: Bindings) -> None:
    frozen = FrozenClaim.of(claim, bindings)
    other = default_claim(title="Another.", model="gemma3-270m")
    with pytest.raises(ClaimError) as caught:
        frozen.refuse_if_changed(other, bindings.model_copy(update={"package_version": "2.0"}))
    for part in (
        'claim.model was "smollm2", is "gemma3-270m"',
        "claim.title was ",
        'package_version was "1.0", is "2.0"',
    ):
        assert part in caught.value.problem
    assert "claim.analysis" not in caught.value.problem


def test_a_difference_at_the_end_of_a_long_value_is_shown(claim: Claim, bindings: Bindings) -> None:
    long = "The same long beginning of a title, " * 5
    frozen = FrozenClaim.of(default_claim(title=long + "one way." + long), bindings)
    with pytest.raises(ClaimError, match=r"one way\..*other way\.") as caught:
        frozen.refuse_if_changed(default_claim(title=long + "other way." + long), bindings)
    assert len(caught.value.problem) < 300


def test_an_unchanged_claim_is_let_through(claim: Claim, bindings: Bindings) -> None:
    FrozenClaim.of(claim, bindings).refuse_if_changed(default_claim(), bindings)


def test_the_hash_does_not_depend_on_the_order_of_keys_or_on_spelling(claim: Claim, bindings: Bindings) -> None:
    def backwards(value: Any) -> Any:
        return {k: backwards(value[k]) for k in reversed(value)} if isinstance(value, dict) else value

    value = backwards(claim.model_dump(mode="json"))
    value["analysis"]["alpha"] = str(value["analysis"]["alpha"])
    value["state"]["doses"] = [int(dose) if dose == int(dose) else str(dose) for dose in value["state"]["doses"]]
    assert claim_hash(parse_claim(value, "the claim"), bindings) == claim_hash(claim, bindings)


def test_a_frozen_claim_is_read_back_the_same(tmp_path: Path, claim: Claim, bindings: Bindings) -> None:
    frozen = FrozenClaim.of(claim, bindings)
    write_frozen(tmp_path / "x.json", frozen)
    assert read_frozen(tmp_path / "x.json") == frozen


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("claim", "analysis", "alpha"), 0.2),
        (("claim", "title"), "Mine."),
        (("bindings", "weights_sha256"), "f" * 64),
        (("sha256",), "0" * 64),
    ],
)
def test_an_edited_frozen_claim_is_refused(
    tmp_path: Path, claim: Claim, bindings: Bindings, path: tuple[str, ...], value: object
) -> None:
    file = tmp_path / "x.json"
    write_frozen(file, FrozenClaim.of(claim, bindings))
    stored = json.loads(file.read_text())
    inner = stored
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    file.write_text(json.dumps(stored))
    with pytest.raises(ClaimError, match=r"changed after freezing(.|\n)*firsthand claim freeze"):
        read_frozen(file)


def test_an_edited_frozen_claim_is_refused_at_the_start_of_a_run(claim: Claim, bindings: Bindings) -> None:
    forged = FrozenClaim(claim=claim, bindings=bindings, sha256="0" * 64)
    with pytest.raises(ClaimError, match="changed after freezing"):
        forged.refuse_if_changed(claim, bindings)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b"\xff", b'{"claim": 1, "bindings": 2, "sha256": 3}'])
def test_a_file_that_is_no_frozen_claim_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ClaimError, match=r"x\.json is not a frozen claim"):
        read_frozen(tmp_path / "x.json")


def test_a_claim_that_was_not_frozen_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match=r"not frozen(.|\n)*firsthand claim freeze"):
        read_frozen(tmp_path / "x.json")
    with pytest.raises(ClaimError, match="is not a frozen claim"):
        read_frozen(tmp_path)


def test_the_frozen_form_lies_beside_the_claim() -> None:
    assert lock_path(Path("a/claim.yaml")) == Path("a/claim.frozen.json")
