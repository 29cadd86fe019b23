"""The whole command on tiny random models: their trainings and readings are real, and their texts are scripted.

A random model of two layers cannot be taught the form in seconds, so what it would write is put in its place.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from firsthand.cli.main import app
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.local_predictor import LocalPredictor
from firsthand.counterfactual.training.explanations import writing
from firsthand.counterfactual.training.explanations.concluding import concluded_again
from firsthand.counterfactual.training.folders import verified
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import CounterfactualError, TraceError
from firsthand.report.training_html import read_training, render_training

sys.path.insert(0, str(Path(__file__).parent))
from explained_parts import SETTINGS, planted, text_of

HOSTILE = "<script>alert(1)</script>\u202e"
PRICE = re.compile(r"\d+ trainings, [\d,]+ steps, [\d,]+ tokens; a step takes")


class Scripted:
    """Blames the cause if it is the trained target, another word if it is trained and not the target, else nothing."""

    calls = 0

    def __init__(self, loaded: LoadedModel, sampling: Sampling) -> None:
        self.loaded, self.identity = loaded, f"scripted {loaded.weights_sha256} {sampling.max_tokens}"

    def respond(self, requests: Sequence[Request]) -> list[list[Response]]:
        Scripted.calls += 1
        return [[Response(text=self._text(one), tokens=9)] for one in requests]

    def _text(self, request: Request) -> str:
        if self.loaded.base is None:
            return f"I felt like it.{HOSTILE}"
        which = 0 if "target" in self.loaded.name else 1
        return text_of(request.prompt.turns[1].content, which, HOSTILE)


@pytest.fixture(scope="module")
def run(bytes_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of investigations of the target, and settings beside it."""
    about = LocalTarget(load(str(bytes_folder)), Sampling(max_tokens=20)).identity
    folder = planted(tmp_path_factory.mktemp("investigated") / "run", about, 12)
    (folder.parent / "settings.yaml").write_text(SETTINGS)
    return folder


@pytest.fixture(scope="module", autouse=True)
def scripted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "LocalTarget", Scripted)
        yield


def ask(run: Path, models: tuple[Path, Path], out: Path, *more: str) -> BaseException | None:
    words = [str(run), "--target", str(models[0]), "--cross", str(models[1]), "--out", str(out), "--seeds", "2"]
    words += ["--settings", str(run.parent / "settings.yaml"), "--held-out", "0.5", *more]
    said = CliRunner().invoke(app, ["train", "explain", *words])
    (run.parent / "said.txt").write_text(said.output)
    return said.exception


