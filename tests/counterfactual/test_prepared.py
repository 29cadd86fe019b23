"""Prepared prompts are kept whole, with an account that adds up."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from firsthand.counterfactual.mixtures import Limits, Mixture, MixturePart
from firsthand.counterfactual.prepared import Account, Count, Input, Prepared, Tally, read_prepared, write_prepared
from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.sources import kind_of, read_source
from firsthand.errors import CounterfactualError, TraceError

CALL = ToolCall(id="1", name="look", arguments={"at": ["é\u2028", None, 1.5]})
PROMPTS = (
    Prompt(turns=(Turn(role="user", content="a\u2028b\nc"),), source="s", place="line 1", cluster="c"),
    Prompt(
        turns=(
            Turn(role="user", content="u"),
            Turn(role="assistant", content="", calls=(CALL,)),
            Turn(role="tool", content="", answers="1"),
        ),
        tools=(Tool(name="look"),),
        source="s",
        place="line 2",
        cluster="c",
    ),
)


@pytest.fixture
def prepared() -> Prepared:
    source = Input(path="a.jsonl", kind="chat", limits=Limits(), sha256="0" * 64)
    dropped = (Count(reason="too short", count=3, example="line 3"),)
    return Prepared(
        prompts=PROMPTS,
        mixture=Mixture(parts=(MixturePart(path=Path("a.jsonl"), limits={"max_tokens": None}),), total=2, seed=4),
        counter="by hand",
        accounts=(Account(path="a.jsonl", inputs=(source,), read=5, dropped=dropped, kept=2),),
        notes=("note",),
    )


def test_what_is_written_is_read_again(prepared: Prepared, tmp_path: Path) -> None:
    write_prepared(prepared, tmp_path)
    assert read_prepared(tmp_path) == prepared
    assert [one.id for one in read_prepared(tmp_path).prompts] == [one.id for one in PROMPTS]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prepared.json", "prompts.jsonl"]


def test_the_prompts_are_a_source_themselves(prepared: Prepared, tmp_path: Path) -> None:
    write_prepared(prepared, tmp_path)
    assert kind_of(tmp_path / "prompts.jsonl").name == "prompts"
    assert tuple(read_source(tmp_path / "prompts.jsonl")) == PROMPTS


def test_equal_content_is_written_as_equal_bytes(prepared: Prepared, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_prepared(prepared, tmp_path / name)
    for name in ("prompts.jsonl", "prepared.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_files_that_do_not_belong_together_are_refused(prepared: Prepared, tmp_path: Path) -> None:
    write_prepared(prepared, tmp_path)
    path = tmp_path / "prompts.jsonl"
    path.write_bytes(path.read_bytes().replace(b"line 1", b"line 9"))
    with pytest.raises(CounterfactualError, match=r"is not the file that prepared\.json describes"):
        read_prepared(tmp_path)


def test_a_missing_damaged_or_other_account_is_refused(prepared: Prepared, tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="does not exist"):
        read_prepared(tmp_path)
    write_prepared(prepared, tmp_path)
    account = json.loads((tmp_path / "prepared.json").read_text())
    for change, problem in (
        ({"version": 99}, "is of version 99"),
        ({"counter": 3}, "holds no prepared prompts: counter"),
    ):
        (tmp_path / "prepared.json").write_text(json.dumps({**account, **change}))
        with pytest.raises(CounterfactualError, match=problem):
            read_prepared(tmp_path)


def test_an_account_that_does_not_add_up_cannot_be_made(prepared: Prepared) -> None:
    account = prepared.accounts[0]
    with pytest.raises(ValidationError, match="does not add up"):
        Account.model_validate({**account.model_dump(), "read": 6})
    with pytest.raises(ValidationError, match="another number of prompts"):
        Prepared.model_validate({**prepared.model_dump(), "prompts": PROMPTS[:1]})


def test_a_tally_counts_by_reason_with_the_first_place() -> None:
    tally = Tally()
    for reason, place in (("b", "1"), ("a", "2"), ("b", "3"), ("c", "4")):
        tally.add(reason, place)
    assert [(one.reason, one.count, one.example) for one in tally.counts()] == [
        ("b", 2, "1"),
        ("a", 1, "2"),
        ("c", 1, "4"),
    ]
