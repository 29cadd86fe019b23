"""The kind of a file is recognised by what it holds, never by its name."""

import gzip
import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firsthand.counterfactual.sources import SOURCES, kind_of, read_source, records_in
from firsthand.errors import CounterfactualError

from .conftest import prompts, refusals

Written = Callable[..., Path]
U, A = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}
META = {"transcript_id": "t", "created_at": "", "updated_at": ""}
RECORDS: dict[str, dict[str, Any]] = {
    "prompts": {"turns": [U]},
    "petri": {"metadata": META, "events": []},
    "oasst": {"message_tree_id": "t", "prompt": {"message_id": "m", "text": "u", "role": "prompter", "replies": []}},
    "trajectories": {"task_id": 1, "traj": [U, A]},
    "chat": {"messages": [U]},
    "inspect": {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"id": 1, "messages": [U, A]}]},
}


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("indent", [None, 1])
def test_json_of_each_kind_is_recognised_however_it_is_laid_out(kind: str, indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(json.dumps(RECORDS[kind], indent=indent))
    assert kind_of(path).name == kind


@pytest.mark.parametrize("kind", ["chat", "trajectories", "oasst", "prompts"])
def test_lists_and_packed_lines_are_recognised_too(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(json.dumps([RECORDS[kind]]))
    assert kind_of(path).name == kind
    path.write_bytes(gzip.compress(json.dumps(RECORDS[kind]).encode() + b"\n"))
    assert kind_of(path).name == kind


def test_tables_archives_and_parquet_are_recognised(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text('"act","prompt"\na,b\n')
    assert kind_of(path).name == "csv"
    pq.write_table(pa.Table.from_pydict({"conversation": [[U]]}), path)
    assert kind_of(path).name == "wildchat"
    with ZipFile(path, "w") as made:
        made.writestr("header.json", json.dumps(RECORDS["inspect"]))
    assert kind_of(path).name == "inspect"


def test_every_kind_is_recognised_somewhere_above() -> None:
    assert set(SOURCES) == {*RECORDS, "csv", "wildchat"}


@pytest.mark.parametrize(
    "content",
    [b"just some text\n", b"", b"\x00\xff\xfe", b'{"a": 1}\n', b"[]", b"[1, 2]", b"a,b\n1,2\n", b"PK\x03\x04zip"],
)
def test_what_is_not_recognised_is_an_error_that_names_the_kinds(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(content)
    with pytest.raises(CounterfactualError) as error:
        kind_of(path)
    assert all(f"{name} (" in error.value.remedy for name in SOURCES)
    assert str(path) in error.value.problem


def test_parquet_of_another_shape_and_damaged_parquet_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "data"
    pq.write_table(pa.Table.from_pydict({"a": [1]}), path)
    with pytest.raises(CounterfactualError, match="it holds a"):
        kind_of(path)
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(CounterfactualError, match="could not be read"):
        kind_of(path)


def test_a_kind_that_is_named_is_believed(written: Written) -> None:
    path = written({"task_id": 1, "messages": [U, A, U, A]})
    assert len(prompts(list(read_source(path)))) == 1
    assert len(prompts(list(read_source(path, "trajectories")))) == 2


def test_what_a_user_got_wrong_is_said_before_anything_is_read(written: Written, tmp_path: Path) -> None:
    path = written({"messages": [U]})
    for call, problem in (
        (lambda: read_source(path, "chats"), "no kind of source 'chats'"),
        (lambda: read_source(path, cuts="every"), "has no option 'cuts'"),
        (lambda: read_source(path, cut="each"), "cannot be 'each'"),
        (lambda: read_source(tmp_path / "nowhere"), "does not exist"),
        (lambda: read_source(tmp_path, cuts="every"), "No source has an option 'cuts'"),
    ):
        with pytest.raises(CounterfactualError, match=problem):
            call()


def test_a_folder_is_read_file_by_file_and_what_is_no_source_is_refused(written: Written, tmp_path: Path) -> None:
    written({"messages": [U]}, name="in/b.jsonl")
    written(document=RECORDS["petri"], name="in/deep/a.json")
    (tmp_path / "in" / "LICENSE").write_text("All rights.")
    (tmp_path / "in" / ".hidden").write_text("x")
    (tmp_path / "in" / "c.parquet").write_bytes(b"PAR1")
    found = list(read_source(tmp_path / "in", cut="last"))
    assert [one.source for one in prompts(found)] == ["b.jsonl"]
    assert refusals(found) == [
        ("LICENSE", "a file that cannot be read"),
        ("c.parquet", "a file that cannot be read"),
        ("transcript t", "no messages"),
    ]


def test_a_damaged_file_of_a_folder_does_not_keep_the_others_from_being_read(written: Written, tmp_path: Path) -> None:
    texts = [sha256(str(n).encode()).hexdigest() for n in range(2_000)]  # so that packing leaves much to cut off
    path = written(*[{"prompt": text} for text in texts], name="in/a.jsonl")
    data = gzip.compress(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    written({"messages": [U]}, name="in/b.jsonl")
    found = list(read_source(tmp_path / "in"))
    assert refusals(found)[-1] == ("a.jsonl", "a file that cannot be read")
    assert prompts(found)[-1].source == "b.jsonl"
    with pytest.raises(CounterfactualError, match="could not be read"):
        list(read_source(path))


def test_how_many_records_there_are_is_known_where_it_is_cheap(written: Written, tmp_path: Path) -> None:
    path = written(*[{"messages": [U]}] * 3)
    assert records_in(path, SOURCES["chat"]) == 3
    pq.write_table(pa.Table.from_pydict({"conversation": [[U]] * 4}), tmp_path / "p")
    assert records_in(tmp_path / "p", SOURCES["wildchat"]) == 4
    assert records_in(written(document=[RECORDS["chat"]]), SOURCES["chat"]) is None
    assert records_in(path, SOURCES["trajectories"]) is None
