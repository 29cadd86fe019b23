"""The command ``labels confidence`` as a user meets it."""

import sys
from pathlib import Path
from types import ModuleType

import pytest
from commands import Command, assert_refused

SMALL = ("--questions", "20", "--pairs", "0", "--reports", "true", "--layers", "1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions with named columns; one of them cannot be used."""
    lines = ["question,A,B,C,answer,subject"]
    lines += [f'"Which ""one""\nis {i}?",x{i},y{i},z{i},{"ABC"[i % 3]},s{i % 11}' for i in range(24)]
    path = tmp_path / "set.csv"
    path.write_text("\n".join([*lines, "Which?,x,x,z,A,s1"]) + "\n")
    return path


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Documents that were handed to whoever prints them."""
    documents: list[object] = []
    stand_in = ModuleType("firsthand.report.labels_terminal")
    stand_in.print_labels = lambda document, console: documents.append(document)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "firsthand.report.labels_terminal", stand_in)
    return documents


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


def test_a_study_is_printed_written_and_taken_up_again(
    firsthand: Command, tiny_folder: Path, data: Path, tmp_path: Path, printed: list[object]
) -> None:
    out, told = tmp_path / "run", tmp_path / "told.json"
    ask = ("labels", "confidence", "--data", data, "--model", tiny_folder, "--out", out, *SMALL, "--json", told)
    done = firsthand(*ask)
    assert done.code == 0, done.err
    assert len(printed) == 1
    assert '"study": "confidence"' in told.read_text()
    times = {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()}
    other = firsthand(*ask, "--seed", "1")
    assert other.code == 2
    assert "claim changed" in other.err
    assert {path: path.stat().st_mtime_ns for path in (out / "trace" / "units").iterdir()} == times


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
