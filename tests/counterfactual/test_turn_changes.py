from firsthand.counterfactual.edits import Drop, Edit, Insert, Replace, edited, turn_changes
from firsthand.counterfactual.prompts import Prompt, Turn

START = Prompt(
    turns=(
        Turn(role="user", content="one two three"),
        Turn(role="assistant", content="Fine."),
        Turn(role="user", content="four five six"),
    )
)


def side_by_side(*operations: Insert | Drop | Replace) -> list[tuple[str | None, str | None]]:
    pairs = turn_changes(START, edited(START, Edit(operations=operations)))
    return [(a and a.content, b and b.content) for a, b in pairs]


def test_a_new_turn_beside_one_that_changed_is_not_taken_for_it() -> None:
    found = side_by_side(Insert(turn=0, role="system", content="Be kind."), Replace(turn=1, find="three", text="3"))
    assert found == [(None, "Be kind."), ("one two three", "one two 3"), ("Fine.", "Fine."), ("four five six",) * 2]


def test_a_turn_that_went_beside_one_that_changed_is_not_taken_for_it() -> None:
    found = side_by_side(Drop(turn=0), Drop(turn=0), Replace(turn=0, find="six", text="6"))
    assert found == [("one two three", None), ("Fine.", None), ("four five six", "four five 6")]


def test_turns_of_one_role_are_paired_by_what_they_have_in_common() -> None:
    found = side_by_side(Insert(turn=0, role="user", content="nothing alike"), Replace(turn=1, find="three", text="3"))
    assert found[:2] == [(None, "nothing alike"), ("one two three", "one two 3")]
