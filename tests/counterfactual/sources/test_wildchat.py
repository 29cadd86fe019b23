"""Conversations of a Parquet file, of which only what is needed is read."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from firsthand.counterfactual.sources import wildchat
from firsthand.counterfactual.sources.making import CUT_BACK
from firsthand.errors import CounterfactualError

from .conftest import alterations, prompts, refusals, spoken


def said(*contents: str | None) -> list[dict[str, Any]]:
    roles = ("user", "assistant")
    return [
        {"content": content, "role": roles[n % 2], "country": "x", "toxic": False, "turn_identifier": n}
        for n, content in enumerate(contents)
    ]


def file(folder: Path, *conversations: Any, column: str = "conversation", **more: list[Any]) -> Path:
    path = folder / "train.parquet"
    rows = pa.Table.from_pydict(
        {
            "conversation_hash": [f"h{n}" for n in range(len(conversations))],
            column: list(conversations),
            "language": ["English"] * len(conversations),
            "openai_moderation": [[{"flagged": False}]] * len(conversations),
            **more,
        }
    )
    pq.write_table(rows, path)
    return path


def test_a_row_gives_the_conversation_up_to_where_the_target_speaks(tmp_path: Path) -> None:
    found = list(wildchat.read(file(tmp_path, said("a", "b", "c", "d"), said("e"))))
    assert [spoken(one) for one in prompts(found)] == [
        [("user", "a"), ("assistant", "b"), ("user", "c")],
        [("user", "e")],
    ]
    assert alterations(found) == [("row 1, conversation h0", CUT_BACK)]
    assert all(one.cluster and one.source == "train.parquet" for one in prompts(found))


def test_places_go_on_over_batches(tmp_path: Path) -> None:
    found = prompts(list(wildchat.read(file(tmp_path, *[said(f"text {n}") for n in range(600)]))))
    assert [one.place for one in found] == [f"row {n + 1}, conversation h{n}" for n in range(600)]
    assert [one.user_text for one in found] == [f"text {n}" for n in range(600)]


def test_only_what_is_needed_is_read(tmp_path: Path) -> None:
    with pq.ParquetFile(file(tmp_path, said("a"))) as opened:
        key, columns = wildchat._columns(tmp_path, opened, None)
    assert key == "conversation"
    leaves = {(name.split(".")[0], name.rpartition(".")[2]) for name in columns}
    assert leaves == {
        ("conversation", "role"),
        ("conversation", "content"),
        ("conversation_hash", "conversation_hash"),
        ("language", "language"),
    }


def test_a_language_may_be_wanted_and_others_are_counted(tmp_path: Path) -> None:
    path = file(tmp_path, said("a"), said("b"), language=["English", "German"])
    found = list(wildchat.read(path, language="English"))
    assert len(prompts(found)) == 1
    assert refusals(found) == [("row 2, conversation h1", "a language other than English")]


def test_rows_without_a_usable_conversation_are_refused(tmp_path: Path) -> None:
    found = list(wildchat.read(file(tmp_path, None, [], said(None), said("ok"))))
    assert [reason for _, reason in refusals(found)] == ["no messages", "no messages", "a turn without text"]
    assert len(prompts(found)) == 1


def test_every_turn_of_the_assistant_may_be_wanted(tmp_path: Path) -> None:
    found = list(wildchat.read(file(tmp_path, said("a", "b", "c", "d")), cut="every"))
    assert [len(one.turns) for one in prompts(found)] == [1, 3]


def test_another_name_of_the_column_will_do_and_another_shape_will_not(tmp_path: Path) -> None:
    assert len(list(wildchat.read(file(tmp_path, said("a"), column="messages")))) == 1
    with pytest.raises(CounterfactualError, match="no column of conversations"):
        list(wildchat.read(file(tmp_path, said("a"), column="talk")))
    with pytest.raises(CounterfactualError, match="holds no role and content"):
        list(wildchat.read(file(tmp_path, ["a"])))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = file(tmp_path, said("a"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CounterfactualError, match=r"train\.parquet could not be read"):
        list(wildchat.read(path))
