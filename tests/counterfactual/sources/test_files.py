"""Records are found in lines and documents, whatever stands in them."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from firsthand.counterfactual.sources.files import json_document, json_records
from firsthand.counterfactual.sources.found import Refused
from firsthand.errors import CounterfactualError


def test_a_line_ends_in_a_line_feed_and_in_nothing_else(tmp_path: Path) -> None:
    texts = ["a\u2028b", "a\u2029b\x85c\x0bd\x1ce", "plain"]
    path = tmp_path / "set.jsonl"
    path.write_bytes("\n".join(json.dumps({"prompt": t}, ensure_ascii=False) for t in texts).encode())
    assert [(place, record["prompt"]) for place, record in json_records(path)] == [  # type: ignore[index]
        (f"line {n}", text) for n, text in enumerate(texts, start=1)
    ]


def test_a_broken_line_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": \n\n[1]\n{"a": NaN}\n{"a": "\xff"}\n' + b'{"a":' * 100_000 + b'\n{"a": 2}\r\n')
    found = dict(json_records(path))
    assert found.pop("line 1") == {"a": 1}
    assert found.pop("line 8") == {"a": 2}
    assert {place: one.reason for place, one in found.items() if isinstance(one, Refused)} == {
        "line 2": "a line that is no JSON",
        "line 4": "a record that is no JSON object",
        "line 5": "a line that is no JSON",
        "line 6": "a line that is no JSON",
        "line 7": "a line that is no JSON",
    }


def test_a_file_whose_first_line_is_broken_is_read_as_lines(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text('{"a": \n{"a": 2}\n')
    assert [place for place, record in json_records(path) if record == {"a": 2}] == ["line 2"]


def test_a_list_and_a_single_document_are_records_too(written: Callable[..., Path], tmp_path: Path) -> None:
    assert list(json_records(written(document=[{"a": 1}, 2]))) == [
        ("record 1", {"a": 1}),
        ("record 2", Refused("record 2", "a record that is no JSON object")),
    ]
    path = tmp_path / "one.json"
    path.write_text('\ufeff{\n "a": 1\n}\n', encoding="utf-8")
    assert list(json_records(path)) == [("the whole file", {"a": 1})]


def test_packed_files_are_read_and_cut_ones_are_refused(tmp_path: Path) -> None:
    lines = b"".join(b'{"a": %d}\n' % n for n in range(20_000))
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert len(list(json_records(path))) == 20_000
    path.write_bytes(gzip.compress(lines)[:-2000])
    with pytest.raises(CounterfactualError, match="could not be read"):
        list(json_records(path))


def test_a_document_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text('[{"a": 1},\n')
    with pytest.raises(CounterfactualError, match="is no JSON"):
        json_document(path)
