"""The command ``predict`` as a user meets it, with a tiny model."""

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from commands import Command, Done, assert_refused

sys.path.insert(0, str(Path(__file__).parents[2] / "counterfactual"))

from claim_parts import claim

from firsthand.counterfactual.claims import Answered, Claim
from firsthand.counterfactual.responses import Request, Response, Sampling
from firsthand.counterfactual.rows import row_of
from firsthand.counterfactual.store import Store
from firsthand.counterfactual.targets.local import LocalTarget
from firsthand.counterfactual.targets.local_predictor import LocalPredictor
from firsthand.report.predictions_files import read_json
from firsthand.report.training_document import MARKER


def written(path: Path, claims: list[Claim], responses: bool = True) -> Path:
    said = (Answered(response=Response(text="I am sorry.")),) if responses else ()
    made = [one.model_copy(update={"responses": said}) for one in claims]
    path.write_text("".join(json.dumps(row_of(one)) + "\n" for one in made))
    return path


@pytest.fixture
def claims(tmp_path: Path, tiny: object) -> Path:
    """Claims about the tiny model."""
    target = LocalTarget(tiny, Sampling(max_tokens=8)).identity  # type: ignore[arg-type]
    made = [claim(number, number % 2 == 0, target=target) for number in range(6)]
    return written(tmp_path / "claims.jsonl", made)


def predict(firsthand: Command, path: Path, out: Path, *options: str | Path) -> Done:
    return firsthand("predict", path, "--out", out, *options)


def test_a_run_is_priced_made_verified_and_reported_and_nothing_is_asked_twice(
    firsthand: Command, tiny_folder: Path, claims: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, copy = tmp_path / "run", tmp_path / "copy.json"
    priced = predict(firsthand, claims, out, "--model", tiny_folder, "--dry-run")
    assert priced.code == 0, priced.err
    assert "6 claims, 3 true" in priced.out
    assert "tokens at" in priced.out
    assert not out.exists()

    done = predict(firsthand, claims, out, "--model", tiny_folder, "--json", copy)
    assert done.code == 0, done.err
    assert "6 of 6" in done.err
    document = read_json(out / "result.json")
    assert copy.read_bytes() == (out / "result.json").read_bytes()
    kinds = {one.name: one.kind for one in document.predictors}
    assert kinds == {
        **dict.fromkeys(("always-yes", "base-rate", "surface", "words", "nearest"), "floor"),
        str(tiny_folder): "base",
    }
    table = pd.read_parquet(out / "data" / "predictions.parquet")
    assert len(table) == 36
    assert {"report.html", "predictions.jsonl", "figures", "data", "store.sqlite"} <= {
        one.name for one in out.iterdir()
    }

    asked: list[int] = []
    monkeypatch.setattr(LocalPredictor, "answer", lambda self, questions: asked.append(len(questions)))
    again = predict(firsthand, claims, out, "--model", tiny_folder)
    assert asked == []
    assert again.out == done.out
    left = predict(firsthand, claims, out, "--model", tiny_folder, "--dry-run")
    assert "nothing is left to be asked" in left.out

    checked = firsthand("verify", out)
    assert "36 predictions" in checked.out, checked.err
    page = tmp_path / "again.html"
    assert firsthand("report", out, "--out", page).code == 0
    assert page.read_bytes() == (out / "report.html").read_bytes()
    assert_refused(firsthand("rescore", out, "--observer", "text_classifier"), "predictions")

    table.loc[table["predictor"] == "always-yes", "probability"] = 0.0
    table.to_parquet(out / "data" / "predictions.parquet")
    assert_refused(firsthand("verify", out), "are not those of the predictions")


def test_both_forms_are_two_predictors(firsthand: Command, tiny_folder: Path, claims: Path, tmp_path: Path) -> None:
    done = predict(
        firsthand, claims, tmp_path / "run", "--model", tiny_folder, "--form", "both", "--predictor", "always-yes"
    )
    assert done.code == 0, done.err
    names = [one.name for one in read_json(tmp_path / "run" / "result.json").predictors]
    assert names == ["always-yes", str(tiny_folder), f"{tiny_folder}, as a document"]


def test_transcripts_that_are_missing_are_drawn_once_or_asked_for(
    firsthand: Command, tiny_folder: Path, tmp_path: Path
) -> None:
    path = written(tmp_path / "bare.jsonl", [claim(number, number % 2 == 0) for number in range(4)], responses=False)
    assert_refused(predict(firsthand, path, tmp_path / "run"), "--target MODEL")
    assert not (tmp_path / "run").exists()
    options = ("--target", tiny_folder, "--max-tokens", "6", "--predictor", "surface")
    priced = predict(firsthand, path, tmp_path / "run", *options, "--dry-run")
    assert "4 transcripts are drawn" in priced.out, priced.err
    done = predict(firsthand, path, tmp_path / "run", *options)
    assert done.code == 0, done.err
    assert read_json(tmp_path / "run" / "result.json").claims.drawn == 4
    with Store(tmp_path / "run") as store:
        spent = store.spent()
        assert spent.responses == 4
        requests = [one["request"]["batch"] for one in store.contents()["batches"].values()]
        assert set(requests) == {"predict.transcript"}
    predict(firsthand, path, tmp_path / "run", *options)
    with Store(tmp_path / "run") as store:
        assert store.spent() == spent


def test_fewer_claims_are_whole_clusters(firsthand: Command, claims: Path, tmp_path: Path) -> None:
    done = predict(firsthand, claims, tmp_path / "run", "--most", "4")
    assert done.code == 0, done.err
    card = read_json(tmp_path / "run" / "result.json").claims
    assert card.claims == 4
    assert card.dropped == {"more claims than were asked for": 2}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--predictor", "magic"), "There is no predictor 'magic'"),
        (("--form", "song"), "There is no form"),
        (("--predictor", "none"), "Nobody is to predict"),
        (("--model", "a", "--model", "a"), "named twice"),
        (("--baseline", "nobody"), "no predictor 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_refused_with_what_to_do(
    firsthand: Command, claims: Path, tmp_path: Path, options: tuple[str, ...], words: str
) -> None:
    assert_refused(predict(firsthand, claims, tmp_path / "run", *options), words)


@pytest.mark.parametrize("file", ["investigations.jsonl", "settings.json", "hints.json", MARKER, "claim.frozen.json"])
def test_the_folder_of_another_kind_of_run_is_refused(
    firsthand: Command, claims: Path, tmp_path: Path, file: str
) -> None:
    out = tmp_path / "run"
    out.mkdir()
    (out / file).write_text("{}\n")
    assert_refused(predict(firsthand, claims, out, "--predictor", "always-yes"), "and no predictions", "--out")
    assert [one.name for one in out.iterdir()] == [file]


def test_so_is_one_whose_run_of_another_kind_did_not_finish(firsthand: Command, claims: Path, tmp_path: Path) -> None:
    request = Request(prompt=claim().prompt, batch="screen", samples=1)
    with Store(tmp_path / "run") as store:
        store.keep_responses(request, "tiny@1", [Response(text="So far.")])
    assert_refused(predict(firsthand, claims, tmp_path / "run"), "drawn for another kind of run")


def test_files_that_are_no_claims_are_refused(firsthand: Command, tmp_path: Path) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text('{"id": 1}\n')
    assert_refused(predict(firsthand, path, tmp_path / "run"), "row 1")
    assert_refused(predict(firsthand, written(path, [claim(1, True)]), tmp_path / "run"), "All 1 claims are true")
