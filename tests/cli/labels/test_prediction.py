"""The command ``labels prediction`` as a user meets it."""

from pathlib import Path

import pytest
from commands import Command, assert_refused
from finished import Finished, assert_claimed, assert_goes_on, assert_kept_right

SMALL = ("--properties", "letter-parity,option", "--examples", "0, 4", "--experiments", "1")
SMALL += ("--fit", "24", "--judged", "30", "--longest-answer", "4")


@pytest.fixture(scope="module")
def finished(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The study of the tiny model on questions in a file."""
    folder = tmp_path_factory.mktemp("prediction")
    data = folder / "set.csv"
    lines = [f'"What about ""{word}"" and {i}?",{i // 4}' for i, word in enumerate(("tea", "fog", "oak", "tin") * 18)]
    data.write_text("question,topic\n" + "\n".join(lines) + "\n")
    read = ("--data", data, "--group", "topic", "--ask", "Say it's so.")
    return Finished.of("prediction", folder / "run", *read, "--model", tiny_folder, *SMALL)


def test_a_dry_run_says_what_can_be_asked_what_it_costs_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    done = firsthand("labels", "prediction", "--model", tiny_folder, "--out", out, *SMALL, "--dry-run")
    assert done.code == 0, done.err
    for words in ("can be asked about: letter-parity", "Not asked about: option", "tokens a second"):
        assert words in done.out
    assert not out.exists()


def test_options_are_the_claim_s_fields_and_those_for_reading_repeat_the_study(finished: Finished) -> None:
    document = finished.document
    assert document.claim.study == "prediction"
    assert (document.claim.examples, document.claim.draws) == ((0, 4), 0)
    assert document.data.name == "set.csv"
    assert "--group topic --ask 'Say it'\"'\"'s so.' --longest 96" in document.reproduce[0]


def test_a_study_is_repeated_by_its_own_command_and_takes_up_what_is_there(
    firsthand: Command, finished: Finished
) -> None:
    assert_goes_on(firsthand, finished, "trials", ("--seed", "1"))


def test_a_finished_study_is_verified_shown_again_and_not_rescored(
    firsthand: Command, finished: Finished, tmp_path: Path
) -> None:
    assert_kept_right(firsthand, finished, tmp_path, units=len(finished.units))


def test_a_claim_on_our_own_prompts_needs_no_data(firsthand: Command, tiny_folder: Path, tmp_path: Path) -> None:
    small = {"properties": ["letter-parity"], "examples": [4], "experiments": 1, "longest_answer": 4}
    priced = assert_claimed(firsthand, tmp_path, "prediction", tiny_folder, None, small)
    assert "160 prompts that are answered" in " ".join(priced.split())


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
