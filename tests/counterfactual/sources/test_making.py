"""Of a conversation there is one prompt, which ends where the target speaks, or one for each turn that it spoke."""

from typing import Any

from firsthand.counterfactual.prompts import Prompt, Tool
from firsthand.counterfactual.sources.found import Refused
from firsthand.counterfactual.sources.making import CUT_BACK, every_prompt, last_prompt, made
from firsthand.counterfactual.sources.messages import said_in

from .conftest import alterations, prompts, refusals, spoken

U, A, S = ({"role": role, "content": role} for role in ("user", "assistant", "system"))
PICTURE = {"role": "user", "content": [{"type": "image"}]}


def last(*messages: Any) -> list[Any]:
    return list(last_prompt(said_in(list(messages)), source="set", place="line 1"))


def every(*messages: Any) -> list[Any]:
    return list(every_prompt(said_in(list(messages)), source="set", place="line 1", cluster="task 7"))


def test_what_the_assistant_said_last_is_cut_off_and_that_is_said() -> None:
    found = last(S, U, A, U, A, A)
    assert spoken(prompts(found)[0]) == [(m["role"], m["content"]) for m in (S, U, A, U)]
    assert alterations(found) == [("line 1", CUT_BACK)]


def test_a_conversation_that_ends_where_the_target_speaks_is_whole() -> None:
    found = last(U, A, U)
    assert len(prompts(found)[0].turns) == 3
    assert not alterations(found)


def test_without_a_turn_to_answer_there_is_no_prompt() -> None:
    assert refusals(last(S, A)) == refusals(last(S)) == [("line 1", "no turn that the target could answer")]


def test_every_turn_of_the_assistant_gives_what_was_said_before_it() -> None:
    found = every(S, U, A, U, A, U)
    assert [(one.place, len(one.turns), one.cluster) for one in found] == [
        ("line 1, turn 2", 2, "task 7"),
        ("line 1, turn 4", 4, "task 7"),
    ]


def test_a_conversation_in_which_the_assistant_did_not_speak_yet_is_one_prompt() -> None:
    assert [one.place for one in prompts(every(S, U))] == ["line 1, turn 2"]


def test_a_turn_with_nothing_to_answer_before_it_gives_none() -> None:
    assert refusals(every(S, A, U, A, A)) == [
        ("line 1, turn 1", "nothing was said before the assistant's turn"),
        ("line 1, turn 4", "an assistant's turn that follows another"),
    ]
    assert [one.place for one in prompts(every(S, A, U, A, A))] == ["line 1, turn 3"]


def test_examples_that_were_put_into_the_prompt_are_not_where_the_target_spoke() -> None:
    found = every(U, {**A, "source": "input"}, U, {**A, "source": "generate"})
    assert [one.place for one in found] == ["line 1, turn 3"]


def test_a_message_that_is_no_turn_spoils_only_the_prompts_that_hold_it() -> None:
    found = every(U, A, PICTURE, A)
    assert [one.place for one in prompts(found)] == ["line 1, turn 1"]
    assert refusals(found) == [("line 1, turn 3", "a message that holds more than text")]
    assert not refusals(last(U, {"role": "assistant", "content": [{"type": "image"}]}))


def test_turns_without_text_are_refused_and_results_without_text_are_not() -> None:
    assert refusals(last({"role": "user", "content": " \n"})) == [("line 1", "a turn without text")]
    call = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}]}
    assert len(prompts(last(U, call, {"role": "tool", "content": ""}))) == 1


def test_a_second_system_message_is_refused_with_the_reason_of_the_prompt() -> None:
    assert refusals(last(U, S, U)) == [("line 1", "only the first turn can be the system's")]


def test_without_a_cluster_of_its_own_a_prompt_is_clustered_by_its_family() -> None:
    texts = ["a  template that begins like this " * 5 + end for end in ("one", "two")]
    texts.append(texts[0].replace("  ", "\n"))
    clusters = [
        one.cluster
        for text in texts
        if isinstance(one := made(said_in([{"role": "user", "content": text}]), source="s", place="p"), Prompt)
    ]
    assert len(clusters) == 3
    assert len(set(clusters)) == 1
    other = made(said_in([U]), source="s", place="p")
    assert isinstance(other, Prompt)
    assert other.cluster not in clusters


def test_arguments_that_have_no_canonical_form_are_refused() -> None:
    for value in (float("nan"), "\ud83d"):
        one = made(said_in([U]), source="s", place="p", tools=[Tool(name="look", parameters={"a": value})])
        assert isinstance(one, Refused)
        assert one.reason == "a tool or a call whose arguments cannot be written as JSON"
