"""Messages of several forms become turns, and what cannot be one is said."""

from typing import Any

import pytest

from firsthand.counterfactual.prompts import Tool, ToolCall, Turn
from firsthand.counterfactual.sources.found import Unusable
from firsthand.counterfactual.sources.messages import said_in, tools_in

CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "here"}'}}


def turns(*messages: Any) -> list[Turn | str]:
    return [one.turn if isinstance(one.turn, Turn) else one.turn.reason for one in said_in(list(messages))]


def test_speakers_have_many_names() -> None:
    names = ["developer", "human", "gpt", "User", "chatgpt", "prompter", "model"]
    roles = [one.role for one in said_in([{"from": name, "value": "x"} for name in names])]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user", "assistant"]


def test_text_may_come_in_parts_and_thoughts_are_left_out() -> None:
    parts = [
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "text", "text": "a"},
        {"type": "output_text", "text": "b"},
    ]
    assert turns({"role": "assistant", "content": parts}) == [Turn(role="assistant", content="a\nb")]
    assert turns({"role": "user", "content": ["a", "b"]}) == [Turn(role="user", content="a\nb")]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user", "content": [{"type": "image_url", "image_url": {}}]}, "a message that holds more than text"),
        ({"role": "user", "content": {"parts": ["a"]}}, "a message whose content is no text"),
        ({"role": "user", "content": 7}, "a message whose content is no text"),
        ({"role": "narrator", "content": "a"}, "a speaker that is not known"),
        ({"content": "a"}, "a speaker that is not known"),
        ("a", "a message that is no object"),
        ({"role": "user", "content": "\ud83d"}, "text that is no Unicode"),
        ({"role": "tool", "content": "a", "tool_call_id": "c9"}, "a tool's result without its call"),
        ({"role": "assistant", "tool_calls": "look"}, "tool calls in a form that is not known"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "a tool call that cannot be read"),
        (
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{"}}]},
            "a tool call that cannot be read",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "[1]"}}]},
            "a tool call that cannot be read",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "1", "function": "a", "arguments": {}, "parse_error": "no"}]},
            "a tool call that cannot be read",
        ),
    ],
)
def test_what_cannot_be_a_turn_is_said_and_the_others_stay(message: Any, reason: str) -> None:
    assert turns({"role": "user", "content": "a"}, message) == [Turn(role="user", content="a"), reason]


@pytest.mark.parametrize("messages", [None, [], "hello", {"role": "user"}, 7])
def test_no_list_of_messages_is_no_conversation(messages: Any) -> None:
    with pytest.raises(Unusable, match="no messages"):
        said_in(messages)


@pytest.mark.parametrize(
    "call",
    [
        CALL,
        {"id": "c1", "function": "look", "arguments": {"at": "here"}, "type": "function"},
        {"id": "c1", "name": "look", "arguments": {"at": "here"}},
    ],
    ids=["OpenAI", "Inspect", "flat"],
)
def test_calls_have_three_forms(call: dict[str, Any]) -> None:
    expected = Turn(role="assistant", content="", calls=(ToolCall(id="c1", name="look", arguments={"at": "here"}),))
    assert turns({"role": "assistant", "content": None, "tool_calls": [call]}) == [expected]


def test_a_call_of_the_old_form_gets_an_identifier_and_its_result_refers_to_it() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": "{}"}}
    made = said_in([call, {"role": "function", "name": "look", "content": "a cat"}])
    assert [one.turn for one in made] == [
        Turn(role="assistant", content="", calls=(ToolCall(id="call_0_0", name="look"),)),
        Turn(role="tool", content="a cat", answers="call_0_0"),
    ]


def test_results_without_identifiers_answer_open_calls_in_order() -> None:
    calls = [{**CALL, "id": name} for name in ("c1", "c2", "c3")]
    results = [{"role": "tool", "content": "x", "tool_call_id": "c2"}, *[{"role": "tool", "content": "x"}] * 3]
    made = said_in([{"role": "assistant", "tool_calls": calls}, *results])
    assert [one.turn.answers for one in made[1:] if isinstance(one.turn, Turn)] == ["c2", "c1", "c3", None]


def test_a_system_message_without_text_is_no_turn() -> None:
    assert turns({"role": "system", "content": " "}, {"role": "user", "content": "a"}) == [
        Turn(role="user", content="a")
    ]


def test_tools_are_read_in_both_forms_and_as_text() -> None:
    parameters = {"type": "object", "properties": {}}
    inner = {"name": "look", "description": "Looks.", "parameters": parameters}
    expected = (Tool(name="look", description="Looks.", parameters=parameters),)
    assert tools_in([{"type": "function", "function": inner}]) == tools_in([inner]) == expected
    assert tools_in('[{"name": "look"}]') == (Tool(name="look"),)
    assert tools_in(None) == tools_in([]) == tools_in("") == ()


@pytest.mark.parametrize("tools", ["look", {"name": "look"}, [{}], ["look"], [{"name": "a", "parameters": [1]}], 7])
def test_tools_that_cannot_be_read_are_refused(tools: Any) -> None:
    with pytest.raises(Unusable, match="tools that cannot be read"):
        tools_in(tools)
