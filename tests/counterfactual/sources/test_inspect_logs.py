"""Logs of Inspect are read without it, old and new ones alike."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pyarrow as pa
import pytest

from firsthand.counterfactual.prompts import Tool, ToolCall
from firsthand.counterfactual.sources.inspect_logs import read
from firsthand.counterfactual.sources.zip_members import ZSTANDARD
from firsthand.errors import CounterfactualError

from .conftest import prompts, refusals, spoken

HEADER = {"version": 2, "status": "success", "eval": {"task": "guess", "task_id": "x"}}
TOOLS = [{"name": "bash", "description": "Runs.", "parameters": {"type": "object"}}]


def message(role: str, content: Any, name: str | None = None, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **({"id": name} if name else {}), **more}


def called(name: str, tools: Any = TOOLS) -> dict[str, Any]:
    return {"event": "model", "tools": tools, "output": {"choices": [{"message": {"id": name, "role": "assistant"}}]}}


def sample(*messages: dict[str, Any], name: Any = 1, epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": name, "epoch": epoch, "input": "asked", "messages": list(messages), **more}


U, A = message("user", "u"), message("assistant", "a", "m1")


def archive(
    folder: Path, *samples: Any, header: Mapping[str, Any] = HEADER, method: int = ZIP_DEFLATED, name: str = "log.eval"
) -> Path:
    path = folder / name
    with ZipFile(path, "w", method) as made:
        made.writestr("_journal/start.json", json.dumps(header))
        for number, one in enumerate(samples, start=1):
            made.writestr(f"samples/{number}_epoch_1.json", one if isinstance(one, str) else json.dumps(one))
        made.writestr("summaries.json", "[]")
        made.writestr("header.json", json.dumps(header))
    return path


def zstandard(path: Path, wrong: str = "") -> Path:
    """The same archive with members that Zstandard packed: a stored one whose bytes and method are exchanged.

    The checksum of the member ``wrong`` is another than that of its bytes.
    """
    with ZipFile(path) as old:
        members = {info.filename: old.read(info) for info in old.infolist()}
    new = path.with_name("zstd.eval")
    with ZipFile(new, "w", ZIP_STORED) as made:
        for name, data in members.items():
            made.writestr(name, bytes(pa.compress(data, codec="zstd", asbytes=True)))
            info = made.getinfo(name)
            info.compress_type, info.file_size, info.CRC = ZSTANDARD, len(data), zlib.crc32(data) ^ (name == wrong)
    return new


def test_a_sample_gives_a_prompt_for_each_turn_that_the_model_spoke(tmp_path: Path) -> None:
    path = archive(tmp_path, sample(message("system", "s"), U, A, U, A, name="q7", epoch=2))
    found = prompts(list(read(path)))
    assert [(one.place, len(one.turns)) for one in found] == [
        ("sample q7, epoch 2, turn 2", 2),
        ("sample q7, epoch 2, turn 4", 4),
    ]
    assert {one.cluster for one in found} == {"guess: sample q7"}
    assert [len(one.turns) for one in prompts(list(read(path, cut="last")))] == [4]


def test_epochs_and_logs_of_one_task_share_their_clusters(tmp_path: Path) -> None:
    one = prompts(list(read(archive(tmp_path, sample(U, A), sample(U, A, epoch=2)))))
    other = prompts(list(read(archive(tmp_path, sample(U, A), name="other.eval"))))
    assert len({prompt.cluster for prompt in one + other}) == 1


def test_calls_results_and_tools_are_kept(tmp_path: Path) -> None:
    call = {"id": "c1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
    messages = [
        U,
        message("assistant", "", "m1", tool_calls=[call]),
        message("tool", "bin", tool_call_id="c1", function="bash"),
        message("assistant", "done", "m2"),
    ]
    events = [called("m1"), {"event": "score"}, called("m2", [])]
    found = prompts(list(read(archive(tmp_path, sample(*messages, events=events)))))
    assert found[0].tools == (Tool(name="bash", description="Runs.", parameters={"type": "object"}),)
    assert found[1].tools == ()
    assert found[1].turns[1].calls == (ToolCall(id="c1", name="bash", arguments={"cmd": "ls"}),)
    assert found[1].turns[2].answers == "c1"


def test_a_log_that_does_not_name_messages_has_the_tools_of_its_first_call(tmp_path: Path) -> None:
    event = {"event": "model", "tools": TOOLS, "output": {"choices": [{"message": {"role": "assistant"}}]}}
    [found] = prompts(list(read(archive(tmp_path, sample(U, message("assistant", "a"), events=[event])))))
    assert [tool.name for tool in found.tools] == ["bash"]


def test_examples_that_the_task_gave_are_not_cut_at(tmp_path: Path) -> None:
    example = message("assistant", "example", source="input")
    [found] = prompts(list(read(archive(tmp_path, sample(U, example, U, A)))))
    assert [text for _, text in spoken(found)] == ["u", "example", "u"]


def test_long_texts_that_were_kept_apart_are_put_back(tmp_path: Path) -> None:
    apart = sample(
        message("user", [{"type": "text", "text": "attachment://k1"}]),
        A,
        attachments={"k1": "long text", "k2": "Runs long."},
        events=[called("m1", [{**TOOLS[0], "description": "attachment://k2"}])],
    )
    lost = sample(message("user", "attachment://k9"), A, name=2)
    found = list(read(archive(tmp_path, apart, lost)))
    assert spoken(prompts(found)[0]) == [("user", "long text")]
    assert prompts(found)[0].tools[0].description == "Runs long."
    assert refusals(found) == [("sample 2, epoch 1", "an attachment that is not in the log")]


@pytest.mark.parametrize("given", ["asked", [message("user", "asked")]])
def test_a_sample_that_failed_before_the_model_spoke_gives_its_input(tmp_path: Path, given: Any) -> None:
    found = prompts(list(read(archive(tmp_path, {**sample(), "input": given}))))
    assert [(one.place, spoken(one)) for one in found] == [("sample 1, epoch 1, turn 1", [("user", "asked")])]


def test_a_sample_that_cannot_be_read_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    found = list(
        read(archive(tmp_path, "{", "[]", sample(U, A), {"id": 4}, sample(U, message("tool", "x", tool_call_id="c"))))
    )
    assert len(prompts(found)) == 1
    assert refusals(found) == [
        ("samples/1_epoch_1.json", "a sample that cannot be read"),
        ("samples/2_epoch_1.json", "a sample that cannot be read"),
        ("sample 4, epoch 1", "no messages"),
        ("sample 1, epoch 1, turn 2", "a tool's result without its call"),
    ]


def test_a_json_log_is_read_as_the_same_thing(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps({**HEADER, "samples": [sample(U, A)]}))
    packed = prompts(list(read(archive(tmp_path, sample(U, A)))))
    assert [(one.id, one.place, one.cluster) for one in prompts(list(read(path)))] == [
        (one.id, one.place, one.cluster) for one in packed
    ]
    path.write_text(json.dumps({**HEADER, "samples": None}))
    assert refusals(list(read(path))) == [("the whole log", "a log without samples")]


def test_members_that_zstandard_packed_are_read(tmp_path: Path) -> None:
    path = archive(tmp_path, *[sample(message("user", f"text {n}" * 100), A, name=n) for n in range(5)])
    assert list(read(zstandard(path))) == [
        one.model_copy(update={"source": "zstd.eval"}) for one in prompts(list(read(path)))
    ]


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = zstandard(archive(tmp_path, sample(message("user", "some text " * 50), A)))
    data = bytearray(path.read_bytes())
    place = data.index(b"samples/1_epoch_1.json") + 40
    data[place] ^= 0xFF
    path.write_bytes(bytes(data))
    expected = [("samples/1_epoch_1.json", "a sample that cannot be read")]
    assert refusals(list(read(path))) == expected
    path = archive(tmp_path, sample(U, A), name="other.eval")
    assert refusals(list(read(zstandard(path, wrong="samples/1_epoch_1.json")))) == expected


def test_a_log_that_was_not_closed_is_an_error_that_says_how_to_mend_it(tmp_path: Path) -> None:
    path = archive(tmp_path, sample(U, A))
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(CounterfactualError, match="inspect log recover"):
        list(read(path))


def test_a_log_that_was_closed_early_has_its_task_from_its_beginning(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with ZipFile(path, "w") as made:
        made.writestr("_journal/start.json", json.dumps(HEADER))
        made.writestr("samples/1_epoch_1.json", json.dumps(sample(U, A)))
    assert [one.cluster for one in prompts(list(read(path)))] == ["guess: sample 1"]
