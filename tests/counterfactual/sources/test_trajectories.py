"""Trajectories are cut where the agent spoke; calls and results stay, and tasks stay together."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from firsthand.counterfactual.prompts import ToolCall
from firsthand.counterfactual.sources.trajectories import read

from .conftest import prompts, refusals

SYSTEM = {"role": "system", "content": "Be an agent of an airline."}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"user": "mia"}'}}],
}
TRAJECTORY = [
    SYSTEM,
    {"role": "user", "content": "Book."},
    {"role": "assistant", "content": "Who are you?"},
    {"role": "user", "content": "mia"},
    CALL,
    {"role": "tool", "tool_call_id": "c1", "name": "find", "content": '{"name": "Mia"}'},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "###STOP###"},
]


def record(task: int, trial: int, messages: list[dict[str, Any]] = TRAJECTORY) -> dict[str, Any]:
    return {"task_id": task, "trial": trial, "reward": 0.0, "traj": messages}


def test_each_turn_of_the_agent_is_a_prompt_with_calls_and_results(written: Callable[..., Path]) -> None:
    found = prompts(list(read(written(document=[record(3, 1)], name="runs.json"))))
    assert [one.place for one in found] == [f"record 1, task 3, trial 1, turn {n}" for n in (2, 4, 6)]
    assert found[-1].turns[4].calls == (ToolCall(id="c1", name="find", arguments={"user": "mia"}),)
    assert (found[-1].turns[5].role, found[-1].turns[5].answers) == ("tool", "c1")
    assert not any("STOP" in one.user_text for one in found)


def test_a_task_is_one_cluster_over_trials_and_files_but_not_over_policies(written: Callable[..., Path]) -> None:
    other = [{**SYSTEM, "content": "Be an agent of a shop."}, *TRAJECTORY[1:]]
    one = prompts(list(read(written(record(3, 0), record(3, 1), record(4, 0), name="one.jsonl"))))
    two = prompts(list(read(written(record(3, 0), record(3, 0, other), name="two.jsonl"))))
    assert len({prompt.cluster for prompt in one}) == 2
    assert {prompt.cluster for prompt in two[:3]} == {one[0].cluster}
    assert not {prompt.cluster for prompt in two[3:]} & {prompt.cluster for prompt in one}


def test_without_a_task_a_trajectory_is_its_own_cluster(written: Callable[..., Path]) -> None:
    found = prompts(list(read(written({"trajectory": TRAJECTORY}, {"messages": TRAJECTORY}))))
    assert {prompt.cluster for prompt in found} == {"set.jsonl: line 1", "set.jsonl: line 2"}
    assert len(found) == 6


def test_records_without_a_trajectory_are_refused(written: Callable[..., Path]) -> None:
    found = list(read(written({"messages_display": "user: hi"}, {"traj": "user: hi"}, {"traj": [7], "tools": 7})))
    assert refusals(found) == [
        ("line 1", "a record without a trajectory"),
        ("line 2", "no messages"),
        ("line 3", "tools that cannot be read"),
    ]
