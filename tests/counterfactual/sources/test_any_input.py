"""Whatever a file holds, a reader yields prompts and reasons, or raises an error that says what is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.sources import SOURCES, Refused, kind_of, read_source
from firsthand.errors import CounterfactualError

MESSAGE_KEYS = ["role", "from", "content", "value", "text", "type", "id", "tool_calls", "tool_call_id", "message_id"]
TOOL_KEYS = ["tool", "tools", "function", "name", "arguments", "parameters", "description", "op", "path"]
RECORD_KEYS = [
    "messages",
    "conversations",
    "prompt",
    "turns",
    "system",
    "cluster",
    "task_id",
    "replies",
    "transcript_id",
]
LOG_KEYS = ["event", "output", "choices", "message", "attachments", "input", "epoch", "metadata", "deleted", "task"]
KEYS = st.sampled_from([*MESSAGE_KEYS, *TOOL_KEYS, *RECORD_KEYS, *LOG_KEYS])
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "system",
        "tool",
        "add",
        "model",
        "text",
        "image",
        "attachment://k",
        "/0/content",
        "remove",
        "x",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.just(1.5) | WORDS | st.just("\ud83d") | st.just(" "),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=12,
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "tool", "system"]), "content": WORDS | VALUES},
        optional={"tool_calls": VALUES, "tool_call_id": VALUES, "id": VALUES, "source": VALUES},
    ),
    max_size=5,
)
EDITS = st.fixed_dictionaries(
    {"operation": st.sampled_from(["add", "rollback", "reset", "json_patch"])},
    optional={"message": VALUES, "count": VALUES, "to_id": VALUES, "new_messages": MESSAGES | VALUES, "patch": VALUES},
)
EVENTS = st.lists(
    VALUES | st.fixed_dictionaries({"type": st.just("transcript_event"), "view": st.just("target"), "edit": EDITS}),
    max_size=5,
)
RECORDS: dict[str, st.SearchStrategy[Any]] = {
    "chat": st.dictionaries(KEYS, VALUES | MESSAGES, max_size=4),
    "trajectories": st.fixed_dictionaries({"traj": MESSAGES | VALUES}, optional={"task_id": VALUES, "tools": VALUES}),
    "oasst": st.fixed_dictionaries({"message_tree_id": VALUES, "prompt": VALUES}),
    "prompts": st.fixed_dictionaries({"turns": MESSAGES | VALUES}, optional={"tools": VALUES}),
    "petri": st.fixed_dictionaries(
        {"metadata": VALUES, "events": EVENTS | VALUES}, optional={"target_messages": MESSAGES}
    ),
    "inspect": st.fixed_dictionaries(
        {
            "eval": VALUES,
            "samples": st.lists(st.fixed_dictionaries({"messages": MESSAGES | VALUES, "events": VALUES}) | VALUES),
        }
    ),
}


@pytest.mark.parametrize("kind", RECORDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_record_stops_a_reader(kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"any-{kind}.json"
    path.write_text(json.dumps(data.draw(RECORDS[kind])) + "\n")
    found = list(read_source(path, kind))
    assert found
    for one in found:
        if isinstance(one, Prompt):
            assert one.id
            assert one.model_dump_json()
            assert one.source
            assert one.place
            assert one.cluster
        elif isinstance(one, Refused):
            assert one.reason


@settings(max_examples=40, deadline=None)
@given(
    content=st.binary(max_size=60),
    begin=st.sampled_from([b"", b"PK\x03\x04", b"PAR1", b"\x1f\x8b", b"{", b"[", b"prompt\n"]),
)
def test_any_bytes_are_recognised_or_refused(
    content: bytes, begin: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "any-bytes"
    path.write_bytes(begin + content)
    try:
        kind = kind_of(path).name
    except CounterfactualError as error:
        kind = error.problem
    assert kind in SOURCES or str(path) in kind
