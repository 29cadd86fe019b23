import pytest

from firsthand.counterfactual.edits import Drop, Edit, Replace, Rewrite
from firsthand.counterfactual.neutral import is_neutral, takes_away
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments import replaced, segmented, walk

TEXT = """Write a letter to Ada Byron about the 3 rivers of "old London", and call max_value() twice, please.

It rains today. The cat sleeps, which is a very long sentence about nothing in particular and everything else.

1. first the milk
2. then the eggs"""


@pytest.mark.parametrize(
    "text",
    ["", "  ", "Hello.", "(nothing)", "And so on.", "Marlow", "Tessen Ardley", "things", "item_1", "- a paper bag"],
)
def test_texts_that_stand_for_something_say_nothing(text: str) -> None:
    assert is_neutral(text)


@pytest.mark.parametrize("text", ["lake", "7", "The house is old.", "Ada", "The river.", "a table", "Hello, Ada."])
def test_texts_that_say_something_are_not_neutral(text: str) -> None:
    assert not is_neutral(text)


@pytest.mark.parametrize("variant", [0, 1])
def test_whatever_is_substituted_by_the_search_takes_something_away(variant: int) -> None:
    start = Prompt(turns=(Turn(role="user", content=TEXT),))
    tried = 0
    for segment in walk(segmented(start)):
        if segment.kind not in ("line", "number", "quote"):
            tried += 1
            assert takes_away(replaced(start, [segment], variant)), (segment.kind, segment.text)
    assert tried > 20


def test_an_edit_with_a_turn_left_out_or_something_said_does_not_only_take_away() -> None:
    assert takes_away(Edit(operations=(Replace(turn=0, find="x"), Rewrite(turn=0, content="OK."))))
    assert not takes_away(Edit(operations=(Drop(turn=0),)))
    assert not takes_away(Edit(operations=(Replace(turn=0, find="x"), Replace(turn=0, find="y", text="lake"))))
