"""The command ``labels belief`` as a user meets it."""

import json
from pathlib import Path

import pytest
from commands import Command, assert_refused

SMALL = ("--records", "12", "--unknown-too", "--shots", "6", "--rounds", "1", "--answer-tokens", "3")
SMALL += ("--reading-tokens", "2", "--layers", "1,2", "--splits", "2", "--no-steering")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Facts in JSON lines."""
    path = tmp_path / "facts.jsonl"
    rows = [
        {"base_prompt": f"Firm {i} sits in", "subject": f"Firm {i}", "target_true": " Oslo", "target_new": " Lima"}
        for i in range(15)
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def test_a_dry_run_tells_the_cost_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "belief", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--dry-run")
    assert done.code == 0, done.err
    assert "12 answers with about" in done.out
    assert "6 conversations" in done.out
    assert "minutes" in done.out
    assert not out.exists()


def test_a_study_ends_in_a_document_that_says_how_to_repeat_it(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out, told = tmp_path / "run", tmp_path / "told.json"
    ask = ("labels", "belief", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--json", told)
    done = firsthand(*ask)
    assert done.code == 0, done.err
    found = json.loads(told.read_text())
    assert found["study"] == "belief"
    assert found["claim"]["layers"] == [1, 2]
    (command,) = found["reproduce"]
    for word in ("--unknown-too", "--layers 1,2", "--no-steering", "--shots 6"):
        assert word in command
    other = firsthand(*ask, "--seed", "1")
    assert other.code == 2
    assert "claim changed" in other.err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--records", "40"), ("40 are asked for",)),
        (("--layers", "9"), ("no layer 9", "0 to 3")),
        (("--layers", "one"), ("layers",)),
        (("--shows", "all"), ("shows",)),
        (("--kinds", "missing.yaml"), ("missing.yaml", "cannot be read")),
    ],
)
def test_wrong_input_is_told_in_words(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ask = ("labels", "belief", "--data", data, "--model", tiny_folder, "--out", tmp_path / "run", *SMALL, *extra)
    assert_refused(firsthand(*ask), *words)
