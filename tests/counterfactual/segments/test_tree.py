"""Segments are exact spans: they reproduce the text, nest, never overlap, leave nothing uncovered but what is said."""

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from planted_prompts import PROMPTS
from segment_texts import TEXTS

from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments import Segment, outside, segmented, walk

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4] / "shared" / "data"))


def user(text: str) -> Prompt:
    return Prompt(turns=(Turn(role="user", content=text),))


def texts(prompt: Prompt, kind: str) -> list[str]:
    return [one.text for one in walk(segmented(prompt)) if one.kind == kind]


def check(prompt: Prompt) -> None:
    roots = segmented(prompt)
    for one in walk(roots):
        assert prompt.turns[one.turn].content[one.start : one.end] == one.text
        assert one.text
        assert all(one.holds(child) for child in one.children)
        assert all(left.end <= right.start for left, right in pairwise(one.children))
    for root in roots:
        assert not uncovered(root, root.children).strip()
        for block in root.children:
            rest = uncovered(block, block.children)
            assert block.kind == "code" or not rest.strip()
            assert all(re.match(r"\s*(```|~~~|$)", line) for line in rest.split("\n")) or block.kind != "code"


def uncovered(parent: Segment, parts: tuple[Segment, ...]) -> str:
    text = list(parent.text)
    for part in parts:
        text[part.start - parent.start : part.end - parent.start] = [""] * (part.end - part.start)
    return "".join(text)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_spans_reproduce_any_text_and_cover_it_level_by_level(text: str) -> None:
    check(user(text))


@pytest.mark.parametrize("prompt", PROMPTS)
def test_spans_reproduce_prompts_of_many_forms(prompt: Prompt) -> None:
    check(prompt)


def test_spans_reproduce_real_prompts() -> None:
    import json

    path = DATA / "prompts" / "arena-hard-v2.0_question.jsonl"
    if not path.is_file():
        pytest.skip(f"real prompts are not in {DATA}; set FIRSTHAND_DATA to run against them")
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    for line in lines[::5]:
        check(user(json.loads(line)["prompt"]))


def test_a_turn_without_text_has_no_segments() -> None:
    assert [root.turn for root in segmented(PROMPTS[-1])] == [0, 1, 3]


def test_sentences_end_where_sentences_end() -> None:
    found = texts(
        user("Ask Dr. Moss, e.g. by mail. Is it late? “Never!” she said… Version 1.2 works.\nA new line"), "sentence"
    )
    assert found == [
        "Ask Dr. Moss, e.g. by mail.",
        "Is it late?",
        "“Never!”",
        "she said…",
        "Version 1.2 works.",
        "A new line",
    ]


def test_a_wrapped_line_belongs_to_its_sentence() -> None:
    assert texts(user("This goes on\nin the next line."), "sentence") == ["This goes on\nin the next line."]


def test_list_items_keep_their_marks_and_their_wrapped_lines() -> None:
    found = texts(user("Pick:\n- one thing\n  and more\n- two\n\n1) three\n(b) four"), "item")
    assert found == ["- one thing\n  and more", "- two", "1) three", "(b) four"]


def test_names_are_capitalised_runs_that_do_not_merely_begin_a_sentence() -> None:
    assert texts(user("Write Rust for the US office. Ann, do Plan A. Then rest."), "name") == ["Rust", "US", "Plan A"]
    found = texts(
        user("Yesterday Sarah Connor met J. Doe in New York. Walking helps. Zoe stayed, and so did Zoe."), "name"
    )
    assert found == ["Sarah Connor", "J. Doe", "New York", "Zoe", "Zoe"]


def test_numbers_identifiers_and_quoted_texts_are_told_apart() -> None:
    prompt = user('Set max_size to 1,200 at 3.5 percent, call runAll() or `go`, and say "so be it" twice in v2.')
    assert texts(prompt, "number") == ["1,200", "3.5"]
    assert texts(prompt, "identifier") == ["max_size", "runAll", "go", "v2"]
    assert texts(prompt, "quote") == ['"so be it"']


def test_code_is_lines_and_identifiers_with_and_without_fences() -> None:
    fenced = user("Look:\n```js\nlet max = min(a, 3); \n\n  return max;\n```\nDone.")
    assert texts(fenced, "line") == ["let max = min(a, 3);", "return max;"]
    assert texts(fenced, "identifier") == ["max", "min", "a", "max"]
    bare = user("function f(lo, hi) {\n  return lo + hi;\n}")
    assert [one.kind for one in segmented(bare)[0].children] == ["code"]


def test_windows_line_ends_part_paragraphs() -> None:
    assert texts(user("One.\r\n\r\nTwo.\r\n- a b\r\n- c d"), "paragraph") == ["One.", "Two.\r\n- a b\r\n- c d"]


def test_negations_are_content_and_articles_are_not() -> None:
    assert texts(user("do not use the red pen"), "word") == ["not", "use", "red", "pen"]


def test_outside_gives_the_coarsest_segments_that_share_nothing() -> None:
    roots = segmented(user("Red apples fall. Green pears stay.\n\nOther things."))
    away = [one for one in walk(roots) if one.text == "pears"]
    assert [one.text for one in outside(roots, away)] == ["Red apples fall.", "Green", "stay", "Other things."]
