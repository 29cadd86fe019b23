import sys
from pathlib import Path

import pytest

from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite, edited
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.reproducing import other_implementation, reproduces

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
        (Insert(turn=0, role="user", content="Hi"),),
        (Rewrite(turn=1, content="Something else entirely"),),
        (Replace(turn=1, find="7", text="seven"),),
        (Replace(turn=1, find="dog", text=""), Replace(turn=1, find="Ada", text="Bob")),
        (Drop(turn=2), Replace(turn=1, find="dog", text="")),
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


def test_where_invalid_responses_decide_nothing_is_reproduced_or_refuted() -> None:
    true = claim(1, baseline=rate(27), rate=rate(1))
    assert reproduces(true, Rate(yes=0, no=0, invalid=30)) is None
    assert reproduces(true, Rate(yes=10, no=10, invalid=10)) is None
    assert reproduces(true, Rate(yes=2, no=25, invalid=3)) is True
