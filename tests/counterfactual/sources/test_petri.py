"""Of an audit's transcript the target's view is rebuilt from its events, and cut at each turn of the target."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firsthand.counterfactual.sources.petri import read

from .conftest import alterations, prompts, refusals, spoken

META = {"transcript_id": "t1", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}
Written = Callable[..., Path]


def message(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def edit(view: Any = ("target", "combined"), **made: Any) -> dict[str, Any]:
    return {"type": "transcript_event", "view": view if isinstance(view, str) else list(view), "edit": made}


def add(role: str, content: str, view: Any = ("target", "combined"), **more: Any) -> dict[str, Any]:
    return edit(view, operation="add", message=message(role, content, **more))


def tool(name: str) -> dict[str, Any]:
    made = {"name": name, "description": "", "parameters": {"type": "object", "properties": {}}}
    return {"type": "tool_creation_event", "model": "auditor", "tool": made}


BEGIN = [add("system", "s"), add("user", "u1"), add("assistant", "a1"), add("user", "u2"), add("assistant", "a2")]


@pytest.fixture
def transcript(written: Written) -> Callable[..., Path]:
    def write(*events: Any, **more: Any) -> Path:
        return written(document={"metadata": META, "events": list(events), **more}, name="audit.json")

    return write


def texts(path: Path, **options: Any) -> list[str]:
    return [" ".join(text for _, text in spoken(one)) for one in prompts(list(read(path, **options)))]


def test_each_turn_of_the_target_gives_what_it_had_seen(transcript: Written) -> None:
    path = transcript(*BEGIN, {"type": "info_event", "info": "note"}, {"type": "decision_event", "content": 1})
    assert texts(path) == ["s u1", "s u1 a1 u2"]
    found = prompts(list(read(path)))
    assert [one.place for one in found] == ["transcript t1, turn 2", "transcript t1, turn 4"]
    assert {one.cluster for one in found} == {"transcript t1"}


def test_what_only_the_auditor_saw_is_no_part_of_it(transcript: Written) -> None:
    path = transcript(
        add("user", "instructions", view="auditor"),
        add("assistant", "a plan", view=["auditor", "combined"]),
        add("user", "u1", view="target"),
        add("assistant", "a1"),
    )
    assert texts(path) == ["u1"]


def test_tools_are_those_that_had_been_made_and_results_answer_calls(transcript: Written) -> None:
    call = [{"id": "c1", "function": "look", "arguments": {"at": "here"}, "type": "function"}]
    path = transcript(
        tool("look"),
        add("user", "u1"),
        add("assistant", "", tool_calls=call),
        tool("send"),
        add("tool", "a cat", tool_call_id="c1", function="look"),
        add("assistant", "a1"),
    )
    found = prompts(list(read(path)))
    assert [[one.name for one in prompt.tools] for prompt in found] == [["look"], ["look", "send"]]
    assert found[1].turns[1].calls[0].arguments == {"at": "here"}
    assert found[1].turns[2].answers == "c1"


def test_two_runs_of_one_seed_share_a_cluster(written: Written) -> None:
    clusters = set()
    for name in ("t1", "t2"):
        path = written(document={"metadata": {**META, "transcript_id": name, "description": "a seed"}, "events": BEGIN})
        clusters |= {one.cluster for one in prompts(list(read(path)))}
    assert len(clusters) == 1


ROLLED = [*BEGIN, edit(operation="rollback", count=2), add("user", "u3"), add("assistant", "a3")]


def test_what_was_rolled_back_is_left_out_and_that_is_said(transcript: Written) -> None:
    assert texts(transcript(*ROLLED)) == ["s u1", "s u1 a1 u3"]
    assert alterations(list(read(transcript(*ROLLED)))) == [
        ("transcript t1", "turns that the auditor rolled back left out")
    ]
    assert not alterations(list(read(transcript(*BEGIN))))


def test_what_was_rolled_back_may_be_wanted(transcript: Written) -> None:
    found = prompts(list(read(transcript(*ROLLED), branches="every")))
    assert [" ".join(text for _, text in spoken(one)) for one in found] == [
        "s u1",
        "s u1 a1 u2",
        "s u1",
        "s u1 a1 u3",
    ]
    assert found[1].place == "transcript t1, branch 1, turn 4"


def test_a_rollback_may_name_the_message_that_it_goes_back_to(transcript: Written) -> None:
    begin = [add("user", "u1", id="m1"), add("assistant", "a1", id="m2"), add("user", "u2", id="m3")]
    for rollback in ({"count": 0, "to_id": "m1"}, {"count": 2, "to_id": "m1"}, {"count": 2}):
        path = transcript(*begin, edit(operation="rollback", **rollback), add("user", "u3"), add("assistant", "a3"))
        assert texts(path) == ["u1 u3"]


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (edit(operation="rollback", count=9), "a rollback of more than was said"),
        (edit(operation="rollback", count=1, to_id="nowhere"), "a rollback whose count and message disagree"),
        (edit(operation="rewind"), "an event that cannot be carried out"),
        (edit(operation="json_patch", patch=[{"op": "move", "path": "/0"}]), "a patch that cannot be made"),
        (edit(operation="json_patch", patch=[{"op": "remove", "path": "/9"}]), "a patch that cannot be made"),
        (edit(operation="reset", new_messages=[7]), "messages that cannot be read"),
        ("a string", "an event that cannot be carried out"),
        ({"type": "tool_creation_event", "tool": {"description": "x"}}, "tools that cannot be read"),
    ],
)
def test_what_cannot_be_carried_out_exactly_is_refused(event: Any, reason: str, transcript: Written) -> None:
    assert refusals(list(read(transcript(*BEGIN, event)))) == [("transcript t1", reason)]


def test_a_reset_begins_anew_with_the_messages_that_it_brings(transcript: Written) -> None:
    path = transcript(
        *BEGIN,
        edit(operation="reset", new_messages=[message("system", "t"), message("user", "u9")]),
        add("assistant", "a9"),
    )
    assert texts(path) == ["t u9"]
    assert texts(path, branches="every") == ["s u1", "s u1 a1 u2", "t u9"]


@pytest.mark.parametrize("root", ["", "/messages"])
def test_a_patch_changes_messages_in_place(root: str, transcript: Written) -> None:
    patch = [
        {"op": "replace", "path": f"{root}/0/content", "value": "t"},
        {"op": "add", "path": f"{root}/-", "value": message("user", "u3")},
        {"op": "add", "path": f"{root}/1", "value": message("user", "u0")},
        {"op": "remove", "path": f"{root}/2"},
    ]
    path = transcript(
        add("system", "s"), add("user", "u1"), edit(operation="json_patch", patch=patch), add("assistant", "a")
    )
    assert texts(path) == ["t u0 u3"]


def test_transcripts_of_before_there_were_events_are_read(transcript: Written) -> None:
    path = transcript(target_messages=[message("user", "u1"), message("assistant", "a1")])
    assert texts(path) == ["u1"]


def test_a_transcript_in_which_the_target_saw_nothing_is_refused(transcript: Written) -> None:
    assert refusals(list(read(transcript()))) == [("transcript t1", "no messages")]


def test_the_events_here_are_those_of_the_published_schema(published: Path) -> None:
    """The names that are read are the names that the schema has."""
    schema = json.loads((published / "petri" / "transcript_schema.json").read_text())
    definitions = schema["$defs"]
    operations = {
        name: definitions[name]["properties"]["operation"]["const"]
        for name in ("AddMessage", "Rollback", "Reset", "JSONPatchEdit")
    }
    assert set(operations.values()) == {"add", "rollback", "reset", "json_patch"}
    assert {"count", "to_id"} <= set(definitions["Rollback"]["properties"])
    assert "new_messages" in definitions["Reset"]["properties"]
    assert "patch" in definitions["JSONPatchEdit"]["properties"]
    assert {"view", "edit"} <= set(definitions["TranscriptEvent"]["properties"])
    assert definitions["ToolCreationEvent"]["properties"]["type"]["const"] == "tool_creation_event"
    assert {"transcript_id", "description"} <= set(definitions["TranscriptMetadata"]["properties"])
    assert {"metadata", "events", "target_messages"} <= set(schema["properties"])
