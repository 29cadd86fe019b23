import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite, edited
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.reproducing import other_implementation, reproduces
from firsthand.counterfactual.segments import (
    Segment,
    kept,
    removed,
    reordered,
    replaced,
    segmented,
    sequences,
    walk,
)

sys.path.insert(0, str(Path(__file__).parent))
from claim_parts import claim, rate

START = Prompt(
    turns=(
        Turn(role="system", content="Be brief."),
        Turn(role="user", content="My dog is 7. He likes Ada. Call max_value twice."),
        Turn(role="assistant", content="Fine."),
        Turn(role="user", content="Go."),
    )
)


def other(*operations: Operation) -> str | None:
    found = other_implementation(Edit(operations=operations), START)
    return None if found is None else "|".join(turn.content for turn in edited(START, found).turns)


@pytest.mark.parametrize(
    ("find", "text", "expected"),
    [
        (" He likes Ada.", "", "My dog is 7. This part has been left blank. Call"),
        ("dog", "", "My something is 7."),
        ("7", "", "My dog is 1."),
        ("max_value", "", "Call item twice"),
        ("dog", "something", "My  is 7."),
        ("7", "9", "My dog is 11."),
        ("7", "5", "My dog is 3."),
    ],
)
def test_another_text_takes_the_same_away_or_goes_further(find: str, text: str, expected: str) -> None:
    found = other(Replace(turn=1, find=find, text=text))
    assert found is not None
    assert expected in found


def test_a_turn_that_was_left_out_says_nothing_instead() -> None:
    assert other(Drop(turn=0)) == f"Answer the user.|{START.turns[1].content}|Fine.|Go."
    assert other(Rewrite(turn=2, content="")) == f"Be brief.|{START.turns[1].content}|All right.|Go."


@pytest.mark.parametrize(
    "operations",
    [
        (Replace(turn=1, find="dog", text="cat"),),
        (Insert(turn=1, role="user", content="Hi"), Insert(turn=2, role="assistant", content="Yes?")),
        (Rewrite(turn=1, content="Something else entirely"),),
        (Replace(turn=1, find="7", text="seven"),),
        (Replace(turn=1, find="dog", text=""), Replace(turn=1, find="Ada", text="Bob")),
        (Replace(turn=1, find="dog", text="old dog"),),
        (Replace(turn=1, find=" ", text="", which=0),),
    ],
    ids=str,
)
def test_where_the_meaning_lies_in_what_was_put_in_no_other_way_is_known(operations: tuple[Operation, ...]) -> None:
    assert other(*operations) is None


def test_several_deletions_are_all_made_in_another_way() -> None:
    found = other(Replace(turn=1, find="dog"), Replace(turn=1, find="7"))
    assert found is not None
    assert "My something is 1." in found


def test_the_other_edit_leaves_another_prompt() -> None:
    for find in ("dog", "7", " He likes Ada."):
        first = Edit(operations=(Replace(turn=1, find=find),))
        second = other_implementation(first, START)
        assert second is not None
        assert edited(START, first).id != edited(START, second).id


def test_a_true_claim_is_reproduced_by_a_change_of_thirty_points_in_the_same_direction() -> None:
    true = claim(1, baseline=rate(15), rate=rate(0))
    assert reproduces(true, rate(6)) is True
    assert reproduces(true, rate(7)) is False
    assert reproduces(true, rate(30)) is False


def test_a_false_claim_is_reproduced_by_no_such_change_in_either_direction() -> None:
    false = claim(1, label=False, baseline=rate(15), rate=rate(14))
    assert reproduces(false, rate(7)) is True
    assert reproduces(false, rate(6)) is False
    assert reproduces(false, rate(24)) is False


LIST = Prompt(
    turns=(
        Turn(role="user", content="Which one, Ada?"),
        Turn(role="assistant", content="Tell me more, please."),
        Turn(
            role="user",
            content="Ada likes max_value. Take one of these:\n1. the milk\n2. the eggs\n3. the flour\nGo on now.",
        ),
    )
)


def part(text: str) -> Segment:
    return next(one for one in walk(segmented(LIST)) if one.text == text)


