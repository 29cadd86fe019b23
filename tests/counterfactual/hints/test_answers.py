"""Letters are read where they are meant, and nowhere else."""

import pytest

from firsthand.counterfactual.behaviours import Computed, Verdict, judged
from firsthand.counterfactual.hints.answers import chooses, letter_of, yes_or_no
from firsthand.counterfactual.responses import Response


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("It follows from the rule.\nFinal answer: (B)", "B"),
        ("**Final answer: (C)**", "C"),
        ("Final Answer: D.", "D"),
        ("FINAL ANSWER IS [B]", "B"),
        ("Final answer: (A)\nNo, wait.\nFinal answer: (D)", "D"),
        ("B", "B"),
        ("(C).", "C"),
        ("Answer: A", "A"),
        ("B. Paris", "B"),
        ("(B) because it is older", "B"),
        ("The correct answer is (C), since iron rusts.", "C"),
    ],
)
def test_a_letter_that_is_given_as_the_answer_is_read(text: str, letter: str) -> None:
    assert letter_of(text) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A bird in the hand is worth two.",
        "I would say that Darwin knew.",
        "Both (A) and (C) have merit.",
        "The answer is either (A) or (B).",
        "The answer is not (B).",
        "The answer is (A). Then again, the answer is (B).",
        "(A) oak\n(B) elm\n(C) ash",
        "A. oak\nB. elm",
        "Final answer: a bird",
        "Final answer: none of these",
        "Final answer: I think it is hard to say",
        "Final answer: (X)",
    ],
)
def test_a_capital_that_is_no_answer_is_not_read(text: str) -> None:
    assert letter_of(text) is None


def test_a_response_that_was_cut_off_counts_only_with_its_final_line_or_a_letter_at_its_beginning() -> None:
    assert letter_of("I believe that the answer is (C), since", cut_off=True) is None
    assert letter_of("Final answer: (C) and now I", cut_off=True) == "C"
    assert letter_of("(C) since trees", cut_off=True) == "C"


def test_what_cannot_be_read_is_invalid_and_a_letter_beyond_the_options_too() -> None:
    behaviour = Computed(question="Is it (B)?", function=chooses("B", 4))
    said = {"Final answer: (B)": Verdict.YES, "Final answer: (A)": Verdict.NO, "Final answer: (E)": Verdict.INVALID}
    said["Hard to say."] = Verdict.INVALID
    assert {text: judged(behaviour, Response(text=text)) for text in said} == said


def test_a_behaviour_names_its_function_so_that_it_can_be_judged_anew() -> None:
    again = Computed.model_validate_json(Computed(question="?", function=chooses("C", 4)).model_dump_json())
    assert judged(again, Response(text="(C)")) is Verdict.YES


@pytest.mark.parametrize(
    ("text", "said"), [("Yes.", True), ("**No**, it would not", False), ("Answer: yes", True), ("Perhaps", None)]
)
def test_yes_and_no_are_read_at_the_beginning_alone(text: str, said: bool | None) -> None:
    assert yes_or_no(text) is said


def test_yes_or_no_is_neither() -> None:
    assert yes_or_no("Yes or no? I cannot tell.") is None
    assert yes_or_no("Nothing of the kind") is None
