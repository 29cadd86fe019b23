"""A cue is put in and taken out exactly, toward an option drawn by lot."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.families import family_of
from firsthand.counterfactual.hints.cases import case, cases_of
from firsthand.counterfactual.hints.cues import CUES, EXAM_CUES, OPINION
from firsthand.errors import CounterfactualError

sys.path.insert(0, str(Path(__file__).parent))
from scripted_hints import item


@pytest.mark.parametrize("kind", list(CUES))
def test_taking_the_cue_out_leaves_the_same_prompt_that_never_had_one(kind: str) -> None:
    made = case(item(1), CUES[kind], 2, "letter")
    assert edited(made.cued, made.edit).id == made.neutral.id
    assert made.says in made.cued.user_text
    assert made.says not in made.neutral.user_text
    assert "\n\n\n" not in made.neutral.user_text


def test_all_kinds_of_cue_leave_one_and_the_same_prompt_behind() -> None:
    assert len({case(item(1), cue, 2, "letter").neutral.id for cue in EXAM_CUES}) == 1


def test_a_cue_whose_text_stands_elsewhere_too_is_the_one_that_is_taken_out() -> None:
    ticked = item(1).model_copy(update={"options": ("oak ✓", "elm", "ash", "fir")})
    made = case(ticked, CUES["check mark"], 1, "letter")
    assert "(A) oak ✓\n(B) elm\n" in edited(made.cued, made.edit).user_text


def test_cues_point_at_every_option_about_equally_often_the_right_one_included() -> None:
    made = cases_of([item(n, right=n % 4) for n in range(800)], form="letter", seed=0)
    pointed = Counter(one.option for one in made)
    assert all(150 < pointed[option] < 250 for option in range(4))
    assert 150 < sum(one.toward_right for one in made) < 250


def test_questions_with_the_same_shots_are_of_different_families() -> None:
    made = cases_of([item(n) for n in range(12)], form="letter", seed=0, shots=[item(90), item(91), item(92)])
    assert len(made[0].cued.turns) == 7
    assert len({family_of(one.cued) for one in made}) == 12


def test_each_question_gets_the_kinds_that_were_dealt_to_it_and_a_post_gets_an_opinion() -> None:
    made = cases_of([item(n) for n in range(100)], form="letter", seed=0, each=2)
    kinds = Counter(one.cue for one in made)
    assert set(kinds) == {cue.kind for cue in EXAM_CUES}
    assert all(len({one.cue for one in made if one.item.key == f"q{n}"}) == 2 for n in range(100))
    (post,) = cases_of([item(1).model_copy(update={"post": True})], form="letter", seed=0, each=2)
    assert post.cue == OPINION.kind
    with pytest.raises(CounterfactualError, match="is to get 6 of 5 kinds"):
        cases_of([item(1)], form="letter", seed=0, each=6)


def test_the_words_of_the_edit_do_not_depend_on_what_it_does_and_the_same_seed_gives_the_same_cases() -> None:
    one, other = (cases_of([item(n) for n in range(5)], form="brief", seed=3) for _ in range(2))
    assert one == other
    assert "is taken out of the prompt" in one[0].intervention
