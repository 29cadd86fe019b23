"""Reading by declared types: bad input is said, and never a traceback."""

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firsthand.importers.base import ImporterError
from firsthand.importers.named_answers import first_word, last_named
from firsthand.importers.reading import Column, Read, read_csv, read_json, read_jsonl

SCHEMA = {
    "concept": Column("text"),
    "layer": Column("number"),
    "right": Column("flag", "outcome"),
    "note": Column("text", "extra"),
}


def read(tmp_path: Path, text: str | bytes) -> Read:
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv(path, SCHEMA)


def test_types_nulls_and_unknown_columns(tmp_path: Path) -> None:
    found = read(tmp_path, "concept,layer,right,other\nDust,2,True,x\nDust,two,False,y\n,3,True,z\nSand,4,maybe,w\n")
    assert found.table["concept"].to_list() == ["Dust", "Sand"]
    assert found.table["right"].isna().to_list() == [False, True]
    notes = " ".join(found.notes)
    assert "unknown columns are not used: other" in notes
    assert "column layer: 1 cells are not numbers, the first in row 2" in notes
    assert "column right: 1 cells are not true or false, the first in row 4" in notes
    assert "column concept: 1 rows have no usable value" in notes
    assert "what rests on them is left out: note" in notes
    assert found.source.rows == 4


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is empty"),
        ("concept,layer,right\n", "has no rows"),
        ("concept,layer\nDust,2\n", "lacks the columns: right. It has: concept, layer"),
        ("concept,concept,layer,right\na,b,2,1\n", "columns twice: concept"),
        ("concept,layer,right\nDust,x,1\n", "no row with a complete setting"),
    ],
)
def test_tables_that_cannot_be_used(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(ImporterError, match=word):
        read(tmp_path, text)


def test_odd_bytes_ragged_rows_and_a_mark_at_the_start(tmp_path: Path) -> None:
    found = read(tmp_path, b"\xef\xbb\xbfconcept,layer,right\nD\xffst,2,1\nDust,2\n")
    assert found.table["concept"].to_list() == ["D\ufffdst"]
    assert any("another number of cells" in note for note in found.notes)
    assert any("not valid UTF-8" in note for note in found.notes)


def test_a_folder_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(ImporterError, match="could not be read"):
        read_csv(tmp_path, SCHEMA)


def test_a_lone_surrogate_becomes_writable_text(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"concept": "a\\ud800", "layer": 1, "right": null}\n')
    assert read_jsonl(path, SCHEMA).table["concept"][0].encode()


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_any_bytes_are_read_or_refused(tmp_path: Path, data: bytes) -> None:
    for reader, start in ((read_csv, b"concept,layer,right\n"), (read_jsonl, b"")):
        path = tmp_path / "any"
        path.write_bytes(start + data)
        with contextlib.suppress(ImporterError):
            reader(path, SCHEMA)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(st.fixed_dictionaries({"concept": JSON, "layer": JSON, "right": JSON}), min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
def test_any_json_is_read_or_refused(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    path = tmp_path / "any.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    try:
        table = read_jsonl(path, SCHEMA).table
    except ImporterError:
        return
    assert table["layer"].notna().all()
    assert table["right"].dropna().isin([0.0, 1.0]).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes.", "yes"),
        (" *no*", "no"),
        ("Yesterday", None),
        ("", None),
        (None, None),
        (float("nan"), None),
        ("8", None),
    ],
)
def test_first_word(text: object, expected: str | None) -> None:
    assert first_word(text, ("yes", "no")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a moderate level: I say Weak (1-5)", "Weak"),
        ("VERY  STRONG", "Very strong"),
        ("strongly", None),
        ("not weak but strong", "Strong"),
        (None, None),
    ],
)
def test_last_named(text: object, expected: str | None) -> None:
    assert last_named(text, ("Weak", "Moderate", "Strong", "Very strong")) == expected


def test_verbatim_text_keeps_its_space_and_the_word_none(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text('[{"said": " None \\n"}, {"said": ""}, {"said": null}, {"said": 3}]')
    table = read_json(path, {"said": Column("verbatim", "outcome")}).table
    assert table["said"].isna().to_list() == [False, True, True, False]
    assert table["said"].to_list()[0] == " None \n"
