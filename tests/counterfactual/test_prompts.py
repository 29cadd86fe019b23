"""A prompt ends where its target speaks, and is known by what the target is given."""

import pytest
from pydantic import ValidationError

from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn


def says(*turns: tuple[str, str], **more: object) -> Prompt:
    return Prompt.model_validate({"turns": [{"role": role, "content": content} for role, content in turns], **more})


@pytest.mark.parametrize("last", ["user", "tool"])
def test_a_prompt_ends_in_a_turn_that_the_target_answers(last: str) -> None:
    assert says(("system", "s"), ("user", "u"), (last, "x")).turns[-1].role == last


@pytest.mark.parametrize("last", ["assistant", "system"])
def test_a_prompt_that_ends_elsewhere_is_refused_and_told_where(last: str) -> None:
    with pytest.raises(ValidationError, match=f"one of the {last}"):
        says((last, "x"))


def test_a_prompt_has_a_turn() -> None:
    with pytest.raises(ValidationError):
        Prompt(turns=())


def test_the_system_speaks_first_or_not_at_all() -> None:
    with pytest.raises(ValidationError, match="only the first turn"):
        says(("user", "u"), ("system", "s"), ("user", "u"))


def test_only_an_assistant_calls_tools_and_only_a_tool_answers_a_call() -> None:
    with pytest.raises(ValidationError, match="a user turn makes no tool calls"):
        Turn(role="user", content="", calls=(ToolCall(id="1", name="look"),))
    with pytest.raises(ValidationError, match="a assistant turn answers no tool call"):
        Turn(role="assistant", content="", answers="1")


def test_its_name_is_of_what_the_target_is_given_and_not_of_where_it_stood() -> None:
    here = says(("user", "u"), source="a", place="line 1", cluster="x")
    there = says(("user", "u"), source="b", place="line 9", cluster="y")
    assert here.id == there.id
    assert here.id != says(("user", "u ")).id
    assert here.id != says(("system", "u"), ("user", "u")).id


def test_tools_and_calls_are_part_of_what_the_target_is_given() -> None:
    plain = says(("user", "u"))
    assert plain.model_copy(update={"tools": (Tool(name="look"),)}).id != plain.id
    turns = [
        [
            Turn(role="assistant", content="", calls=(ToolCall(id="1", name="look", arguments={"at": at}),)),
            Turn(role="tool", content="seen", answers="1"),
        ]
        for at in ("here", "there")
    ]
    assert Prompt(turns=tuple(turns[0])).id != Prompt(turns=tuple(turns[1])).id


def test_its_name_stays_what_it_is() -> None:
    """Batches are kept under it: a change of the name would have everything be asked for again."""
    assert says(("system", "Be brief."), ("user", "Why?")).id == "a40cdafac7d1603f"


def test_user_text_is_what_users_say_and_characters_are_all_that_is_said() -> None:
    prompt = says(("system", "abc"), ("user", "de"), ("assistant", "fghi"), ("user", "j"))
    assert prompt.user_text == "de\nj"
    assert prompt.characters == 10


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValidationError, match="surrogate"):
        Turn(role="user", content="half \ud83d of a face")
    with pytest.raises(ValidationError, match="JSON"):
        ToolCall(id="c1", name="look", arguments={"depth": float("nan")})
