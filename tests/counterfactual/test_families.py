"""A family is known by its beginning, whatever the white space in it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.counterfactual.families import beginning, family_name


def test_a_hundred_characters_count_and_white_space_does_not() -> None:
    assert beginning("a b\n\nc\u2028d\te" + "x" * 200) == "abcde" + "x" * 95
    assert beginning("ab cd", 3) == "abc"
    assert family_name("x " * 100 + "one") == family_name("x\n" * 100 + "two")
    assert family_name("x" * 99 + "one") != family_name("x" * 99 + "two")


def test_nothing_said_is_no_family() -> None:
    assert family_name(" \n") == ""


@settings(max_examples=30, deadline=None)
@given(st.text(), st.text(alphabet=" \n\t", min_size=1), st.integers(0, 100))
def test_white_space_put_anywhere_changes_nothing(text: str, space: str, place: int) -> None:
    assert family_name(text[:place] + space + text[place:]) == family_name(text)
