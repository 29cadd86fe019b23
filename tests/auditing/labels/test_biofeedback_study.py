"""The whole study on tiny models: its readers, its control task, and what a second run finds."""

import sys
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parents[2] / "studies" / "labels"))

from small_study import claim_on, examples

from firsthand.auditing.labels.biofeedback import READER
from firsthand.auditing.labels.biofeedback_study import BiofeedbackRun, biofeedback
from firsthand.engine import LoadedModel
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.outsiders import TOLD
from firsthand.trials.files import read_json, sha256_file


@pytest.fixture(scope="module")
def other(tiny: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A second random model of the same shape."""
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("other")
    LlamaForCausalLM(tiny.model.config).save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def done(tiny: LoadedModel, other: str, tmp_path_factory: pytest.TempPathFactory) -> BiofeedbackRun:
    data = examples()
    claim = claim_on(data, model=tiny.name, readers=(other,), referents=("probe", "pc1"))
    return biofeedback(claim, data, tiny, tmp_path_factory.mktemp("study") / "run")


def test_the_reader_is_an_observer_twice_and_lends_its_labels_as_a_control_arm(
    done: BiofeedbackRun, other: str
) -> None:
    for finding in done.document.findings[:2]:
        (result,) = finding.results
        names = {row.name for row in result.observers}
        assert {f"{READER}{other}", f"{READER}{other}, its states of 40 texts"} <= names
        assert [arm.name for arm in result.arms] == ["redrawn", f"{TOLD}{other}"]
    assert [card.name for card in done.document.models] == [done.document.claim.model, other]


def test_the_control_task_is_shown_without_a_verdict(done: BiofeedbackRun) -> None:
    last = done.document.findings[-1]
    assert last.name == "regulation"
    assert last.results == ()
    assert {picture.title for picture in last.pictures} == {
        "Shift of the state along probe",
        "Shift of the state along pc1",
    }


def test_a_second_run_changes_nothing_and_a_deleted_unit_comes_back_the_same(
    done: BiofeedbackRun, tiny: LoadedModel
) -> None:
    before = {path: sha256_file(path) for path in done.folder.rglob("*.parquet")}
    (unit,) = (done.folder / "readers").rglob("units/conversation.001.json") or [None]
    unit.unlink()
    again = biofeedback(done.document.claim, examples(), tiny, done.folder)
    assert {path: sha256_file(path) for path in done.folder.rglob("*.parquet")} == before
    assert again.document.findings == done.document.findings
    assert LabelsDocument.model_validate(read_json(done.folder / "result.json")) == again.document
