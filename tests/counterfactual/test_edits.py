"""Edits change what they say and nothing else, or are refused; changes are shown without loss."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.counterfactual.edits import (
    Drop,
    Edit,
    Insert,
    Operation,
    Replace,
    Rewrite,
    changes,
    edited,
    turn_changes,
)
from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.errors import CounterfactualError

TEXTS = st.text(alphabet="ab .,é\n\u2028漢", max_size=40)


def prompt(*contents: str) -> Prompt:
    """User and assistant by turns."""
    roles = ("user", "assistant")
    turns = tuple(Turn(role=roles[n % 2], content=content) for n, content in enumerate(contents))  # type: ignore[arg-type]
    return Prompt(turns=turns, tools=(Tool(name="look"),), source="set", place="line 3", cluster="family 7")


def after(before: Prompt, *operations: Operation) -> list[str]:
    return [turn.content for turn in edited(before, Edit(operations=operations)).turns]


def test_a_text_that_stands_once_is_replaced() -> None:
    assert after(prompt("a cat sat"), Replace(turn=0, find="cat", text="dog")) == ["a dog sat"]
    assert after(prompt("a cat sat"), Replace(turn=0, find="cat ")) == ["a sat"]


@pytest.mark.parametrize(
    ("which", "expected"), [(0, "X b a b a"), (1, "a b X b a"), (2, "a b a b X"), ("all", "X b X b X")]
)
def test_of_several_the_one_that_is_meant_is_replaced(which: object, expected: str) -> None:
    assert after(prompt("a b a b a"), Replace(turn=0, find="a", text="X", which=which)) == [expected]  # type: ignore[arg-type]


@settings(max_examples=50, deadline=None)
@given(
    around=st.lists(st.text(alphabet="ab c", max_size=5), min_size=2, max_size=5),
    find=st.text(alphabet="ab ", min_size=1, max_size=3),
    text=st.text(alphabet="abX", max_size=3),
)
def test_occurrences_are_counted_as_they_are_read(around: list[str], find: str, text: str) -> None:
    content = find.join(around)
    places = [found.span() for found in re.finditer(re.escape(find), content)]
    for which, (start, end) in enumerate(places):
        expected = content[:start] + text + content[end:]
        if expected != content:
            assert after(prompt(content), Replace(turn=0, find=find, text=text, which=which)) == [expected]
    with pytest.raises(CounterfactualError, match=f"stands {len(places)} times"):
        after(prompt(content), Replace(turn=0, find=find, text=text, which=len(places)))


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        (Replace(turn=0, find="bird", text="dog"), "stands 0 times in turn 0"),
        (Replace(turn=0, find="cat", text="dog"), "stands 2 times in turn 0"),
        (Replace(turn=0, find="cat", text="dog", which=2), "stands 2 times"),
        (Replace(turn=0, find="bird", text="dog", which="all"), "stands 0 times"),
        (Replace(turn=3, find="cat", text="dog"), "There is no turn 3"),
        (Rewrite(turn=3, content="x"), "There is no turn 3"),
        (Drop(turn=3), "There is no turn 3"),
        (Insert(turn=4, role="user", content="x"), "There is no turn 4"),
        (Replace(turn=0, find="cat", text="cat", which=0), "leaves the prompt as it is"),
        (Rewrite(turn=2, content="Why?"), "leaves the prompt as it is"),
        (Drop(turn=2), "leaves no prompt"),
        (Insert(turn=3, role="assistant", content="So"), "leaves no prompt"),
        (Insert(turn=1, role="system", content="Be brief."), "leaves no prompt"),
    ],
)
def test_an_edit_that_does_not_land_is_refused(operation: Operation, problem: str) -> None:
    with pytest.raises(CounterfactualError, match=problem):
        after(prompt("a cat, a cat", "Yes.", "Why?"), operation)


def test_operations_are_made_one_after_the_other_on_what_the_one_before_left() -> None:
    first, second = Replace(turn=0, find="cat", text="dog"), Replace(turn=0, find="dog", text="bird")
    assert after(prompt("a cat"), first, second) == ["a bird"]
    with pytest.raises(CounterfactualError, match="stands 0 times"):
        after(prompt("a cat"), second, first)
    assert after(prompt("a", "b", "c"), Drop(turn=0), Rewrite(turn=1, content="d")) == ["b", "d"]


def test_a_turn_is_put_before_another_or_at_the_end() -> None:
    assert after(prompt("a"), Insert(turn=0, role="system", content="s")) == ["s", "a"]
    assert after(prompt("a"), Insert(turn=1, role="user", content="b")) == ["a", "b"]


def test_what_is_not_edited_stays_and_where_it_comes_from_too() -> None:
    before = prompt("a", "b", "c")
    changed = edited(before, Edit(operations=(Rewrite(turn=2, content="d"),)))
    assert changed.turns[:2] == before.turns[:2]
    assert (changed.tools, changed.source, changed.place, changed.cluster) == (
        before.tools,
        before.source,
        before.place,
        before.cluster,
    )
    assert before.turns[2].content == "c"


def test_a_tool_s_result_is_edited_without_touching_the_call() -> None:
    call = Turn(role="assistant", content="", calls=(ToolCall(id="1", name="look", arguments={"at": "here"}),))
    before = Prompt(turns=(Turn(role="user", content="Look."), call, Turn(role="tool", content="3 cats", answers="1")))
    changed = edited(before, Edit(operations=(Replace(turn=2, find="3", text="4"),)))
    assert changed.turns == (*before.turns[:2], Turn(role="tool", content="4 cats", answers="1"))


@settings(max_examples=50, deadline=None)
@given(before=TEXTS, new=TEXTS)
def test_changes_hold_both_texts_whole(before: str, new: str) -> None:
    found = changes(before, new)
    assert "".join(text for kind, text in found if kind != "new") == before
    assert "".join(text for kind, text in found if kind != "gone") == new


@settings(max_examples=50, deadline=None)
@given(text=TEXTS)
def test_a_text_that_did_not_change_shows_no_change(text: str) -> None:
    assert changes(text, text) == ([("same", text)] if text else [])


def test_changes_go_by_words() -> None:
    assert changes("the cat sat", "the dog sat") == [
        ("same", "the "),
        ("gone", "cat"),
        ("new", "dog"),
        ("same", " sat"),
    ]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=5), st.lists(st.sampled_from("abc"), min_size=1, max_size=5)
)
def test_turns_stand_side_by_side_and_none_is_lost(before: list[str], new: list[str]) -> None:
    old, other = (Prompt(turns=tuple(Turn(role="user", content=c) for c in contents)) for contents in (before, new))
    pairs = turn_changes(old, other)
    assert tuple(left for left, _ in pairs if left) == old.turns
    assert tuple(right for _, right in pairs if right) == other.turns
    assert all(left or right for left, right in pairs)


def test_a_turn_that_was_left_out_stands_beside_nothing() -> None:
    before, new = prompt("a", "b", "c"), prompt("a")
    assert [(left and left.content, right and right.content) for left, right in turn_changes(before, new)] == [
        ("a", "a"),
        ("b", None),
        ("c", None),
    ]


def test_a_tools_result_is_not_left_without_its_call() -> None:
    call = ToolCall(id="c1", name="look_up")
    turns = (
        Turn(role="user", content="What is it?"),
        Turn(role="assistant", content="", calls=(call,)),
        Turn(role="tool", content="A boat.", answers="c1"),
    )
    prompt = Prompt(turns=turns)
    with pytest.raises(CounterfactualError, match="1 results of tools without"):
        edited(prompt, Edit(operations=(Drop(turn=1),)))
    assert edited(prompt, Edit(operations=(Drop(turn=2), Drop(turn=1)))).turns == turns[:1]


def test_a_result_that_never_had_a_call_stands_in_the_way_of_no_edit() -> None:
    prompt = Prompt(turns=(Turn(role="user", content="Go."), Turn(role="tool", content="Done.", answers="c9")))
    assert edited(prompt, Edit(operations=(Rewrite(turn=0, content="Stop."),))).turns[0].content == "Stop."
