"""The command ``labels confidence`` as a user meets it."""

from pathlib import Path

import pytest
from commands import Command, assert_refused
from finished import Finished, assert_claimed, assert_goes_on, assert_kept_right

SMALL = ("--questions", "20", "--pairs", "0", "--reports", "true", "--layers", "1")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions with named columns; one of them cannot be used."""
    lines = ["question,A,B,C,answer,topic"]
    lines += [f'"Which ""one""\nis {i}?",x{i},y{i},z{i},{"ABC"[i % 3]},s{i % 11}' for i in range(24)]
    path = tmp_path_factory.mktemp("questions") / "set.csv"
    path.write_text("\n".join([*lines, "Which?,x,x,z,A,s1"]) + "\n")
    return path


@pytest.fixture(scope="module")
def finished(tiny_folder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """The study of the tiny model, with columns named."""
    out = tmp_path_factory.mktemp("confidence") / "run"
    columns = ("--options", "A, B,C", "--group", "topic")
    return Finished.of("confidence", out, "--data", data, "--model", tiny_folder, *SMALL, *columns)


def test_a_dry_run_tells_the_cost_and_leaves_nothing(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    ask = ("labels", "confidence", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--reader", "other")
    done = firsthand(*ask, "--dry-run")
    assert done.code == 0, done.err
    told = " ".join(done.out.split())
    for words in ("20 of 24 questions", "1 repeated options", "160 prompts", "by the reader", "tokens a second"):
        assert words in told, told
    assert not out.exists()


def test_options_are_the_claim_s_fields_and_those_for_reading_repeat_the_study(finished: Finished) -> None:
    document = finished.document
    assert document.claim.study == "confidence"
    assert (document.claim.reports, document.claim.layers, document.claim.orders) == (("true",), (1,), 2)
    assert document.data.dropped == {"repeated options": 1}
    assert "--options A,B,C --group topic --longest 200 --out NEW_FOLDER" in document.reproduce[0]


def test_a_study_is_repeated_by_its_own_command_and_takes_up_what_is_there(
    firsthand: Command, finished: Finished
) -> None:
    assert_goes_on(firsthand, finished, "trials", ("--seed", "1"))


def test_a_finished_study_is_verified_shown_again_and_not_rescored(
    firsthand: Command, finished: Finished, tmp_path: Path
) -> None:
    assert_kept_right(firsthand, finished, tmp_path, units=3)


def test_a_claim_is_made_frozen_priced_and_refused_after_a_change(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path
) -> None:
    small = {"questions": 20, "pairs": 0, "reports": ["true"], "layers": [1]}
    priced = assert_claimed(firsthand, tmp_path, "confidence", tiny_folder, data, small)
    assert "20 of 24 questions" in priced


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("--question", "body"), ("body", "answer")),
        (("--reports", "mood"), ("reports",)),
        (("--questions", "400"), ("24", "repeated options")),
        (("--orders", "3"), ("even",)),
        (("--longest", "3"), ("too long",)),
    ],
)
def test_wrong_input_is_told_in_words(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path, extra: tuple[str, ...], words: tuple[str, ...]
) -> None:
    ask = ("labels", "confidence", "--data", data, "--model", tiny_folder, "--out", tmp_path / "run", *SMALL, *extra)
    assert_refused(firsthand(*ask), *words)
