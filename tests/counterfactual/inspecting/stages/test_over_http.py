"""The stages over a real HTTP server that goes wrong in every way: what passes is repeated, the rest is invalid."""

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_world import PROGRAM, prompts

sys.path.insert(0, str(Path(__file__).parents[3] / "servers"))

from openai_server import KEY, Kind, Server, digest_of, text_of
from tenacity.wait import wait_none
from world_server import answered

from firsthand.counterfactual.inspecting import running
from firsthand.counterfactual.inspecting.stages.settings import RoleModel, StagesSettings
from firsthand.counterfactual.responses import Sampling
from firsthand.trials.canonical import digest
from firsthand.trials.randomness import stream

Serve = Callable[..., Server]
PASSING: tuple[Kind, ...] = ("429", "500", "503", "cut", "no json")
REFUSING: tuple[Kind, ...] = ("bad request", "403")
STAYING: tuple[Kind, ...] = ("empty", "too long", "filtered prompt", "no choice")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are repeated without a pause."""
    made = running.model_of

    def at_once(*arguments: Any) -> Any:
        model = made(*arguments)
        model.api.retry_wait = lambda: wait_none()  # type: ignore[method-assign]
        return model

    monkeypatch.setattr(running, "model_of", at_once)


def settings(folder: Path, server: Server, **others: Any) -> StagesSettings:
    folder.mkdir(exist_ok=True)
    (folder / "fence.key").write_bytes(bytes(range(32)))  # what goes wrong depends on what is said, fences included
    playing = RoleModel(model="openai-api/local/scripted", base_url=server.url, arguments={"max_retries": 0})
    shared: dict[str, Any] = {"sampling": Sampling(samples=10), "effort": "light", "retries": 3}
    roles = {"target": playing, "investigator": playing}
    return StagesSettings(folder=str(folder), roles=roles, behaviours=(PROGRAM,), **{**shared, **others})


class Weather:
    """One call in six goes wrong: passing faults pass after one attempt, or not before it clears up."""

    def __init__(self) -> None:
        self.cleared = False

    def __call__(self, body: dict[str, Any], before: int) -> Kind | None:
        draw = stream("faults", digest([body["messages"], body.get("seed")]))
        kinds = PASSING + REFUSING + STAYING
        kind, wrong, stays = kinds[int(draw.integers(len(kinds)))], draw.random() < 1 / 6, draw.random() < 0.5
        if not wrong:
            return None
        return kind if kind not in PASSING or before == 0 or (stays and not self.cleared) else None


def test_every_prompt_is_accounted_for_whatever_the_server_does_and_lost_calls_are_made_again(
    tmp_path: Path, serve: Serve
) -> None:
    weather = Weather()
    server, given = serve(answer=answered, fault=weather), prompts(6)
    chosen = settings(tmp_path / "run", server)
    first = running.run_stages(chosen, given)
    assert {one.prompt for one in first.endings} == {one.id for one in given}
    assert {one.status for one in first.endings} > {"waits"}  # some wait, and the others went on
    assert not first.finished
    assert "lost after all retries" in first.stopped

    weather.cleared = True
    result = running.run_stages(chosen, given)
    assert result.finished, result.stopped
    assert {one.prompt for one in result.endings} == {one.id for one in given}
    assert not [one for one in result.endings if one.status in ("failed", "not reached", "waits")], result.endings
    assert len(Counter(one.fault for one in server.seen)) > 6
    assert result.claims
    assert all(experiment.rate.responses == 10 for one in result.investigations for experiment in one.experiments)
    made = Counter(digest_of(one.body) for one in server.seen if one.fault is None)
    again = [one for one in server.seen if made[digest_of(one.body)] > 1]
    # How concrete a mechanism is may be asked alike of several investigations: the question does not name the prompt.
    assert all("how concrete" in one.body["messages"][0]["content"] for one in again)
    for log in (tmp_path / "run" / "logs").rglob("*.eval"):
        assert KEY.encode() not in log.read_bytes()

    calls = len(server.seen)
    assert running.run_stages(chosen, given) == result
    assert len(server.seen) == calls


def of_one(kind: Kind, mark: str) -> Callable[[dict[str, Any], int], Kind | None]:
    """A fault of every call about one prompt."""
    return lambda body, before: kind if mark in text_of(body) else None


@pytest.mark.parametrize("kind", ["bad request", "403"])
def test_a_prompt_that_is_refused_is_its_own_outcome_with_the_reason(tmp_path: Path, serve: Serve, kind: Kind) -> None:
    server = serve(answer=answered, fault=of_one(kind, "Note 0."))
    result = running.run_stages(settings(tmp_path / "run", server), prompts(3), until="classify")
    assert not result.stopped
    ends = {one.prompt: one for one in result.endings}
    refused = ends[prompts(3)[0].id]
    assert (refused.stage, refused.status) == ("sample", "nothing said")
    assert "400" in refused.why or "403" in refused.why
    assert {one.status for name, one in ends.items() if name != refused.prompt} == {"frequent"}
    assert result.counts["sample: target: refused call"] >= 1


@pytest.mark.parametrize("kind", ["401", "404"])
def test_a_key_or_a_model_that_is_refused_stops_the_run_and_is_no_outcome(
    tmp_path: Path, serve: Serve, kind: Kind
) -> None:
    server = serve(answer=answered, fault=lambda body, before: kind)
    result = running.run_stages(settings(tmp_path / "run", server, samples_at_once=1), prompts(4))
    assert kind in result.stopped
    assert {one.status for one in result.endings} == {"waits"}
    assert len(server.seen) == 1


@pytest.mark.parametrize("kind", ["403", "503"])
def test_when_nobody_is_answered_it_is_an_outage_and_no_outcome(tmp_path: Path, serve: Serve, kind: Kind) -> None:
    down = [kind]
    server = serve(answer=answered, fault=lambda body, before: down[0] if down else None)
    chosen = settings(tmp_path / "run", server, samples_at_once=1, give_up_after=3, retries=0)
    result = running.run_stages(chosen, prompts(6), until="sample")
    assert "3 calls of the target in a row failed" in result.stopped
    assert {one.status for one in result.endings} == {"waits"}
    assert len(server.seen) == 3
    down.clear()
    assert {one.status for one in running.run_stages(chosen, prompts(6), until="sample").endings} == {"sampled"}


def test_an_outage_of_one_role_is_not_hidden_by_the_answers_of_another(tmp_path: Path, serve: Serve) -> None:
    server = serve(answer=answered, fault=lambda body, before: "503" if "tools" in body else None)
    chosen = settings(tmp_path / "run", server, samples_at_once=1, give_up_after=3, retries=0)
    result = running.run_stages(chosen, prompts(5))
    assert "3 calls of the investigator in a row failed" in result.stopped


def test_a_provider_that_caps_choices_is_asked_for_as_many_as_it_gives(tmp_path: Path, serve: Serve) -> None:
    for most, kind in ((8, "at most 8"), (1, "no n")):
        server = serve(
            answer=answered, fault=lambda body, _, most=most, kind=kind: kind if body.get("n", 1) > most else None
        )
        chosen = settings(tmp_path / str(most), server, samples_at_once=1)
        result = running.run_stages(chosen, prompts(2), until="sample")
        assert {one.status for one in result.endings} == {"sampled"}
        assert sum(one.body.get("n", 1) for one in server.seen if one.fault is None) == 20
        assert sum(one.fault is not None for one in server.seen) == (1 if most == 8 else 2)
