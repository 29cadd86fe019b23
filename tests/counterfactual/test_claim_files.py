"""Claims of anyone's file: read if they say what they must, refused by row if not."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from firsthand.counterfactual.behaviours import Asked, Verdict
from firsthand.counterfactual.card import Card
from firsthand.counterfactual.claim_files import read_claims
from firsthand.counterfactual.claims import Answered
from firsthand.counterfactual.export import export
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.rows import row_of
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Tell me of cats, in French."}]


def least(**changed: Any) -> dict[str, Any]:
    """A row with nothing but what is required."""
    row = {
        "label": True,
        "target": "someone/model",
        "question": "Is the response in French?",
        "intervention": "French is no longer asked for.",
        "messages": MESSAGES,
        "edited_messages": [MESSAGES[0], {"role": "user", "content": "Tell me of cats."}],
        "baseline_yes": 27,
        "baseline_no": 3,
        "edited_yes": 1,
        "edited_no": 29,
    } | changed
    return {name: value for name, value in row.items() if value is not ...}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    if path.suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def problem(path: Path, *rows: dict[str, Any]) -> str:
    with pytest.raises(CounterfactualError) as found:
        read_claims(written(path / "claims.jsonl", *rows))
    assert found.value.remedy
    return found.value.problem


@pytest.mark.parametrize("name", ["claims.jsonl", "claims.parquet"])
def test_a_file_with_the_required_columns_alone_gives_claims(tmp_path: Path, name: str) -> None:
    other = least(label=False, edited_yes=26, edited_no=4, edited_messages=MESSAGES[1:])
    found = read_claims(written(tmp_path / name, least(), other))
    assert [one.label for one in found] == [True, False]
    first, second = found
    assert [turn.content for turn in first.prompt.turns] == ["Be brief.", "Tell me of cats, in French."]
    assert first.edited.turns[1].content == "Tell me of cats."
    assert [turn.role for turn in second.edited.turns] == ["user"]
    assert first.behaviour == Asked(question="Is the response in French?")
    assert first.text.startswith("BEHAVIOUR (a response counts if the answer is yes): Is the response in French?")
    assert first.change == pytest.approx(-26 / 30)
    assert first.investigation == second.investigation
    assert (first.single_factor, first.reproduced, first.filtered, first.responses) == (None, None, None, ())
    assert first.cluster == first.prompt.id


def test_turns_that_came_went_and_changed_make_the_edit(tmp_path: Path) -> None:
    start = [*MESSAGES, {"role": "assistant", "content": "Oui."}, {"role": "user", "content": "More."}]
    after = [
        {"role": "user", "content": "Tell me of dogs, in French."},
        *start[2:],
        {"role": "user", "content": "Now."},
    ]
    (found,) = read_claims(written(tmp_path / "claims.jsonl", least(messages=start, edited_messages=after)))
    assert [turn.content for turn in found.edited.turns] == [one["content"] for one in after]
    assert [turn.role for turn in found.edited.turns] == [one["role"] for one in after]


def test_an_exported_set_reads_back_equal_with_all_that_a_predictor_needs(tmp_path: Path) -> None:
    said = (Answered(response=Response(text="Sorry, no.", tokens=4), verdict=Verdict.YES),)
    more = {
        "question": "Why does it?",
        "own_question": "Why do you?",
        "responses": said,
        "filtered": True,
        "matched": True,
    }
    claims = sorted((claim(n, n % 2 == 0, **more) for n in range(4)), key=lambda one: one.id)
    export(tmp_path / "out", claims, claims, Card(name="a set"), matched=claims)
    for path in ("out", "out/data/filtered.parquet", "out/jsonl/unfiltered.jsonl"):
        assert read_claims(tmp_path / path) == claims
    row = row_of(claims[0])
    assert row["responses"] == [
        {"text": "Sorry, no.", "verdict": "yes", "ended": "stop", "reasoning": None, "calls_json": None, "tokens": 4}
    ]
    assert (row["third_person"], row["second_person"]) == ("Why does it?", "Why do you?")
    assert (row["edit_kind"], row["family"][:6], row["filtered"], row["matched"]) == ("deletion", "family", True, True)


def test_others_may_give_transcripts_investigations_and_flags(tmp_path: Path) -> None:
    row = least(
        investigation="theirs", experiment=4, responses=[{"text": "Bien sûr."}], cluster="c", single_factor=True
    )
    (found,) = read_claims(written(tmp_path / "claims.jsonl", row))
    assert (found.investigation, found.experiment, found.cluster, found.single_factor) == ("theirs", 4, "c", True)
    assert found.responses == (Answered(response=Response(text="Bien sûr.")),)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"labell": True}, "row 1: there is no column 'labell'"),
        ({"target": ...}, "row 1: the column target is missing"),
        ({"intervention": None}, "row 1: the column intervention is missing"),
        ({"edited_messages": ...}, "row 1: the column edited_messages or edit_json is missing"),
        ({"question": ...}, "row 1: the column question or behaviour_json is missing"),
        ({"label": 1}, "the label 1 is neither true nor false"),
        ({"label": "yes"}, "the label 'yes' is neither true nor false"),
        ({"label": False}, "the label is false, and by its counts the rate changed by -87 points"),
        ({"edited_yes": 25, "edited_no": 5}, "the label is true, and by its counts the rate changed by -7 points"),
        ({"edited_yes": 0, "edited_no": 0, "edited_invalid": 30}, "a batch holds nothing valid"),
        ({"edited_yes": -1}, "greater than or equal to 0"),
        ({"edited_messages": MESSAGES}, "edited_messages are the messages as they are"),
        ({"messages": [{"role": "user"}]}, "content is missing"),
        ({"messages": [{"role": "boss", "content": "x"}]}, "role"),
        ({"messages": MESSAGES[:1]}, "ends in a user's or a tool's turn"),
        ({"edit_json": "{"}, "row 1"),
        ({"concreteness": 9}, "concreteness"),
    ],
    ids=str,
)
def test_what_is_no_claim_is_refused_by_row_and_in_words(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    assert said in problem(tmp_path, least(**changed))


def test_a_claim_that_stands_twice_is_refused_with_both_rows(tmp_path: Path) -> None:
    other = least(messages=MESSAGES[1:], edited_messages=[{"role": "user", "content": "Hi."}])
    assert "row 3: this is the claim of row 1 again" in problem(tmp_path, least(), other, least(intervention="Else."))


def test_files_that_hold_no_claims_are_refused_in_words(tmp_path: Path) -> None:
    assert "holds no claim" in problem(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"label": true}\n{"label"\n')
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 no")
    (tmp_path / "list.jsonl").write_text("[1]\n")
    (tmp_path / "claims.txt").write_text("")
    for name, said in (
        ("bad.jsonl", "row 1: the column target"),
        ("bad.parquet", "cannot be read"),
        ("list.jsonl", "row 1: this is no object"),
        ("claims.txt", "neither JSON lines nor Parquet"),
        ("nothing.jsonl", "There is no file"),
        (".", "holds no exported claims"),
    ):
        with pytest.raises(CounterfactualError, match=said):
            read_claims(tmp_path / name)


def test_a_row_of_ours_whose_edit_was_exchanged_is_refused(tmp_path: Path) -> None:
    row, other = row_of(claim(1)), row_of(claim(2))
    assert "another edit or prompt" in problem(tmp_path, row | {"prompt_json": other["prompt_json"]})


def test_claims_are_read_without_a_model_an_engine_or_inspect() -> None:
    code = (
        "import sys, firsthand.counterfactual.claim_files\n"
        "print([name for name in ('torch', 'transformers', 'inspect_ai', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
