"""Marks of an edit: what stayed and went is the prompt as it was, what stayed and came is the edited one."""

import time

import investigated as planted
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite, edited
from firsthand.counterfactual.prompts import Prompt, ToolCall, Turn
from firsthand.report.prompt_marks import KEPT, MarkedTurn, Piece, marked, plain, word_changes

words = st.lists(st.sampled_from(["max", "min", "maximal", " ", "\n", "(", "é", "_x", "2"]), max_size=30).map("".join)

PROMPT = Prompt(
    turns=(
        Turn(role="system", content="Be kind."),
        Turn(role="user", content="Call the helper pick(max, min) and the maxim."),
        Turn(role="assistant", content="", calls=(ToolCall(id="1", name="pick", arguments={"max": 3}),)),
        Turn(role="tool", content="7", answers="1"),
    )
)


def marks(*operations: Operation, short: bool = False) -> tuple[MarkedTurn, ...]:
    return marked(PROMPT, Edit(operations=operations), short=short)


@given(words, words)
def test_pieces_make_both_texts(before: str, after: str) -> None:
    pieces = word_changes(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind in ("same", "gone")) == before
    assert "".join(piece.text for piece in pieces if piece.kind in ("same", "new")) == after


def test_whole_words_are_marked() -> None:
    assert word_changes("a maximum here", "a maximal here") == (
        Piece("same", "a "),
        Piece("gone", "maximum"),
        Piece("new", "maximal"),
        Piece("same", " here"),
    )


def test_a_change_at_the_beginning_and_the_end_is_marked() -> None:
    assert word_changes("x a", "a") == (Piece("gone", "x "), Piece("same", "a"))
    assert word_changes("a", "a x") == (Piece("same", "a"), Piece("new", " x"))


def test_each_turn_says_what_became_of_it() -> None:
    found = marks(Replace(turn=1, find="max, min", text="a, b"), Drop(turn=0))
    assert [(turn.number, turn.role, turn.state) for turn in found] == [
        (0, "system", "gone"),
        (1, "user", "changed"),
        (2, "assistant", "same"),
        (3, "tool", "same"),
    ]
    assert found[2].calls == (Piece("same", 'pick({"max": 3})'),)


def test_a_turn_that_replaces_another_is_not_taken_for_an_edited_one() -> None:
    found = marks(Drop(turn=1), Insert(turn=1, role="user", content="Call it."), Rewrite(turn=0, content="Be cruel."))
    assert [(turn.number, turn.state) for turn in found] == [
        (0, "changed"),
        (1, "gone"),
        (None, "new"),
        (2, "same"),
        (3, "same"),
    ]


@pytest.mark.parametrize(
    "operation",
    [
        Replace(turn=1, find="max", text="a", which="all"),
        Rewrite(turn=3, content="8"),
        Insert(turn=1, role="user", content="First this."),
        Drop(turn=0),
    ],
)
def test_what_is_marked_is_what_the_edit_makes(operation: Operation) -> None:
    after = edited(PROMPT, Edit(operations=(operation,)))
    for kept, prompt in ((("same", "gone"), PROMPT), (("same", "new"), after)):
        shown = "".join(piece.text for turn in marks(operation) for piece in turn.pieces if piece.kind in kept)
        assert shown == "".join(turn.content for turn in prompt.turns)


def test_an_edit_that_cannot_be_made_marks_nothing() -> None:
    assert marks(Drop(turn=9)) == ()


def test_long_unchanged_text_is_left_out_and_counted() -> None:
    one = planted.verified()
    prompt, edit = one.screened.prompt, one.experiments[0].edit
    turn = marked(prompt, edit)[1]
    assert turn.shortened
    assert sum(len(piece.text) for piece in turn.pieces) < 4 * KEPT
    cuts = [piece.text for piece in turn.pieces if piece.kind == "cut"]
    kept = sum(len(piece.text) for piece in turn.pieces if piece.kind in ("same", "gone"))
    assert sum(int(text.split()[0].replace(",", "")) for text in cuts) + kept == len(prompt.turns[1].content)
    assert not any(found.shortened for found in plain(prompt))


def test_small_edits_and_rewritings_of_the_longest_prompts_are_quick() -> None:
    long = "word and " * 900
    began = time.perf_counter()
    for _ in range(20):
        word_changes(long + "end", long.replace("word", "ward", 1) + "end")
    word_changes(long, "other text " * 800)
    assert time.perf_counter() - began < 2.0
