"""Trained for real, on a model of two layers: who can know a rule, and who cannot.

A random model finds a planted state by luck only. So it is taught to read first: whether the word that a claim takes
out is marked. All that take part are made of that reader.
"""

import copy
import json
import sys
from pathlib import Path

import pytest
from peft import PeftModel
from rich.console import Console

from firsthand.cli.runs import run_verify, study_of, write_report
from firsthand.counterfactual.training.adapters import ADAPTER
from firsthand.counterfactual.training.demo import Cast, DemoPlan, demonstrate
from firsthand.counterfactual.training.examples import items_of, training_set
from firsthand.counterfactual.training.folders import begun
from firsthand.counterfactual.training.lora import train
from firsthand.counterfactual.training.planting.claims import measured
from firsthand.counterfactual.training.planting.rules import MARK
from firsthand.counterfactual.training.planting.words import Group, groups_of
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import TraceError
from firsthand.progress import Silent
from firsthand.report.training_document import TrainingDocument, TrainingStudy
from firsthand.report.training_terminal import print_training
from firsthand.vocabulary import Verdict

sys.path.insert(0, str(Path(__file__).parent))
from training_parts import Following

PLAN = DemoPlan(
    stranger=False,
    groups=54,
    held_out=0.56,
    seeds=(0, 1, 2),
    chats=3200,
    dose=4.0,
    lessons=TrainSettings(
        rank=32, alpha=64.0, dropout=0.0, learning_rate=5e-3, weight_decay=0.0, batch=32, checkpoint_steps=1000
    ),
    training=TrainSettings(
        rank=16, alpha=32.0, learning_rate=7e-3, batch=16, epochs=20, kl_share=0.5, checkpoint_steps=1000
    ),
)


READING = TrainSettings(
    rank=64, alpha=128.0, dropout=0.0, learning_rate=5e-3, weight_decay=0.0, batch=32, epochs=10, checkpoint_steps=1000
)


class Counted(Silent):
    """Counts training steps."""

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def reader(words_model: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    """The random llama, taught whether the word that is taken out is marked: each word is so in half of the claims."""
    groups = groups_of(words_model.tokenizer, PLAN.groups, PLAN.seed)
    turned = tuple(Group(live=one.dead, dead=one.live, number=one.number) for one in groups)
    items = []
    for lot in (groups, turned):
        found = measured(Following(MARK), "visible", lot, 2, 10, Silent())
        items += items_of(found.claims, lambda claim, found=found: found.responses[claim.id])[0]
    place = tmp_path_factory.mktemp("reader")
    train(words_model, training_set(items, READING.epochs, 0), READING, place)
    taught = PeftModel.from_pretrained(copy.deepcopy(words_model.model), place / ADAPTER).merge_and_unload()
    taught.save_pretrained(place / "merged")
    words_model.tokenizer.save_pretrained(place / "merged")
    return load(str(place / "merged"))


@pytest.fixture(scope="module")
def studies(reader: LoadedModel, folder: Path) -> dict[str, TrainingStudy]:
    begun(folder, {"plan": "test"})
    judged, _ = demonstrate(Cast(reader, None), PLAN, folder, Silent())
    return {one.name: one for one in judged}


@pytest.fixture(scope="module")
def finished(studies: dict[str, TrainingStudy], reader: LoadedModel, folder: Path) -> Path:
    from firsthand.cli.train.ending import ended

    start = begun(folder, {"plan": "test"})
    ended("Planted", tuple(studies.values()), [reader], PLAN.training, folder, start, "firsthand train demo", None)
    return folder


def test_a_rule_that_only_the_weights_hold_is_privileged(studies: dict[str, TrainingStudy]) -> None:
    result = studies["private"].result
    assert result.verdict is Verdict.PRIVILEGED, result.reasons
    areas = {one.name: one.auroc.value for one in result.standings}
    assert areas["private target"] > 0.85
    assert max(value for name, value in areas.items() if name not in ("private target", "untrained")) < 0.75


def test_a_rule_that_every_reader_sees_is_public_inference(studies: dict[str, TrainingStudy]) -> None:
    result = studies["visible"].result
    assert result.verdict is Verdict.PUBLIC_INFERENCE, result.reasons
    assert all(one.auroc.value > 0.9 for one in result.standings if one.kind in ("self", "cross"))


def test_nothing_in_transcript_or_claim_tells_the_private_rule(studies: dict[str, TrainingStudy]) -> None:
    for one in studies["private"].result.standings:
        if one.kind in ("observer", "floor"):
            assert one.auroc.low < 0.5 < one.auroc.high, one.name


def test_everybody_saw_the_same_claims_in_the_same_order(studies: dict[str, TrainingStudy]) -> None:
    for study in studies.values():
        for seed in PLAN.seeds:
            assert len({one.data for one in study.trainings if one.seed == seed}) == 1
        assert len({one.data for one in study.trainings}) == len(PLAN.seeds)


def test_a_second_run_trains_nothing_again(
    studies: dict[str, TrainingStudy], reader: LoadedModel, folder: Path
) -> None:
    counted = Counted()
    again, _ = demonstrate(Cast(reader, None), PLAN, folder, counted)
    assert counted.steps == 0
    assert {one.name: one for one in again} == studies


def test_words_are_live_by_lot(reader: LoadedModel) -> None:
    one, other = (groups_of(reader.tokenizer, 60, seed) for seed in (0, 1))
    words = [word for group in one for word in (group.live, group.dead)]
    assert len(set(words)) == 120
    assert {group.live for group in one} != {group.live for group in other}


def test_the_folder_is_verified_and_its_page_written_again(
    finished: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert study_of(finished) == "training"
    run_verify(finished, None)
    assert "26 safetensors" in capsys.readouterr().out  # 21 on claims, three that planted rules, two of changed rows
    write_report(finished, tmp_path / "page.html", tmp_path / "copy.json")
    page = (tmp_path / "page.html").read_text()
    assert "privileged" in page
    assert "<svg" in page
    assert "<script" not in page
    held = TrainingDocument.model_validate_json((tmp_path / "copy.json").read_text())
    assert held == TrainingDocument.model_validate_json((finished / "result.json").read_text())
    console = Console(record=True, width=100)
    print_training(held, console)
    assert "public-inference" in console.export_text()


def test_an_altered_prediction_is_found(finished: Path) -> None:
    path = next(finished.glob("private/*/seed-0/predictions.json"))
    held = path.read_text()
    path.write_text(json.dumps({**json.loads(held), "more": 1}))
    with pytest.raises(TraceError, match="not the file that was written"):
        run_verify(finished, None)
    path.write_text(held)


def test_a_folder_of_another_run_is_refused(folder: Path, studies: dict[str, TrainingStudy]) -> None:
    with pytest.raises(TraceError, match="other settings"):
        begun(folder, {"plan": "another"})
