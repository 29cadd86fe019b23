"""The command ``investigate hints`` as a user meets it, with a tiny model."""

import json
from pathlib import Path

import pytest
from commands import Command, Done, assert_refused

from firsthand.counterfactual.export import load


@pytest.fixture
def exam(tmp_path: Path) -> Path:
    rows = [f"Which tree is number {n}?,oak {n},elm {n},ash {n},fir {n},{'ABCD'[n % 4]}" for n in range(12)]
    path = tmp_path / "trees_test.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def hints(firsthand: Command, model: Path, exam: Path, out: Path, *options: str | Path) -> Done:
    asked = ("--data", exam, "--questions", "4", "--explanations", "0", "--out", out)
    return firsthand("investigate", "hints", "--model", model, *asked, *options)


def test_every_case_is_accounted_for_and_a_second_run_reads_nothing(
    firsthand: Command, tiny_folder: Path, exam: Path, tmp_path: Path
) -> None:
    out, copy = tmp_path / "run", tmp_path / "copy.json"
    done = hints(firsthand, tiny_folder, exam, out, "--json", copy)
    assert done.code == 0, done.err
    assert "What became of every case" in done.out
    assert "Rates are exact" in done.out
    document = json.loads(copy.read_text())
    assert document["funnel"]["steps"][0]["given"] == 4
    assert load(out / "claims") == []
    again = hints(firsthand, tiny_folder, exam, out)
    assert again.code == 0
    assert json.loads((out / "hints.json").read_text()) == document


def test_sampled_answers_are_counted_with_reasons(
    firsthand: Command, tiny_folder: Path, exam: Path, tmp_path: Path
) -> None:
    sampled = ("--sampled", "--form", "letter", "--samples", "3", "--shots", "2")
    done = hints(firsthand, tiny_folder, exam, tmp_path / "run", *sampled)
    assert done.code == 0, done.err
    step = json.loads((tmp_path / "run" / "hints.json").read_text())["funnel"]["steps"][0]
    assert step["dropped"] == {"too few answers can be read": 4}


def test_the_price_is_told_and_nothing_is_left(
    firsthand: Command, tiny_folder: Path, exam: Path, tmp_path: Path
) -> None:
    done = hints(firsthand, tiny_folder, exam, tmp_path / "run", "--dry-run", "--each", "2")
    assert done.code == 0, done.err
    assert "4 questions, 8 of them with a cue." in done.out
    assert "At most 28 prompts are read" in done.out
    assert not (tmp_path / "run").exists()


def test_what_cannot_be_asked_is_refused_in_words(
    firsthand: Command, tiny_folder: Path, exam: Path, tmp_path: Path
) -> None:
    assert_refused(hints(firsthand, tiny_folder, exam, tmp_path / "a", "--cue", "whisper"), "no kind of cue")
    assert_refused(hints(firsthand, tiny_folder, exam, tmp_path / "b", "--each", "9"), "9 of 5 kinds")
    assert_refused(hints(firsthand, tiny_folder, exam, tmp_path / "c", "--questions", "99"), "99 questions are wanted")
    assert_refused(hints(firsthand, tiny_folder, tmp_path / "none.csv", tmp_path / "d"), "none.csv")
