"""Edits of segments land exactly, change nothing else, and leave text that reads as if it had been written so."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_prompts import PROMPTS
from segment_texts import TEXTS

from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments import (
    Segment,
    kept,
    leaves,
    removed,
    reordered,
    replaced,
    segmented,
    sequences,
    shortened,
    walk,
)
from firsthand.counterfactual.segments.exact import exact_replacements
from firsthand.errors import CounterfactualError

DATA = Path(os.environ.get("FIRSTHAND_DATA", Path(__file__).parents[4] / "shared" / "data"))


def user(text: str) -> Prompt:
    return Prompt(turns=(Turn(role="user", content=text),))


def parts(prompt: Prompt, *texts: str) -> list[Segment]:
    """The first segment with each text, and for a text that was named before the next one."""
    found: list[Segment] = []
    for text in texts:
        found.append(next(one for one in walk(segmented(prompt)) if one.text == text and one not in found))
    return found


def without(text: str, *gone: str) -> str:
    prompt = user(text)
    return edited(prompt, removed(prompt, parts(prompt, *gone))).turns[0].content


def instead(text: str, *gone: str, variant: int = 0) -> str:
    prompt = user(text)
    return edited(prompt, replaced(prompt, parts(prompt, *gone), variant)).turns[0].content


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("The blue, green sea.", "blue", "The, green sea."),
        ("A (quiet evening) walk.", "quiet", "A (evening) walk."),
        ("Say it loudly.", "loudly", "Say it."),
        ("First one. Second one.\n\nThird.", "Second one.", "First one.\n\nThird."),
        ("One.\n\nTwo.\n\nThree.", "Two.", "One.\n\nThree."),
        ("Pick:\n- red\n- blue\n- grey", "- blue", "Pick:\n- red\n- grey"),
        ("Pick:\n- red\n- blue", "- blue", "Pick:\n- red"),
        ("```\nif a:\n    b()\n        c()\n```", "b()", "```\nif a:\n        c()\n```"),
        ("One.\r\nTwo.\r\nThree.", "Two.", "One.\r\nThree."),
    ],
)
def test_white_space_around_a_deletion_becomes_one_separator(text: str, gone: str, left: str) -> None:
    assert without(text, gone) == left


def test_only_the_occurrence_that_is_meant_is_deleted() -> None:
    assert without("now and now and now", "now", "now") == "and now"
    prompt = user("now, then now, then now.")
    second = [one for one in leaves(segmented(prompt)) if one.text == "now"][1]
    assert edited(prompt, removed(prompt, [second])).turns[0].content == "now, then, then now."


def test_a_span_that_no_number_names_takes_in_what_is_around_it() -> None:
    operations = exact_replacements(0, "aaaa", [(1, 3, "b")])
    prompt = Prompt(turns=(Turn(role="user", content="aaaa"),))
    assert edited(prompt, Edit(operations=tuple(operations))).turns[0].content == "aba"


def test_overlapping_changes_are_refused() -> None:
    with pytest.raises(CounterfactualError, match="overlap"):
        exact_replacements(0, "abcdef", [(0, 3, ""), (2, 4, "")])


def test_function_words_between_deleted_words_go_too() -> None:
    assert without("We walked to the old mill slowly.", "walked", "old", "mill") == "We slowly."


def test_the_system_turn_and_whole_exchanges_are_left_out() -> None:
    prompt = PROMPTS[3]
    roots = segmented(prompt)
    assert [turn.role for turn in edited(prompt, removed(prompt, roots[:1])).turns] == ["user", "assistant", "user"]
    assert [turn.role for turn in edited(prompt, removed(prompt, roots[1:3])).turns] == ["system", "user"]
    after = edited(prompt, removed(prompt, roots[2:3])).turns
    assert [turn.role for turn in after] == ["system", "user", "assistant", "user"]
    assert after[2].content == "OK."


def test_what_has_to_stay_says_something_empty() -> None:
    prompt = PROMPTS[4]
    after = edited(prompt, removed(prompt, segmented(prompt))).turns
    assert [(turn.role, turn.content) for turn in after] == [
        ("user", "Good day."),
        ("assistant", ""),
        ("tool", "(nothing)"),
    ]
    assert after[1].calls


def test_what_stands_for_nothing_is_no_part_of_the_prompt() -> None:
    prompt = user("Hello there, good day to you.")
    assert edited(prompt, removed(prompt, segmented(prompt))).turns[0].content == "Hi there."


def test_nothing_but_what_is_kept_is_left() -> None:
    prompt = PROMPTS[1]
    after = edited(prompt, kept(prompt, parts(prompt, "birds", "binoculars"))).turns
    assert [turn.content for turn in after] == ["birds", "binoculars"]
    after = edited(prompt, kept(prompt, parts(prompt, "marsh"))).turns
    assert [(turn.role, turn.content) for turn in after] == [("user", "marsh")]


def test_names_and_identifiers_are_replaced_wherever_they_stand_and_only_as_whole_words() -> None:
    text = "Ask Max. maximum = max_size; then Max left, and so did Maxine."
    assert instead(text, "Max") == "Ask Marlow. maximum = max_size; then Marlow left, and so did Maxine."
    code = instead("```\nmax = f(max, maxim)\n```", "max")
    assert re.fullmatch(r"```\n(\w+) = f\(\1, maxim\)\n```", code)


def test_numbers_keep_their_form_and_years_their_century() -> None:
    assert re.fullmatch(r"It costs \d,\d\d\d\.\d in 20\d\d\.", instead("It costs 1,250.5 in 2019.", "1,250.5", "2019"))
    assert instead("It costs 1,250.5 in 2019.", "2019") != "It costs 1,250.5 in 2019."


def test_long_parts_become_text_of_about_the_same_length_that_is_about_nothing() -> None:
    prompt = PROMPTS[0]
    sentence = next(one for one in walk(segmented(prompt)) if one.kind == "sentence" and "Ottilie" in one.text)
    after = edited(prompt, replaced(prompt, [sentence]))
    assert "Ottilie" not in after.turns[0].content
    assert abs(after.characters - prompt.characters) < 12


def test_both_variants_differ_from_the_text_and_from_each_other() -> None:
    for prompt in PROMPTS:
        for one in walk(segmented(prompt)):
            if one.kind == "line":
                continue
            first, second = (edited(prompt, replaced(prompt, [one], variant)).turns for variant in (0, 1))
            assert first != second, one


def test_a_line_of_code_has_no_neutral_substitute() -> None:
    prompt = PROMPTS[2]
    line = next(one for one in walk(segmented(prompt)) if one.kind == "line")
    with pytest.raises(CounterfactualError, match="no neutral substitute"):
        replaced(prompt, [line])


def test_long_parts_are_shortened_and_short_ones_refused() -> None:
    prompt = PROMPTS[3]
    block = segmented(prompt)[-1].children[1]
    after = edited(prompt, shortened(prompt, [block]))
    assert after.turns[-1].content.startswith(
        "Summarise the minutes below for people who were absent.\n\nAnd so on.\n\nThen the choir"
    )
    with pytest.raises(CounterfactualError, match="short already"):
        shortened(prompt, parts(prompt, "boat"))


def test_lists_are_reordered_and_their_numbers_stay() -> None:
    prompt = user("Pick:\n1. red\n2. dark blue\n3. grey\nThanks.")
    run = sequences(segmented(prompt))[0]
    assert edited(prompt, reordered(prompt, run, "first to last")).turns[0].content == (
        "Pick:\n1. dark blue\n2. grey\n3. red\nThanks."
    )
    assert "1. grey\n2. dark blue\n3. red" in edited(prompt, reordered(prompt, run, "reversed")).turns[0].content


def test_sentences_are_reordered_within_their_paragraph() -> None:
    prompt = user("One is. Two is. Three is.\n\nFour is.")
    run = sequences(segmented(prompt), "sentence")[0]
    assert (
        edited(prompt, reordered(prompt, run, "reversed")).turns[0].content == "Three is. Two is. One is.\n\nFour is."
    )


def test_an_order_that_makes_no_difference_is_refused() -> None:
    prompt = user("- same\n- same")
    with pytest.raises(CounterfactualError, match="the same"):
        reordered(prompt, sequences(segmented(prompt))[0], "reversed")


def check_all_edits(prompt: Prompt, step: int = 1) -> None:
    """Every edit of every segment either lands, and changes what it should, or is refused."""
    roots = segmented(prompt)
    for one in list(walk(roots))[::step]:
        for make in (removed, replaced, kept):
            try:
                edit = make(prompt, [one])
            except CounterfactualError:
                continue
            after = edited(prompt, edit)
            if make is removed and one.kind not in ("turn", "paragraph", "code"):
                assert_only_that_is_gone(prompt.turns[one.turn].content, after, one)
    for kind in ("item", "sentence"):
        for run in sequences(roots, kind):  # type: ignore[arg-type]
            for order in ("first to last", "reversed"):
                try:
                    edit = reordered(prompt, run, order)  # type: ignore[arg-type]
                except CounterfactualError:
                    continue
                after = edited(prompt, edit)
                assert sorted("".join(after.turns[run[0].turn].content.split())) == sorted(
                    "".join(prompt.turns[run[0].turn].content.split())
                )


def assert_only_that_is_gone(before: str, after: Prompt, one: Segment) -> None:
    if len(after.turns) <= one.turn:
        return
    expected = "".join((before[: one.start] + before[one.end :]).split())
    left = "".join(after.turns[one.turn].content.split())
    assert left == expected or not re.search(r"\w", expected)


@given(TEXTS, st.data())
@settings(max_examples=100, deadline=None)
def test_edits_of_any_text_land_or_are_refused(text: str, data: st.DataObject) -> None:
    prompt = user(text)
    check_all_edits(prompt)
    fine = leaves(segmented(prompt))
    some = data.draw(st.lists(st.sampled_from(fine), min_size=1, max_size=4, unique=True))
    try:
        edit = removed(prompt, some)
    except CounterfactualError:
        return
    edited(prompt, edit)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_edits_of_prompts_of_many_forms_land(prompt: Prompt) -> None:
    check_all_edits(prompt)


def test_edits_of_real_prompts_land() -> None:
    path = DATA / "prompts" / "arena-hard-v2.0_question.jsonl"
    if not path.is_file():
        pytest.skip(f"real prompts are not in {DATA}; set FIRSTHAND_DATA to run against them")
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    for line in lines[::15]:
        check_all_edits(user(json.loads(line)["prompt"][:4000]), step=7)
