"""A study of self-prediction from models and prompts to a document, with a trace that can be taken up again."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch
from transformers import LlamaForCausalLM

from firsthand.auditing.labels.prediction_cost import price_of
from firsthand.auditing.labels.prediction_study import PredictionRun, predict
from firsthand.claims.claim import AnalysisSpec
from firsthand.claims.labels import PredictionClaim
from firsthand.engine import LoadedModel, load
from firsthand.errors import ClaimError, LabelsError
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.prediction.prompts import PromptSet, built_in
from firsthand.vocabulary import Verdict


@pytest.fixture(scope="module")
def prompts() -> PromptSet:
    whole = built_in()
    return PromptSet(whole.name, whole.prompts, {"too long": 2})


@pytest.fixture(scope="module")
def sibling(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model of the same shape with other weights."""
    torch.manual_seed(7)
    folder = tmp_path_factory.mktemp("sibling")
    LlamaForCausalLM(tiny.model.config).save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def claim(tiny_folder: Path, sibling: str, prompts: PromptSet) -> PredictionClaim:
    return PredictionClaim(
        model=str(tiny_folder),
        readers=(sibling,),
        data_sha256=prompts.sha256,
        properties=("option", "letter-parity"),
        examples=(0, 4),
        experiments=1,
        fit=24,
        judged=30,
        longest_answer=4,
        draws=1,
        analysis=AnalysisSpec(clusters=("item", "group"), bootstrap_draws=200),
    )


@pytest.fixture(scope="module")
def run(
    tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet, tmp_path_factory: pytest.TempPathFactory
) -> PredictionRun:
    return predict(claim, prompts, tiny, tmp_path_factory.mktemp("prediction") / "run", reproduce=["firsthand ..."])


def test_a_study_ends_in_a_document_with_a_finding_for_every_property(run: PredictionRun, sibling: str) -> None:
    document = run.document
    assert document.instrument_ok, document.failed_checks
    assert [finding.name for finding in document.findings] == ["option", "letter-parity", "computing"]
    assert LabelsDocument.model_validate_json((run.folder / "result.json").read_text()) == document
    assert document.models[1].name == sibling
    assert document.data.dropped == {"too long": 2}
    asked = document.findings[1]
    assert asked.results[0].verdict is Verdict.INSUFFICIENT  # a random model names no letter
    names = {row.name for row in asked.results[0].observers}
    assert {"most frequent", "words, 4 examples", "same model, third person", f"reader: {sibling}"} <= names
    learning = document.findings[1].setting["prompts to learn from"]
    assert {f"{who}, {learning} prompts" for who in ("words", "layer 0", "form", "everything public")} <= names
    assert {"everything public, cross-fitted", f"reader: {sibling}, its states of {learning} prompts"} <= names
    assert {row.name for row in asked.results[0].arms} == {"other prompt"}
    assert [point.x for point in asked.curves[0].series[0].points] == [0.0, 4.0]
    grids = {grid.name.removeprefix("letter-parity-"): grid for grid in asked.grids}
    assert list(grids) == ["behaviour", "readers", "crossed"]
    assert [(name, cells[-1]) for name, cells in grids["readers"].rows] == [
        ("same model, third person", "-"),
        (f"reader: {sibling}", "no"),
    ]
    assert any("In the third person only" in note for note in asked.notes)
    assert any("drawn once" in note for note in asked.notes)
    assert any("Sampled answers" in note for note in asked.notes)
    assert any("nats" in note for note in asked.notes)


def test_examples_by_lot_are_shown_beside_and_decide_nothing(run: PredictionRun) -> None:
    asked = run.document.findings[1]
    assert [mark.label for mark in asked.pictures[0].marks] == [
        "after its examples",
        "after the same, classes drawn by lot",
    ]
    assert any(note.startswith("After examples whose classes were drawn by lot") for note in asked.notes)
    assert "report, examples by lot" in {line.name for line in asked.curves[0].series}


def test_without_examples_reading_answers_is_all_that_shows_sensitivity(
    tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet, tmp_path: Path
) -> None:
    bare = claim.model_copy(update={"examples": (0,), "readers": (), "draws": 0, "properties": ("letter-parity",)})
    asked = predict(bare, prompts, tiny, tmp_path / "run").document.findings[0]
    assert [reader.name for reader in asked.results[0].readers] == ["answer shown"]
    assert asked.pictures == ()


