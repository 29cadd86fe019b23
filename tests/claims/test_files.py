"""Claims as files: written once, read back the same, and refused with a reason."""

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.claims import Claim, StateSpec, default_claim, read_claim, write_claim
from firsthand.errors import ClaimError, TraceError

TITLES = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)


def test_a_written_claim_is_read_back_the_same(tmp_path: Path, claim: Claim) -> None:
    write_claim(tmp_path / "claim.yaml", claim)
    assert read_claim(tmp_path / "claim.yaml") == claim
    assert "firsthand claim freeze" in (tmp_path / "claim.yaml").read_text()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(
    title=TITLES,
    doses=st.lists(st.integers(1, 400).map(lambda n: n / 8), min_size=1, unique=True),
    layers=st.none() | st.lists(st.integers(0, 99), min_size=1, unique=True),
)
def test_any_claim_is_read_back_the_same(
    tmp_path: Path, title: str, doses: list[float], layers: list[int] | None
) -> None:
    state = StateSpec(doses=tuple(doses), layers=None if layers is None else tuple(layers))
    claim = default_claim(title=title, state=state)
    path = tmp_path / "claim.yaml"
    path.unlink(missing_ok=True)
    write_claim(path, claim)
    assert read_claim(path) == claim


def test_an_existing_file_is_not_overwritten(tmp_path: Path, claim: Claim) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text("mine")
    with pytest.raises(ClaimError, match="exists already"):
        write_claim(path, claim)
    assert path.read_text() == "mine"


def test_a_claim_that_cannot_be_written_says_so(tmp_path: Path, claim: Claim) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match="could not be written"):
        write_claim(tmp_path / "file" / "claim.yaml", claim)


def test_the_minimal_claim_needs_controls_observers_and_clusters_only(tmp_path: Path) -> None:
    path = tmp_path / "claim.yaml"
    path.write_text(
        "controls: [baseline, sham, input_control, impact_control]\n"
        "observers: [table, my.module:Mine]\n"
        "analysis: {clusters: [block]}\n"
    )
    assert read_claim(path).observers == ("table", "my.module:Mine")


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "holds no claim"),
        (b"just words", "holds no claim"),
        (b"- a\n- list", "holds no claim"),
        (b"a: [1, 2", "not readable YAML"),
        (b"a: b: c", "not readable YAML"),
        (b"\xff\xfe\x00", "not readable YAML"),
        (b"title: 2020-13-45", "not readable YAML"),
        (b"title: !!python/object/apply:os.system [echo]", "not readable YAML"),
        (b"{[1]: 2}", "not readable YAML"),
        (b"[" * 5000, "not readable YAML"),
        (b"1: 2", "not a valid claim"),
    ],
)
def test_a_file_that_holds_no_claim_is_refused(tmp_path: Path, content: bytes, word: str) -> None:
    path = tmp_path / "claim.yaml"
    path.write_bytes(content)
    with pytest.raises(ClaimError, match=word) as caught:
        read_claim(path)
    assert str(path) in caught.value.problem


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ClaimError, match="firsthand claim new"):
        read_claim(tmp_path / "claim.yaml")
    with pytest.raises(ClaimError, match="not readable"):
        read_claim(tmp_path)


def test_errors_in_a_file_name_file_and_field(tmp_path: Path, claim: Claim) -> None:
    path = tmp_path / "claim.yaml"
    value = claim.model_dump(mode="json")
    value["analysis"]["clusters"] = []
    path.write_text(yaml.safe_dump(value))
    with pytest.raises(ClaimError, match=r"claim\.yaml(.|\n)*analysis\.clusters must name"):
        read_claim(path)
