"""The stages over a real HTTP server that goes wrong in every way: what passes is repeated, the rest is invalid."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_world import target as say
from planted_world import world
from running_world import PROGRAM, prompts

sys.path.insert(0, str(Path(__file__).parents[3] / "servers"))

from engine_server import _message
from inspect_ai.model import GenerateConfig
from openai_server import KEY, Reply, Server
from planted_world import role_of
from tenacity.wait import wait_none

from firsthand.counterfactual.inspecting import running
from firsthand.counterfactual.inspecting.stages.settings import RoleModel, StagesSettings
from firsthand.counterfactual.responses import Sampling
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

KINDS = ("429", "500", "503", "cut", "no json", "empty", "too long", "filtered prompt", "no choice", "no n")


def answered(body: dict[str, Any], wanted: int) -> list[Reply]:
    """The planted world behind OpenAI's protocol."""
    messages = [_message(one) for one in body["messages"]]
    config = GenerateConfig(seed=body.get("seed"), num_choices=wanted)
    role = role_of(messages, [])
    output = say(messages, config) if role == "target" else world(role, messages, [], config)
    return [
        Reply(
            content=choice.message.text,
            calls=tuple((one.function, json.dumps(one.arguments)) for one in choice.message.tool_calls or ()),
            finish="tool_calls" if choice.message.tool_calls else "stop",
        )
        for choice in output.choices
    ]


def sometimes(body: dict[str, Any], before: int) -> Any:
    """One call in six goes wrong, each in its own way, and half of them only once."""
    draw = stream("faults", digest([body["messages"], body.get("seed")]))
    kind = KINDS[int(draw.integers(len(KINDS)))]
    return kind if draw.random() < 1 / 6 and (before == 0 or draw.random() < 0.5) else None


def test_every_prompt_is_accounted_for_whatever_the_server_does(
    tmp_path: Path, serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(answer=answered, fault=sometimes)
    made = running.model_of

    def at_once(*arguments: Any) -> Any:
        model = made(*arguments)
        model.api.retry_wait = lambda: wait_none()  # type: ignore[method-assign]
        return model

    monkeypatch.setattr(running, "model_of", at_once)
    (tmp_path / "fence.key").write_bytes(bytes(range(32)))  # what goes wrong depends on what is said, fences included
    playing = RoleModel(model="openai-api/local/scripted", base_url=server.url, arguments={"max_retries": 0})
    settings = StagesSettings(
        folder=str(tmp_path),
        roles={"target": playing, "investigator": playing},
        sampling=Sampling(samples=10),
        behaviours=(PROGRAM,),
        effort="light",
        retries=3,
    )
    result = running.run_stages(settings, prompts(4))
    assert result.finished
    assert {one.prompt for one in result.endings} == {one.id for one in prompts(4)}
    assert not [one for one in result.endings if one.status in ("failed", "not reached")], result.endings
    assert len(Counter(one.fault for one in server.seen)) > 3
    assert result.claims
    assert all(experiment.rate.responses == 10 for one in result.investigations for experiment in one.experiments)
    for log in (tmp_path / "logs").rglob("*.eval"):
        assert KEY.encode() not in log.read_bytes()

    calls = len(server.seen)
    assert running.run_stages(settings, prompts(4)) == result
    assert len(server.seen) == calls
