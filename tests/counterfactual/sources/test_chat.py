"""Chat records of every usual form give a prompt."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firsthand.counterfactual.prompts import Tool
from firsthand.counterfactual.sources.chat import FOLLOW_UPS, read
from firsthand.counterfactual.sources.making import CUT_BACK

from .conftest import alterations, prompts, refusals, spoken

Written = Callable[..., Path]
MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"messages": MESSAGES}, [("system", "s"), ("user", "u")]),
        ({"conversation": MESSAGES}, [("system", "s"), ("user", "u")]),
        ({"prompt": MESSAGES}, [("system", "s"), ("user", "u")]),
        ({"prompt": "u"}, [("user", "u")]),
        ({"prompt": "x", "messages": MESSAGES}, [("system", "s"), ("user", "u")]),
        ({"conversations": [{"from": "human", "value": "u"}]}, [("user", "u")]),
        ({"system": "s", "conversations": [{"from": "human", "value": "u"}]}, [("system", "s"), ("user", "u")]),
        ({"system": "t", "messages": MESSAGES}, [("system", "s"), ("user", "u")]),
        ({"turns": ["u"]}, [("user", "u")]),
    ],
)
def test_a_record_may_have_any_of_these_forms(record: dict[str, Any], expected: object, written: Written) -> None:
    [prompt] = prompts(list(read(written(record))))
    assert spoken(prompt) == expected
    assert (prompt.source, prompt.place) == ("set.jsonl", "line 1")
    assert prompt.cluster


def test_a_conversation_is_cut_back_and_that_is_counted(written: Written) -> None:
    found = list(read(written({"messages": [*MESSAGES, {"role": "assistant", "content": "a"}]})))
    assert spoken(prompts(found)[0])[-1] == ("user", "u")
    assert alterations(found) == [("line 1", CUT_BACK)]


def test_every_turn_of_the_assistant_may_be_wanted(written: Written) -> None:
    answer = {"role": "assistant", "content": "a"}
    path = written({"messages": [*MESSAGES, answer, MESSAGES[1], answer], "tools": [{"name": "look"}]})
    found = prompts(list(read(path, cut="every")))
    assert [(one.place, len(one.turns), one.tools) for one in found] == [
        ("line 1, turn 2", 2, (Tool(name="look"),)),
        ("line 1, turn 4", 4, (Tool(name="look"),)),
    ]


def test_a_second_question_is_left_out_and_that_is_counted(written: Written) -> None:
    found = list(read(written({"question_id": 81, "turns": ["first", "second"]})))
    assert spoken(prompts(found)[0]) == [("user", "first")]
    assert alterations(found) == [("line 1", FOLLOW_UPS)]


def test_a_cluster_of_its_own_is_kept(written: Written) -> None:
    found = prompts(list(read(written({"prompt": "a", "cluster": "Puzzles"}, {"prompt": "a", "cluster": 3}))))
    assert [one.cluster for one in found] == ["Puzzles", "3"]


def test_every_record_is_a_prompt_or_a_reason(written: Written) -> None:
    path = written({"prompt": "a"}, {"text": "a"}, {"messages": []}, {"messages": "a"}, {"messages": [7]}, [], {})
    found = list(read(path))
    assert len(found) == 7
    assert [place for place, _ in refusals(found)] == [f"line {n}" for n in range(2, 8)]
    assert found[1].detail == "it holds text"  # type: ignore[union-attr]


def test_text_that_is_no_unicode_is_refused(written: Written) -> None:
    assert refusals(list(read(written({"prompt": "a \ud83d b"})))) == [("line 1", "text that is no Unicode")]


def test_a_text_with_line_separators_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(json.dumps({"prompt": "a\u2028b"}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert spoken(prompts(list(read(path)))[0]) == [("user", "a\u2028b")]
