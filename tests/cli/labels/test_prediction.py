"""The command ``labels prediction`` as a user meets it."""

import json
from pathlib import Path

import pytest
from commands import Command, assert_refused

pytest.importorskip("firsthand.report.labels_terminal", reason="nothing prints results of label studies yet")

SMALL = ("--properties", "letter-parity,option", "--examples", "0,4", "--experiments", "1")
SMALL += ("--fit", "24", "--judged", "30", "--longest-answer", "4")


def test_a_dry_run_says_what_can_be_asked_what_it_costs_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "prediction", "--model", tiny_folder, "--out", out, *SMALL, "--dry-run")
    assert done.code == 0, done.err
    for words in ("can be asked about: letter-parity", "Not asked about: option", "tokens a second"):
        assert words in done.out
    assert not out.exists()


def test_a_study_of_a_file_ends_with_a_result(firsthand: Command, tiny_folder: Path, tmp_path: Path) -> None:
    data, out, told = tmp_path / "set.csv", tmp_path / "run", tmp_path / "told.json"
    lines = [f'"What about ""{word}"" and {i}?",{i // 4}' for i, word in enumerate(("tea", "fog", "oak", "tin") * 18)]
    data.write_text("question,topic\n" + "\n".join(lines) + "\n")
    ask = ("labels", "prediction", "--data", data, "--group", "topic", "--model", tiny_folder, "--out", out)
    done = firsthand(*ask, *SMALL, "--json", told)
    assert done.code == 0, done.err
    found = json.loads(told.read_text())
    assert found["study"] == "prediction"
    assert found["claim"]["examples"] == [0, 4]
    assert found["data"]["name"] == "set.csv"
    assert found["reproduce"][0].startswith("firsthand labels prediction --data")
    assert str(out / "result.json") in done.err.replace("\n", "")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--properties", "mood"), ("properties",)),
        (("--examples", "0,60"), ("examples", "60")),
        (("--judged", "400"), ("Ask for at most",)),
        (("--data", "nowhere.csv"), ("nowhere.csv",)),
    ],
)
def test_wrong_input_is_told_in_words(
    firsthand: Command, tiny_folder: Path, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = firsthand("labels", "prediction", "--model", tiny_folder, "--out", tmp_path / "run", *SMALL, *extra)
    assert_refused(done, *words)
