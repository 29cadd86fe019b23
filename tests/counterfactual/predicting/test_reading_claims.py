"""Claims come from exported files or anyone's in that format; whatever is wrong in one is said with its place."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from claim_parts import claim

from firsthand.counterfactual.predicting.reading import passes_filters, read_claims_file
from firsthand.counterfactual.predicting.transcripts import need_target, questions_of, without_response
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.rows import row_of
from firsthand.errors import CounterfactualError

CLAIMS = [claim(number, label=number % 2 == 0) for number in range(6)]


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_json_lines_and_parquet_hold_the_same_claims(tmp_path: Path) -> None:
    rows = [{**row_of(one), "responses": [Response(text="Yes.").model_dump(mode="json")]} for one in CLAIMS]
    lines = read_claims_file(written(tmp_path / "c.jsonl", rows))
    pq.write_table(
        pa.Table.from_pylist([row_of(one) | {"responses": ["Yes."]} for one in CLAIMS]), tmp_path / "c.parquet"
    )
    table = read_claims_file(tmp_path / "c.parquet")
    assert lines.claims == table.claims == tuple(CLAIMS)
    assert lines.responses == table.responses == ((Response(text="Yes."),),) * 6
    assert not without_response(lines)


def test_claims_that_stand_there_again_are_counted_and_contradictions_refused(tmp_path: Path) -> None:
    rows = [row_of(one) for one in CLAIMS]
    read = read_claims_file(written(tmp_path / "c.jsonl", [*rows, rows[0]]))
    assert len(read.claims) == 6
    assert read.dropped == {"claims that stand there again": 1}
    with pytest.raises(CounterfactualError, match="as a true and as a false one"):
        read_claims_file(written(tmp_path / "d.jsonl", [*rows, {**rows[0], "label": False}]))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("c.jsonl", "{", "line 1, is no JSON"),
        ("c.jsonl", "[1]", "line 1, is no JSON object"),
        ("c.jsonl", '{"id": "x"}', "line 1: A row is no claim"),
        ("c.jsonl", "", "holds no claim"),
        ("c.csv", "id", "neither .jsonl nor .parquet"),
        ("c.parquet", "not parquet", "cannot be read as Parquet"),
    ],
)
def test_bad_files_are_refused_with_what_is_wrong_and_where(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(CounterfactualError, match=words) as refused:
        read_claims_file(path)
    assert refused.value.remedy


def test_a_folder_without_claims_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.jsonl"):
        with pytest.raises(CounterfactualError):
            read_claims_file(path)


def test_responses_of_a_wrong_form_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CounterfactualError, match="responses cannot be read"):
        read_claims_file(written(tmp_path / "c.jsonl", [{**row_of(CLAIMS[0]), "responses": [3]}]))


def test_the_first_response_that_says_something_is_the_transcript_and_claims_without_one_are_told(
    tmp_path: Path,
) -> None:
    silent = Response(text="", ended="filter").model_dump(mode="json")
    rows = [
        {**row_of(CLAIMS[0]), "responses": [silent, "First.", "Second."]},
        {**row_of(CLAIMS[1]), "responses": []},
        row_of(CLAIMS[2]),
    ]
    read = read_claims_file(written(tmp_path / "c.jsonl", rows))
    assert [one.id for one in without_response(read)] == [CLAIMS[1].id, CLAIMS[2].id]
    questions, bare = questions_of(read, {CLAIMS[1].prompt.id: Response(text="Drawn.")})
    assert [one.response.text for one in questions] == ["First.", "Drawn."]
    assert bare == [CLAIMS[2]]
    assert "--target" in need_target(bare).remedy


def test_what_nobody_judged_has_not_passed_a_filter() -> None:
    one = CLAIMS[0]
    assert passes_filters(one, rated=True)
    assert not passes_filters(one.model_copy(update={"concreteness": None}), rated=True)
    assert passes_filters(one.model_copy(update={"concreteness": None}), rated=False)
    assert not passes_filters(one.model_copy(update={"reproduced": None}), rated=False)
    assert not passes_filters(one.model_copy(update={"single_factor": False}), rated=False)