def test_a_folder_goes_on_with_the_readers_that_it_was_begun_with(
    run: PredictionRun, tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet, sibling: str
) -> None:
    bound = [json.loads(path.read_text()) for path in (run.folder / "models").iterdir()]
    assert [one["name"] for one in bound] == [sibling]
    with pytest.raises(ClaimError, match="was begun with another"):
        predict(claim, prompts, tiny, run.folder, loader=lambda name: replace(load(name), weights_sha256="0" * 64))


def test_a_property_that_no_answer_has_is_insufficient_and_says_so(run: PredictionRun) -> None:
    refused = run.document.findings[0]
    assert refused.results[0].verdict is Verdict.INSUFFICIENT
    assert "no answer to learn from" in refused.results[0].reasons[0]
    assert not refused.curves


def test_whether_it_can_read_a_property_off_an_answer_is_shown_and_not_judged(run: PredictionRun) -> None:
    computing = run.document.findings[-1]
    assert computing.results == ()
    assert [name for name, _ in computing.grids[0].rows] == ["Even or odd number of letters"]


def test_a_run_gives_every_reply_with_who_replied_and_every_answer(
    run: PredictionRun, tiny: LoadedModel, sibling: str
) -> None:
    assert set(run.table["model"]) == {tiny.name, sibling}
    assert set(run.table.loc[run.table["model"] == sibling, "arm"]) == {"third person"}
    assert len(run.behaviour) == 24 + 30


def test_no_truth_is_among_what_observers_may_see(run: PredictionRun) -> None:
    for path in (run.folder / "trace" / "public").iterdir():
        assert not {"truth", "said", "answer"} & set(pd.read_parquet(path).columns)


def test_a_deleted_unit_comes_back_with_the_same_bytes_and_nothing_else_is_run_again(
    run: PredictionRun, tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet
) -> None:
    trace = run.folder / "trace"
    before = {path: path.read_bytes() for path in trace.rglob("*.parquet")}
    gone = "letter-parity.0.target.4"
    (trace / "units" / f"{gone}.json").unlink()
    (trace / "reports" / f"{gone}.parquet").unlink()
    times = {path: path.stat().st_mtime_ns for path in before if gone not in path.name and path.exists()}
    again = predict(claim, prompts, tiny, run.folder)
    assert {path: path.read_bytes() for path in trace.rglob("*.parquet")} == before
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert again.document.findings == run.document.findings


def test_another_claim_other_prompts_or_the_model_itself_as_a_reader_are_refused(
    run: PredictionRun, tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet, tmp_path: Path
) -> None:
    with pytest.raises(ClaimError, match="claim changed"):
        predict(claim.model_copy(update={"seed": 1}), prompts, tiny, run.folder)
    with pytest.raises(LabelsError, match="not those that the claim names"):
        predict(claim, PromptSet("", prompts.prompts[:100], {}), tiny, tmp_path / "a")
    with pytest.raises(LabelsError, match="no other reader"):
        predict(claim, prompts, tiny, run.folder, loader=lambda name: tiny)


def test_a_price_counts_what_questions_share_once(
    tiny: LoadedModel, claim: PredictionClaim, prompts: PromptSet
) -> None:
    price = price_of(tiny, prompts, claim)
    assert price.properties == ("letter-parity",)
    assert set(price.refused) == {"option"}
    assert price.questions % 5 == 0  # two numbers of examples, third person, by lot, and the answer shown
    more = price_of(tiny, prompts, claim.model_copy(update={"examples": (0, 14)}))
    assert price.tokens < more.tokens < price.tokens + 10 * 60 * 8  # 10 more examples in 7 beginnings, not 30 times
    assert price.rate > 0


def test_every_condition_is_a_unit_of_its_own(run: PredictionRun) -> None:
    names = {path.stem for path in (run.folder / "trace" / "units").iterdir()}
    for arm in ("target.0", "target.4", "third-person.4", "lot.4", "asked-outright.4", "answer-shown.4"):
        assert f"letter-parity.0.{arm}" in names
    assert "behaviour" in names
