"""A local model in the roles, behind HTTP and in this process: whatever it writes is read strictly, and all is counted.

The model has random weights, so nothing it says is an answer. What is not under test is played by the planted world.
"""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from running_world import PROGRAM, prompts

sys.path.insert(0, str(Path(__file__).parents[3] / "servers"))

from engine_server import answers_of
from openai_server import Server
from world_server import answered

from firsthand.counterfactual.inspecting.documenting import concluded_of, document_of
from firsthand.counterfactual.inspecting.running import StagesResult, run_stages
from firsthand.counterfactual.inspecting.serving import Settings, served
from firsthand.counterfactual.inspecting.stages.marks import marks_of
from firsthand.counterfactual.inspecting.stages.settings import ROLES, RoleModel, StagesSettings
from firsthand.counterfactual.responses import Sampling
from firsthand.errors import CounterfactualError

Serve = Callable[..., Server]


def tiny_at(serve: Serve, folder: Path, context: int | None) -> RoleModel:
    server = serve(answer=answers_of(replace(served(Settings(str(folder))), context=context)))
    config: dict[str, Any] = {"max_tokens": 24}
    return RoleModel(model="openai-api/local/tiny", base_url=server.url, config=config, billed=False)


@pytest.fixture
def tiny(serve: Serve, tiny_folder: Path, tmp_path: Path) -> RoleModel:
    """The random model behind a server, with room for everything that a role is shown."""
    folder = tmp_path / "roomy"
    shutil.copytree(tiny_folder, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 8192}))
    return tiny_at(serve, folder, None)


@pytest.fixture
def world(serve: Serve) -> RoleModel:
    return RoleModel(model="openai-api/local/world", base_url=serve(answer=answered).url, billed=False)


def settings(folder: Path, world: RoleModel, **others: Any) -> StagesSettings:
    """The world in all roles but those that are named."""
    roles = {**dict.fromkeys(ROLES, world), **{role: others.pop(role) for role in ROLES if role in others}}
    sampling = Sampling(samples=10, max_tokens=16)
    return StagesSettings(folder=str(folder), roles=roles, sampling=sampling, effort="light", **others)


def document(result: StagesResult, chosen: StagesSettings) -> Any:
    return document_of(result, concluded_of(result, chosen), chosen, prompts(2))


def test_a_screener_that_writes_nonsense_flags_nothing_and_is_counted(
    tmp_path: Path, tiny: RoleModel, world: RoleModel
) -> None:
    chosen = settings(tmp_path / "run", world, target=tiny, screener=tiny)
    result = run_stages(chosen, prompts(2))
    assert result.finished
    assert {(one.stage, one.status) for one in result.endings} == {("screen", "invalid")}
    assert result.counts == {"screen: screener: invalid": 2}
    assert document(result, chosen).account.kept == 0


def test_a_screener_that_the_material_is_too_long_for_gives_no_reply_and_is_asked_once(
    tmp_path: Path, serve: Serve, tiny_folder: Path, world: RoleModel
) -> None:
    result = run_stages(settings(tmp_path / "run", world, screener=tiny_at(serve, tiny_folder, 600)), prompts(2))
    assert result.finished
    assert {(one.stage, one.status) for one in result.endings} == {("screen", "invalid")}
    assert all("maximum context length is 600" in one.why for one in result.endings)
    assert result.counts == {"screen: screener: no reply": 2}


def test_an_investigator_that_calls_no_tool_files_nothing(tmp_path: Path, tiny: RoleModel, world: RoleModel) -> None:
    chosen = settings(tmp_path / "run", world, investigator=tiny, behaviours=(PROGRAM,))
    result = run_stages(chosen, prompts(2))
    assert result.finished
    assert [one.report for one in result.investigations] == [None, None]
    assert all("without a tool call" in one.ended for one in result.investigations)
    assert result.counts["investigate: investigator: turn without a tool call"] == 6
    steps = {one.name: one for one in concluded_of(result, chosen).funnel.steps}
    assert steps["a report was filed"].kept == 0


def test_a_classifier_whose_verdicts_cannot_be_read_gives_invalid_ones_and_no_rate(
    tmp_path: Path, tiny: RoleModel, world: RoleModel
) -> None:
    result = run_stages(settings(tmp_path / "run", world, classifier=tiny), prompts(1))
    assert {(one.stage, one.status) for one in result.endings} == {("classify", "rare")}
    assert result.counts["classify: classifier: invalid"] == 10


def test_a_judge_whose_judgements_cannot_be_read_accepts_nothing(
    tmp_path: Path, tiny: RoleModel, world: RoleModel
) -> None:
    chosen = settings(tmp_path / "run", world, judge=tiny, behaviours=(PROGRAM,), judges=3)
    result = run_stages(chosen, prompts(1))
    (one,) = result.investigations
    assert [judgement.score for judgement in one.judgements] == [None] * 3
    assert result.counts == {"verify: judge: invalid": 3}
    assert result.claims == ()
    concluded = concluded_of(result, chosen)
    assert {s.name: s for s in concluded.funnel.steps}["judges find it supported"].dropped == {
        "too few valid judgements": 1
    }
    assert concluded.errors == {}


def test_a_describer_whose_descriptions_cannot_be_read_makes_no_claim_and_its_losses_are_in_the_funnel(
    tmp_path: Path, tiny: RoleModel, world: RoleModel
) -> None:
    chosen = settings(tmp_path / "run", world, describer=tiny, behaviours=(PROGRAM,))
    result = run_stages(chosen, prompts(1))
    assert result.claims == ()
    lost = result.counts["claim: describer: invalid"]
    assert lost > 0
    described = {one.name: one for one in concluded_of(result, chosen).funnel.steps}["described"]
    assert (described.given, described.kept, described.dropped) == (lost, 0, {"no valid description": lost})


def test_weights_are_part_of_a_local_target_s_identity(tmp_path: Path, tiny_folder: Path, world: RoleModel) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_folder, folder)
    local = RoleModel(model=f"firsthand/{folder}", billed=False)
    chosen = settings(tmp_path / "run", world, target=local, behaviours=(PROGRAM,))
    first = run_stages(chosen, prompts(1))
    assert run_stages(chosen, prompts(1)).target == first.target
    weights = folder / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(bytes(changed))
    with pytest.raises(CounterfactualError, match="other settings: weights"):
        run_stages(chosen, prompts(1))
    other = run_stages(chosen.model_copy(update={"folder": str(tmp_path / "other")}), prompts(1), until="sample")
    assert other.target != first.target


def test_special_tokens_of_the_models_that_read_are_known(tiny_folder: Path, world: RoleModel) -> None:
    local = RoleModel(model=f"firsthand/{tiny_folder}", billed=False)
    marks = marks_of(settings(tiny_folder, world, judge=local))
    assert {"<|im_start|>", "<|im_end|>", "<file_sep>"} <= set(marks)
    assert marks_of(settings(tiny_folder, world)) == ()