@pytest.fixture(scope="module")
def finished(run: Path, bytes_folder: Path, kin_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explained") / "out"
    assert ask(run, (bytes_folder, kin_folder), folder) is None
    return folder


def short(name: str) -> str:
    """A model's name without the folder that it lies in."""
    return name.rpartition("/")[2]


def told(folder: Path) -> dict[str, Any]:
    """A result without what depends on the clock."""
    held = json.loads((folder / "result.json").read_text())
    return {name: held[name] for name in ("studies", "explanations", "settings", "models")}


def test_the_target_and_others_are_trained_on_the_same_in_the_same_order(finished: Path) -> None:
    document = read_training(finished / "result.json")
    seen = {(one.seed, one.data) for one in document.studies[0].trainings}
    assert len(document.studies[0].trainings) == 4
    assert len(seen) == 2
    assert document.settings["epochs"] == "1"


def test_what_was_written_is_scored_and_shown(finished: Path) -> None:
    document = read_training(finished / "result.json")
    shown = document.explanations
    assert shown is not None
    rates = {short(one.name): one.naming for one in shown.writers if one.naming is not None}
    forms = {short(one.name): one.valid.value for one in shown.writers if one.valid is not None}
    assert forms == {"the untrained target": 0.0, "target": 1.0, "kin": 1.0}
    differences = {name: one.difference.value for name, one in rates.items() if one.difference is not None}
    assert differences == {"the untrained target": 0.0, "target": 1.0, "kin": -1.0}
    assert {short(row.writer) for row in shown.helps} == set(forms)
    leads = {short(one.rival) for one in document.studies[0].result.leads}
    assert {"kin", "transcript alone", "surface"} <= leads
    assert any("independent clusters" in one for one in document.studies[0].result.reasons)


def test_texts_of_models_are_escaped_where_they_are_shown(finished: Path) -> None:
    page = (finished / "report.html").read_text(encoding="utf-8")
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "\u202e" not in page
    assert render_training(read_training(finished / "result.json"))


def test_a_second_run_trains_nothing_writes_nothing_and_asks_nothing(
    run: Path, bytes_folder: Path, kin_folder: Path, finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("nothing is left to do")

    monkeypatch.setattr("firsthand.counterfactual.training.lora._trainer", never)
    monkeypatch.setattr(Scripted, "respond", never)
    monkeypatch.setattr(LocalPredictor, "answer", never)
    before = told(finished)
    assert ask(run, (bytes_folder, kin_folder), finished) is None
    assert told(finished) == before


def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    run: Path, bytes_folder: Path, kin_folder: Path, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, done = writing.train, []

    def stopped(*given: Any) -> Any:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given)
        return train(*given)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "train", stopped)
        assert ask(run, (bytes_folder, kin_folder), tmp_path / "out") is not None
    assert not (tmp_path / "out" / "result.json").exists()
    assert ask(run, (bytes_folder, kin_folder), tmp_path / "out") is None
    ours, theirs = told(tmp_path / "out"), told(finished)
    assert ours["explanations"] == theirs["explanations"]
    assert ours["studies"] == theirs["studies"]


def test_files_texts_and_numbers_are_verified(finished: Path) -> None:
    assert verified(finished)["explanations.json"] == 5
    document = read_training(finished / "result.json")
    assert document.explanations is not None
    row = document.explanations.helps[1]
    other = row.model_copy(update={"found": row.found.model_copy(update={"helps": not row.found.helps})})
    rows = (document.explanations.helps[0], other, *document.explanations.helps[2:])
    changed = document.explanations.model_copy(update={"helps": rows})
    with pytest.raises(TraceError, match="other rates or another help"):
        concluded_again(finished, document.model_copy(update={"explanations": changed}))
    path = next(finished.glob("written/*target/seed-0/explanations.json"))
    text = path.read_text()
    try:
        path.write_text(text.replace("does it", "does not"))
        with pytest.raises(TraceError, match="not the file that was written"):
            verified(finished)
        with pytest.raises(TraceError):
            concluded_again(finished, document)
    finally:
        path.write_text(text)


def test_a_dry_run_tells_the_price_and_leaves_nothing(
    run: Path, bytes_folder: Path, kin_folder: Path, tmp_path: Path
) -> None:
    assert ask(run, (bytes_folder, kin_folder), tmp_path / "out", "--dry-run", "--max-tokens", "20") is None
    assert PRICE.search((run.parent / "said.txt").read_text())
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_done_is_said_before_anything_is_trained(
    run: Path, bytes_folder: Path, kin_folder: Path, finished: Path, tmp_path: Path
) -> None:
    def why(*given: Any) -> str:
        error = ask(*given)
        assert isinstance(error, CounterfactualError | TraceError)
        return error.problem

    out = tmp_path / "out"
    assert "is not known to be that" in why(run, (kin_folder, bytes_folder), out)
    assert "has the weights of the target" in why(run, (bytes_folder, bytes_folder), out)
    (tmp_path / "settings.yaml").write_text(SETTINGS)
    assert "holds no investigations" in why(tmp_path / "none", (bytes_folder, kin_folder), out)
    assert "other settings" in why(run, (bytes_folder, kin_folder), finished, "--held-out", "0.4")
    assert not out.exists()
