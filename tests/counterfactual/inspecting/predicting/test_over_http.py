"""A predictor over a real HTTP server that goes wrong: what is lost waits, and what stays lost is its own outcome."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tiny_tools import question_of

sys.path.insert(0, str(Path(__file__).parents[3] / "servers"))

from openai_server import KEY, PASSING, Kind, Reply, Server
from tenacity.wait import wait_none

from firsthand.counterfactual.inspecting import running
from firsthand.counterfactual.inspecting.predicting.agent import AgentPredictor
from firsthand.counterfactual.inspecting.stages.settings import RoleModel
from firsthand.counterfactual.predicting.predictions import Prediction


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One that foretells 0.7, and repeats calls without a pause."""
    made = running.model_of

    def at_once(*arguments: Any) -> Any:
        model = made(*arguments)
        model.api.retry_wait = lambda: wait_none()  # type: ignore[method-assign]
        return model

    monkeypatch.setattr(running, "model_of", at_once)
    monkeypatch.setenv("LOCAL_API_KEY", KEY)
    with Server(reply=lambda body, number: Reply('{"reason": "so it seems", "probability": 0.7}')) as one:
        yield one


def predicted(server: Server, folder: Path) -> list[Prediction]:
    playing = RoleModel(model="openai-api/local/scripted", base_url=server.url, arguments={"max_retries": 0})
    asked = [question_of(f"Name a fruit, number {n}.").model_copy(update={"claim": f"claim-{n}"}) for n in range(3)]
    return AgentPredictor(playing, folder, retries=1).predict(asked)


def failing(kind: Kind) -> Any:
    """One prompt fails in this way, however often it is sent."""
    return lambda body, before: kind if "number 1" in str(body["messages"]) else None


@pytest.mark.parametrize("kind", [one for one in PASSING if one not in ("hang", "429 with Retry-After")])
def test_a_prompt_that_fails_in_three_runs_is_invalid_with_its_reason(
    server: Server, tmp_path: Path, kind: Kind
) -> None:
    server.fault = failing(kind)
    for _ in range(2):
        found = predicted(server, tmp_path)
        assert [one.waits for one in found] == [False, True, False]
    found = predicted(server, tmp_path)
    assert [one.probability for one in found] == [0.7, None, 0.7]
    assert found[1].note.endswith("the same in 3 runs")
    assert KEY not in found[1].note
    before = len(server.seen)
    assert predicted(server, tmp_path) == found
    assert len(server.seen) == before


def test_a_fault_that_passes_in_time_leaves_no_trace(server: Server, tmp_path: Path) -> None:
    server.fault = failing("503")
    assert [one.waits for one in predicted(server, tmp_path)] == [False, True, False]
    server.fault = lambda body, before: None
    assert [one.probability for one in predicted(server, tmp_path)] == [0.7, 0.7, 0.7]
