"""The whole study on tiny models: its readers, its control task, and what a second run finds."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

sys.path.insert(0, str(Path(__file__).parents[2] / "studies" / "labels"))

from small_study import claim_on, examples

from firsthand.auditing.labels.biofeedback_study import BiofeedbackRun, biofeedback
from firsthand.auditing.labels.readers import READER, by_its_states
from firsthand.engine import LoadedModel
from firsthand.report.labels_document import LabelsDocument
from firsthand.studies.labels.biofeedback import prepare
from firsthand.studies.labels.outsiders import TOLD, outsider_of
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
        assert {f"{READER}{other}", f"{READER}{other}, its states"} <= names
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


def test_a_label_of_the_readers_own_states_is_learned_from_them(tiny: LoadedModel) -> None:
    bench = prepare(tiny, examples(), claim_on(examples()))
    model = LlamaForCausalLM(LlamaConfig(**{**tiny.model.config.to_dict(), "num_hidden_layers": 6})).eval()
    reader = outsider_of(bench, replace(tiny, name="other", model=model, weights_sha256="d" * 64, n_layers=6))
    texts = np.arange(len(bench.held_out))
    scores = reader.referents[0].axis.scores(reader.states.layers[0])
    labels = (scores > np.median(scores)).astype(np.int64)
    given = by_its_states(reader, texts[:18], labels[:18], texts[:18], texts[18:])
    assert (given == labels[18:]).mean() > 0.6
