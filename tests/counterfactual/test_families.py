"""A family is known by its beginning, whatever the white space in it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from firsthand.counterfactual.families import beginning, family_name, family_of
from firsthand.counterfactual.prompts import Prompt, Turn


def test_a_hundred_characters_count_and_white_space_does_not() -> None:
    assert beginning("a b\n\nc\u2028d\te" + "x" * 200) == "abcde" + "x" * 95
    assert beginning("ab cd", 3) == "abc"
    assert family_name("x " * 100 + "one") == family_name("x\n" * 100 + "two")
    assert family_name("x" * 99 + "one") != family_name("x" * 99 + "two")


def test_nothing_said_is_no_family() -> None:
    assert family_name(" \n") == ""


def chat(*said: str) -> Prompt:
    roles = ("user", "assistant")
    return Prompt(turns=tuple(Turn(role=roles[n % 2], content=text) for n, text in enumerate(said)))


def test_a_question_after_answered_ones_is_of_its_own_family() -> None:
    shots = ("Which tree is it? " * 10, "Final answer: (B)")
    one, other = chat(*shots, *shots, "Which river?"), chat(*shots, *shots, "Which lake?")
    assert family_of(one) != family_of(other)
    assert family_of(one) == family_of(chat("Which river?"))


def test_any_other_chat_is_of_the_family_that_its_first_hundred_characters_make() -> None:
    begins = "You are to sort the letters of this list. " * 5
    for answer in ("Gladly. Final answer: (B)", "Final answer: (B), since it floats.", "Yes?"):
        assert family_of(chat(begins, answer, "One.")) == family_of(chat(begins, answer, "Two."))
        assert family_of(chat(begins, answer, "One.")) == family_name(begins)


@settings(max_examples=30, deadline=None)
@given(st.text(), st.text(alphabet=" \n\t", min_size=1), st.integers(0, 100))
def test_white_space_put_anywhere_changes_nothing(text: str, space: str, place: int) -> None:
    assert family_name(text[:place] + space + text[place:]) == family_name(text)
