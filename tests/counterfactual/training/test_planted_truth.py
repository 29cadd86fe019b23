"""Trained for real: who can know a rule, and who cannot.

A random model of two layers learns the visible rule, and finds the private one by luck only; what is made of its
trainings is looked at here. That the private rule is read with every seed takes six layers of a real model, nine
minutes on two idle cores: ``FIRSTHAND_PLANTED=1``.
"""

import contextlib
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

from firsthand.cli.runs import run_verify, study_of, write_report
from firsthand.counterfactual.training.demo import QUICK, Cast, DemoPlan, demonstrate
from firsthand.counterfactual.training.folders import begun
from firsthand.counterfactual.training.planting.words import groups_of
from firsthand.counterfactual.training.settings import TrainSettings
from firsthand.engine import LoadedModel
from firsthand.engine.loading import load
from firsthand.errors import InstrumentError, TraceError
from firsthand.progress import Silent
from firsthand.report.training_document import TrainingDocument, TrainingStudy
from firsthand.report.training_terminal import print_training
from firsthand.vocabulary import Verdict

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
        rank=16, alpha=32.0, learning_rate=7e-3, batch=16, epochs=6, kl_share=0.5, checkpoint_steps=1000
    ),
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
def studies(words_model: LoadedModel, folder: Path) -> dict[str, TrainingStudy]:
    begun(folder, {"plan": "test"})
    judged, _ = demonstrate(Cast(words_model, None), PLAN, folder, Silent())
    return {one.name: one for one in judged}


@pytest.fixture(scope="module")
def finished(studies: dict[str, TrainingStudy], words_model: LoadedModel, folder: Path) -> Path:
    from firsthand.cli.train.ending import ended

    start = begun(folder, {"plan": "test"})
    with contextlib.suppress(InstrumentError):  # the private rule does not come out here but by luck
        ended(
            "Two planted rules",
            tuple(studies.values()),
            [words_model],
            PLAN.training,
            folder,
            start,
            "firsthand train demo",
            None,
        )
    return folder


@pytest.mark.skipif(
    "FIRSTHAND_PLANTED" not in os.environ,
    reason="trains 21 models of six layers, nine minutes on two idle cores: set FIRSTHAND_PLANTED=1 to run it",
)
def test_a_rule_that_only_the_weights_hold_is_privileged(tmp_path: Path) -> None:
    begun(tmp_path, {"plan": "quick"})
    judged, _ = demonstrate(Cast(load("smollm2"), None), QUICK, tmp_path, Silent())
    found = {one.name: one.result for one in judged}
    assert found["private"].verdict is Verdict.PRIVILEGED, found["private"].reasons
    assert found["visible"].verdict is Verdict.PUBLIC_INFERENCE, found["visible"].reasons
    areas = {one.name: one.auroc.value for one in found["private"].standings}
    assert areas["private target"] > 0.9
    assert max(value for name, value in areas.items() if name != "private target") < 0.75


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
    studies: dict[str, TrainingStudy], words_model: LoadedModel, folder: Path
) -> None:
    counted = Counted()
    again, _ = demonstrate(Cast(words_model, None), PLAN, folder, counted)
    assert counted.steps == 0
    assert {one.name: one for one in again} == studies


def test_words_are_live_by_lot(words_model: LoadedModel) -> None:
    one, other = (groups_of(words_model.tokenizer, 60, seed) for seed in (0, 1))
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
    assert "A rule that only the target&#39;s weights hold" in page
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
