from pathlib import Path

import pytest
from typer.testing import CliRunner

from firsthand.cli.main import app
from firsthand.errors import CounterfactualError


def ask(*words: str) -> BaseException | None:
    return CliRunner().invoke(app, ["train", *words]).exception


def test_what_only_training_needs_is_asked_for_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    error = ask("demo")
    assert isinstance(error, CounterfactualError)
    assert "firsthand[train]" in error.remedy


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--cross", "b", "--sibling", "c"), "is called a sibling, and is not trained"),
        (("--cross", "b", "--samples", "1"), "measures no label"),
        (("--cross", "b", "--settings", "SETTINGS"), "holds no settings"),
        (("--cross", "b"), "There is no file"),
    ],
)
def test_what_cannot_be_done_is_said_before_a_model_is_loaded(words: tuple[str, ...], why: str, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("rank: many\n")
    given = [str(settings) if word == "SETTINGS" else word for word in words]
    error = ask("run", str(tmp_path / "none.jsonl"), "--target", "a", *given)
    assert isinstance(error, CounterfactualError)
    assert why in error.problem


def test_a_folder_without_questions_is_told_before_a_model_is_loaded(tmp_path: Path) -> None:
    error = ask("demo", "--model", str(tmp_path / "none"), "--mmlu", str(tmp_path / "nowhere"), "--out", str(tmp_path))
    assert isinstance(error, CounterfactualError)
    assert "nowhere" in error.problem


def test_the_quick_demonstration_takes_no_questions(tmp_path: Path) -> None:
    error = ask("demo", "--quick", "--model", str(tmp_path / "none"), "--mmlu", str(tmp_path))
    assert isinstance(error, CounterfactualError)
    assert "no part on hints" in error.problem
