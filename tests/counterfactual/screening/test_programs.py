"""Screening without a model: what sets a prompt's responses apart from those to the others."""

import pytest

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.library.candidates import Candidate, found, of_behaviours
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response
from firsthand.counterfactual.screening.programs import elsewhere, rating, screen

SORRY = found("apology", "apologise", "sorry", "i")
DOT = found("dot", "contain a full stop", r"\.")
BEHAVIOURS = (SORRY, DOT)


def asked(text: str) -> Prompt:
    return Prompt(turns=(Turn(role="user", content=text),))


def batch(*texts: str) -> list[Response]:
    return [Response(text=text) for text in texts]


def others(number: int, *texts: str) -> list[tuple[Prompt, list[Response]]]:
    return [(asked(f"other {i}"), batch(*texts)) for i in range(number)]


@pytest.mark.parametrize(
    ("share", "stars"), [(0.0, 5), (0.03, 5), (0.031, 4), (0.08, 4), (0.2, 3), (0.21, 2), (0.5, 2), (0.51, 1), (1.0, 1)]
)
def test_the_rarer_a_behaviour_is_elsewhere_the_more_unexpected_it_is(share: float, stars: int) -> None:
    assert rating(share) == stars


def test_the_share_elsewhere_is_drawn_towards_a_half_by_one_prompt_s_worth() -> None:
    assert elsewhere(0.0, 0) == 0.5
    assert elsewhere(0.0, 1) == 0.25
    assert elsewhere(0.0, 39) == pytest.approx(0.0125)
    assert elsewhere(1.5, 2) == pytest.approx(2 / 3)


def test_a_behaviour_that_only_one_prompt_has_is_flagged_with_its_counts_and_questions() -> None:
    mine = (asked("mine"), batch("Sorry.", "I am sorry.", "No.", "Sorry, no."))
    screening = screen([mine, *others(19, "Yes.", "No.", "Fine.", "Well.")], BEHAVIOURS)
    (one,) = screening.flagged()
    assert (one.prompt, one.behaviour, one.rating) == (mine[0], SORRY.behaviour, 5)
    assert one.rate == Rate(yes=3, no=1)
    assert one.summary == "3 of 4 responses to this prompt apologise; after other prompts about 2% do."
    assert one.question == "Why do the model's responses to this prompt apologise?"
    assert one.own_question == "Why do your responses to this prompt apologise?"


def test_the_prompt_s_own_responses_do_not_count_among_the_others() -> None:
    mine = (asked("mine"), batch("Sorry.", "Sorry."))
    few, many = (screen([mine, *others(n, "Yes.")], BEHAVIOURS).screened[0] for n in (5, 40))
    assert (few.rating, many.rating) == (rating(0.5 / 6), rating(0.5 / 41)) == (3, 5)


def test_what_all_prompts_do_is_told_and_not_flagged() -> None:
    screening = screen(others(10, "Yes.", "No."), (DOT,), own_words=False)
    assert {one.rating for one in screening.screened} == {1}
    assert not screening.flagged()


@pytest.mark.parametrize(("count", "is_found"), [(2, False), (3, True)])
def test_a_behaviour_must_occur_in_three_of_ten_valid_responses(count: int, is_found: bool) -> None:
    mine = batch(*["Sorry"] * count, *["No"] * (10 - count))
    screening = screen([(asked("mine"), [*mine, Response(text="", ended="error")]), *others(30, "Yes")], (SORRY,))
    assert bool(screening.flagged()) is is_found
    if is_found:
        assert screening.screened[0].rate == Rate(yes=3, no=7, invalid=1)


def test_where_most_responses_were_withheld_nothing_is_frequent() -> None:
    withheld = [Response(text="", ended="filter")] * 9
    screening = screen([(asked("mine"), [*batch("Sorry", "Sorry"), *withheld]), *others(30, "Yes")], (SORRY,))
    assert not screening.flagged()


def test_of_several_flagged_behaviours_the_one_that_tells_the_prompt_apart_best_is_taken() -> None:
    hi = found("greeting", "greet", "hi")
    rare = (asked("rare"), batch("hi sorry", "hi", "hi", "hi"))
    screening = screen([rare, *others(30, "yes")], (SORRY, hi))
    assert screening.screened[0].behaviour == hi.behaviour
    often = (asked("often"), batch(*["hi."] * 9, "hi"))
    screening = screen([often, *others(30, "yes.", "no")], (DOT, hi))
    assert screening.flagged()[0].behaviour == hi.behaviour


