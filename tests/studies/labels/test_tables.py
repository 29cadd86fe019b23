"""Rows come out of files as they were put in, and a file that is no table is refused with what is wrong with it."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pandas as pd
import pytest

from firsthand.errors import LabelsError
from firsthand.studies.labels.tables import read_records

ROWS = [
    {"text": 'He said "no",\nand left.', "label": 1},
    {"text": "One line\u2028and another\x85of one field", "label": 0},
    {"text": "  spaces, commas; é 日本 ", "label": 1},
    {"text": "carriage\r\nreturns\rtoo", "label": 0},
]


def written(folder: Path, kind: str) -> Path:
    path, table = folder / f"set.{kind}", pd.DataFrame(ROWS)
    if kind == "csv":
        table.to_csv(path, index=False)
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    elif kind == "json":
        path.write_text(json.dumps(ROWS), encoding="utf-8")
    else:
        table.to_parquet(path)
    return path


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet"])
def test_newlines_quotes_and_line_separators_within_a_field_survive(tmp_path: Path, kind: str) -> None:
    found = read_records(written(tmp_path, kind))
    assert [row["text"] for row in found] == [row["text"] for row in ROWS]
    assert [str(row["label"]) for row in found] == ["1", "0", "1", "0"]


def test_a_byte_order_mark_and_blank_lines_are_no_content(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_bytes(b"\xef\xbb\xbftext,label\r\n\r\na,1\r\n\r\nb,0\r\n")
    assert read_records(path) == [{"text": "a", "label": "1"}, {"text": "b", "label": "0"}]


def test_a_key_that_an_object_lacks_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"text": "a", "label": 1}\n\n{"text": "b", "group": 3}\n')
    assert read_records(path) == [
        {"text": "a", "label": 1, "group": None},
        {"text": "b", "label": None, "group": 3},
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("set.csv", b"text,label\na,1,2\n", "line 2 has 3 fields where the header has 2"),
        ("set.csv", b"text,label\na\n", "line 2 has 1 fields"),
        ("set.csv", b'text,label\n"a,1\nb,0\n', "cannot be read"),
        ("set.csv", b'text,label\n"a"b,1\n', "expected after"),
        ("set.csv", b"text,text\na,1\n", "names a column twice"),
        ("set.csv", b"", "holds no rows"),
        ("set.csv", b"text,label\n", "holds no rows"),
        ("set.csv", b"text,label\n\xff\xfe\n", "cannot be read"),
        ("set.jsonl", b'{"text": "a"}\n{"text"\n', "line 2 is not JSON"),
        ("set.jsonl", b'{"text": "a"}\n[1]\n', "line 2 is a list"),
        ("set.json", b'{"text": ["a"]}', "one dict instead of a list"),
        ("set.json", b'["a"]', "item 1 is a str"),
        ("set.json", b"[]", "holds no rows"),
        ("set.json", b"[" * 100_000, "cannot be read"),
        ("set.parquet", b"PAR1 and then nothing", "cannot be read"),
        ("set.txt", b"a\n", "no file of a known kind"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(LabelsError, match=problem) as caught:
        read_records(path)
    assert str(path) in caught.value.problem
    assert caught.value.remedy


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelsError, match="cannot be read"):
        read_records(tmp_path / "nowhere.csv")


class Part(list):  # type: ignore[type-arg]
    """As much of a data set of Hugging Face's library as is used: rows, and what its columns are."""

    features: ClassVar = {"text": SimpleNamespace(), "label": SimpleNamespace(names=["fine", "wrong"])}


def library(monkeypatch: pytest.MonkeyPatch, found: object) -> None:
    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_from_disk=lambda _: found))


def test_a_folder_of_datasets_is_read_with_the_names_of_its_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Part([{"text": "a", "label": 1}, {"text": "b", "label": 0}, {"text": "c", "label": -1}])
    wanted = [{"text": "a", "label": "wrong"}, {"text": "b", "label": "fine"}, {"text": "c", "label": None}]
    library(monkeypatch, rows)
    assert read_records(tmp_path) == wanted
    library(monkeypatch, {"train": rows})
    assert read_records(tmp_path) == wanted


def test_a_folder_of_several_parts_is_refused_with_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library(monkeypatch, {"train": Part([]), "test": Part([])})
    with pytest.raises(LabelsError, match="holds the parts train, test") as caught:
        read_records(tmp_path)
    assert f"{tmp_path}/train" in caught.value.remedy


def test_without_the_library_a_folder_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)  # what an absent package looks like to an import
    with pytest.raises(LabelsError, match="the package 'datasets' is needed"):
        read_records(tmp_path)