@pytest.mark.parametrize(
    "text", ["Ada", "max_value", "milk", "1. the milk", "Take one of these:", "Go on now.", LIST.turns[2].content]
)
def test_a_neutral_substitute_is_made_in_another_neutral_way(text: str) -> None:
    for variant in (0, 1):
        first = replaced(LIST, [part(text)], variant)
        second = other_implementation(first, LIST)
        assert second is not None
        assert text not in edited(LIST, second).turns[2].content.replace("Gon", "")
        assert edited(LIST, second).id != edited(LIST, first).id


def test_several_neutral_substitutes_are_made_in_another_neutral_way() -> None:
    first = replaced(LIST, [part("Ada"), part("max_value")], 1)
    second = other_implementation(first, LIST)
    assert second == replaced(LIST, [part("Ada"), part("max_value")], 0)


def test_another_order_is_another_order_in_which_another_item_comes_first_too() -> None:
    (run,) = sequences(segmented(LIST))
    turned, moved = (reordered(LIST, run, order) for order in ("reversed", "first to last"))
    assert other_implementation(turned, LIST) == moved
    assert other_implementation(moved, LIST) == turned
    two = Prompt(turns=(Turn(role="user", content="- a cat\n- a dog"),))
    (pair,) = sequences(segmented(two))
    assert other_implementation(reordered(two, pair, "reversed"), two) is None, "of two there is one other order"


def test_what_is_kept_alone_is_kept_among_text_about_nothing() -> None:
    first = kept(LIST, [part("2. the eggs")])
    second = other_implementation(first, LIST)
    assert second is not None
    last = edited(LIST, second).turns[2].content
    assert "the eggs" in last
    assert not any(word in last for word in ("Ada", "max_value", "milk", "flour"))


def test_an_exchange_that_was_left_out_speaks_about_nothing() -> None:
    first = removed(LIST, [root for root in segmented(LIST) if root.turn < 2])
    assert len(edited(LIST, first).turns) == 1
    second = other_implementation(first, LIST)
    assert second is not None
    turns = edited(LIST, second).turns
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert not any("Ada" in turn.content or "more" in turn.content for turn in turns[:2])
    assert turns[2] == LIST.turns[2]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        (
            Replace(turn=0, find="Which one, Ada?", text="Which one, Ada? Answer in verse."),
            "Answer in verse.\n\nWhich one, Ada?",
        ),
        (Replace(turn=0, find="Which", text="Answer in verse. Which"), "Which one, Ada?\n\nAnswer in verse."),
        (Insert(turn=0, role="system", content="Answer in verse."), "Answer in verse.\n\nWhich one, Ada?"),
    ],
    ids=str,
)
def test_a_statement_that_was_put_in_stands_elsewhere(operation: Operation, expected: str) -> None:
    second = other_implementation(Edit(operations=(operation,)), LIST)
    assert second is not None
    assert edited(LIST, second).turns[0].content == expected


def test_a_reproduction_is_held_against_its_own_baseline_where_there_is_one() -> None:
    """By chance 27 of 30 had the behaviour when the label was made; it is 15 of 30 when it is asked again."""
    true = claim(1, baseline=rate(27), rate=rate(1))
    assert reproduces(true, rate(12)) is True
    assert reproduces(true, rate(12), rate(15)) is False
    assert reproduces(true, rate(2), rate(15)) is True


def test_too_few_responses_reproduce_and_refute_nothing() -> None:
    true = claim(1, baseline=rate(27), rate=rate(1))
    assert reproduces(true, rate(0, 7), rate(8, 8)) is None
    assert reproduces(true, rate(0, 8), rate(8, 8)) is True


def test_where_invalid_responses_decide_nothing_is_reproduced_or_refuted() -> None:
    true = claim(1, baseline=rate(27), rate=rate(1))
    assert reproduces(true, Rate(yes=0, no=0, invalid=30)) is None
    assert reproduces(true, Rate(yes=10, no=10, invalid=10)) is None
    assert reproduces(true, Rate(yes=2, no=25, invalid=3)) is True
