"""What preparing prints and writes."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from firsthand.cli.investigate.prepare import run_prepare
from firsthand.counterfactual.mixtures import Limits
from firsthand.counterfactual.prepared import read_prepared
from firsthand.errors import CounterfactualError


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=160)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def lines(folder: Path, *texts: str, name: str = "set.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in texts))
    return path


def test_what_became_of_everything_is_printed_and_written(tmp_path: Path, console: Console) -> None:
    path = lines(tmp_path, "a" * 500, "b", "c", "a" * 500)
    made = run_prepare([path], tmp_path / "out", console=console)
    text = shown(console)
    for part in (
        "set.jsonl (chat) read 4",
        "dropped: shorter than 400 characters 2 set.jsonl, line 2",
        "dropped: a duplicate of a prompt read before 1 set.jsonl, line 4",
        "kept 1",
        "1 prompts of 4 places.",
    ):
        assert part in text
    assert read_prepared(tmp_path / "out") == made


def test_limits_that_are_given_hold_and_nought_lifts_them(tmp_path: Path, console: Console) -> None:
    path = lines(tmp_path, *["word " * 3000 + str(n) for n in range(8)])
    made = run_prepare([path], tmp_path / "out", max_characters=0, max_tokens=0, per_family=0, console=console)
    assert len(made.prompts) == 8
    [source] = made.accounts[0].inputs
    assert source.limits == Limits(max_characters=None, max_tokens=None, per_family=None)
    made = run_prepare([path], tmp_path / "out", max_characters=0, max_tokens=0, per_family=2, console=console)
    assert len(made.prompts) == 2


def test_shares_go_with_files_in_order(tmp_path: Path, console: Console) -> None:
    one = lines(tmp_path, *[f"one {n}" for n in range(40)])
    two = lines(tmp_path, *[f"two {n}" for n in range(40)], name="other.jsonl")
    made = run_prepare([one, two], tmp_path / "out", min_characters=0, shares=[0.75, 0.25], most=20, console=console)
    assert [account.kept for account in made.accounts] == [15, 5]


def test_options_reach_the_format(tmp_path: Path, console: Console) -> None:
    path = tmp_path / "set.csv"
    path.write_text("prompt,act\na,b\n")
    made = run_prepare([path], tmp_path / "out", min_characters=0, options=["column=act"], console=console)
    assert made.prompts[0].user_text == "b"


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"shares": [0.5]}, "2 files have 1 shares"),
        ({"shares": [0.5, 0.4]}, "add up to 0.9"),
        ({"shares": [1.5, -0.5]}, "share"),
        ({"most": 0}, "total"),
        ({"seed": -1}, "seed"),
        ({"kind": "chats"}, "no kind of source 'chats'"),
        ({"options": ["column"]}, "'column' has no value"),
        ({"options": ["column=a"]}, "has no option 'column'"),
        ({"min_characters": 9000}, "cannot be kept"),
        ({"max_tokens": -1}, "max_tokens"),
        ({}, "No prompt is left"),
    ],
)
def test_what_makes_no_sense_is_said(more: dict[str, object], problem: str, tmp_path: Path, console: Console) -> None:
    files = [lines(tmp_path, "a"), lines(tmp_path, "b", name="other.jsonl")]
    with pytest.raises(CounterfactualError, match=problem):
        run_prepare(files, tmp_path / "out", console=console, **more)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="No file is named"):
        run_prepare([], tmp_path)


def test_what_files_say_cannot_act_in_the_terminal(tmp_path: Path, console: Console) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({"prompt": "a"}) + "\n" + json.dumps({"[bold]\x1b[31m\u202e": 1}) + "\n")
    run_prepare([path], tmp_path / "out", min_characters=0, console=console)
    assert "[bold]⟨U+001B⟩[31m⟨U+202E⟩" in shown(console)
    assert "\x1b" not in shown(console)