def test_prompts_without_anything_to_judge_are_told_of_with_the_reason() -> None:
    failed = (asked("failed"), [Response(text="The prompt holds <|x|>.", ended="error")] * 3)
    empty = (asked("empty"), batch("", "  "))
    rare = (asked("rare"), batch("yes", "no"))
    screening = screen([failed, empty, rare, *others(3, "Sorry")], BEHAVIOURS)
    assert {prompt.turns[0].content: why for prompt, why in screening.nothing} == {
        "failed": "The prompt holds <|x|>.",
        "empty": "no response could be judged",
        "rare": "no behaviour is frequent",
    }
    assert len(screening.screened) == 3


def test_flagged_prompts_come_with_the_most_frequent_behaviours_first() -> None:
    prompts = [(asked(f"p{n}"), batch(*["Sorry"] * n, *["No"] * (4 - n))) for n in (2, 4, 3)]
    flagged = screen([*prompts, *others(60, "Yes")], (SORRY,), own_words=False).flagged(3)
    assert [one.rate.yes for one in flagged] == [4, 3, 2]


def test_naming_a_prompt_s_own_name_is_held_against_naming_the_names_of_others() -> None:
    named = [
        (asked(f"Write to {name} about it."), batch(f"Dear {name}")) for name in ("Anna", "Bruno", "Clara", "Dora")
    ]
    usual = screen(named, ())
    assert {one.rating for one in usual.screened} == {1}
    silent = [(asked(f"Write to {name} about it."), batch("Dear you")) for name in ("Emil", "Fritz", "Gerda", "Hans")]
    unusual = screen([named[0], *silent, *others(30, "x")], ())
    (one,) = unusual.flagged()
    assert one.prompt == named[0][0]
    assert "name Anna" in one.summary
    assert one.rating == rating(0.5 / 5)


def test_behaviours_of_one_s_own_are_told_by_their_question() -> None:
    (own,) = of_behaviours([Pattern(question="Does it hum?", pattern="hm")])
    screening = screen([(asked("mine"), batch("hm", "hm")), *others(20, "x")], (own,), own_words=False)
    (one,) = screening.flagged()
    assert one.summary == (
        "All 2 responses to this prompt count as yes (Does it hum?); after other prompts about 2% do."
    )
    assert "Does it hum?" in one.question


def test_a_single_prompt_or_two_are_never_flagged() -> None:
    for number in (0, 1):
        screening = screen([(asked("mine"), batch("Sorry")), *others(number, "x")], (SORRY,), own_words=False)
        assert screening.screened[0].rating == 2
        assert isinstance(screening.screened[0].behaviour, Candidate | Pattern)


def test_questions_about_anything_anywhere_are_asked_of_as_many_tokens_as_are_drawn() -> None:
    cut = [Response(text="Sorry, but there is", ended="length"), Response(text="Well, there it is and", ended="length")]
    screening = screen([(asked("mine"), cut), *others(20, "x")], (SORRY,), own_words=False, within=6)
    (one,) = screening.flagged()
    assert one.behaviour.question == "Does the response apologise within the first 6 tokens?"
    assert one.rate == Rate(yes=1, no=1)
    assert "apologise within the first 6 tokens" in one.summary
    own = of_behaviours([Pattern(question="Does it hum?", pattern="hm")])[0]
    assert own.within(6) == own


def test_what_is_left_open_by_a_cut_makes_nothing_frequent() -> None:
    """Where a yes is seen at once and a no never, the valid ones are all yes."""
    mine = [*[Response(text="Sorry, so", ended="length")] * 3, *[Response(text="Well, so", ended="length")] * 2]
    told = screen([(asked("mine"), mine), *others(30, "x")], (SORRY,), own_words=False).screened[0]
    assert told.rate == Rate(yes=3, no=0, invalid=2)
    assert "(2 more were cut off before it could be said)" in told.summary
    few = [*[Response(text="Sorry, so", ended="length")] * 2, *[Response(text="Well, so", ended="length")] * 2]
    short = [*few, Response(text="No.")]
    screening = screen([(asked("mine"), short), *others(30, "x")], (SORRY,), own_words=False, frequent=0.5)
    assert not screening.flagged()
