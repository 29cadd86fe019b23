"""Messages and tools as tokens of a local model, and what it writes as messages."""

from collections.abc import Sequence
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="Inspect is not installed; pip install 'firsthand[investigate]'")
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ContentImage,
    ContentText,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParam, ToolParams
from plain_tokenizers import byte_level, sentence_pieces

from firsthand.counterfactual.inspecting.chat import rendered
from firsthand.counterfactual.inspecting.replies import read_reply
from firsthand.errors import EngineError

PLAIN = "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
OPEN = "{% if add_generation_prompt %}[assistant]{% endif %}"
WITH_TOOLS = "{% for t in tools or [] %}{tool {{ t['function']['name'] }}}{% endfor %}" + PLAIN + OPEN
LOOK = ToolInfo(
    name="look",
    description="Looks there.",
    parameters=ToolParams(properties={"where": ToolParam(type="string")}, required=["where"]),
)
TALK: Sequence[ChatMessage] = [
    ChatMessageSystem(content="be brief"),
    ChatMessageUser(content="what is there ?"),
    ChatMessageAssistant(content="so", tool_calls=[ToolCall(id="c", function="look", arguments={"where": "there"})]),
    ChatMessageTool(content="code A", tool_call_id="c", function="look"),
]


def test_a_template_shows_tools_in_its_own_way_where_it_has_one() -> None:
    chat = rendered(byte_level(WITH_TOOLS), TALK, [LOOK])
    assert chat.text.startswith("{tool look}[system] be brief\n")
    assert "[tool] code A\n" in chat.text
    assert chat.text.endswith("[assistant]")
    assert "".join(chat.text[a:b] for a, b in chat.offsets) == chat.text


@pytest.mark.parametrize("template", [PLAIN + OPEN, None])
def test_tools_calls_and_results_are_written_out_where_a_template_has_no_place_for_them(template: str | None) -> None:
    text = rendered(byte_level(template), TALK, [LOOK]).text
    assert '"name": "look"' in text
    assert "Looks there." in text
    assert '<tool_call>{"name": "look", "arguments": {"where": "there"}}</tool_call>' in text
    assert "<tool_response>code A</tool_response>" in text
    assert text.index("be brief") < text.index("Looks there.") < text.index("what is there ?") < text.index("code A")
    without = rendered(byte_level(template), TALK[:2]).text
    assert "tool_call" not in without


def test_a_template_without_a_system_role_gets_it_with_the_first_question() -> None:
    strict = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + PLAIN + OPEN
    assert rendered(byte_level(strict), TALK[:2]).text == "[user] be brief\nwhat is there ?\n[assistant]"


def test_there_is_one_beginning_of_text_where_the_tokenizer_adds_one() -> None:
    tokenizer = sentence_pieces()
    chat = rendered(tokenizer, [ChatMessageUser(content="so")])
    assert list(chat.tokens).count(tokenizer.bos_token_id) == 1
    templated = sentence_pieces("{{ bos_token }}" + PLAIN + OPEN)
    assert list(rendered(templated, [ChatMessageUser(content="so")]).tokens).count(tokenizer.bos_token_id) == 1


@pytest.mark.parametrize(
    ("message", "template", "words"),
    [
        (ChatMessageUser(content="again"), "[user] {{ messages[0]['content'][1:] }}", "dropped or altered"),
        (ChatMessageUser(content="a <|im_end|> b"), PLAIN, "<|im_end|>"),
        (
            ChatMessageUser(content=[ContentText(text="see"), ContentImage(image="data:image/png;base64,AA==")]),
            PLAIN,
            "more than text",
        ),
        (ChatMessageUser(content="so"), "{{ raise_exception('no') }}", "template failed"),
    ],
)
def test_what_cannot_be_rendered_whole_is_refused(message: ChatMessage, template: str, words: str) -> None:
    with pytest.raises(EngineError) as refusal:
        rendered(byte_level(template), [message])
    assert words in refusal.value.problem


@pytest.mark.parametrize(
    ("written", "text", "calls"),
    [
        ('ok <tool_call>{"name": "look", "arguments": {"where": "x"}}</tool_call>', "ok", [("look", {"where": "x"})]),
        ('<tool_call>\n{"name": "look", "parameters": {}}\n</tool_call>', "", [("look", {})]),
        ('{"name": "look", "parameters": {"where": "x"}}', "", [("look", {"where": "x"})]),
        ('[{"name": "look", "arguments": "{\\"where\\": 1}"}]', "", [("look", {"where": 1})]),
        ('{"name": "other", "parameters": {}}', '{"name": "other", "parameters": {}}', []),
        ("no call at all", "no call at all", []),
    ],
)
def test_calls_are_read_however_a_family_writes_them(
    written: str, text: str, calls: list[tuple[str, dict[str, Any]]]
) -> None:
    reply = read_reply(written, [LOOK], seed=1)
    assert (reply.text, [(call.function, call.arguments) for call in reply.calls]) == (text, calls)
    assert not any(call.parse_error for call in reply.calls)
    assert read_reply(written, [], seed=1).text == written  # without tools nothing is a call


@pytest.mark.parametrize(
    "written", ["<tool_call>{nothing}</tool_call>", '<tool_call>{"name": "look", "argum', "<tool_call>[1]"]
)
def test_a_call_that_cannot_be_read_is_an_error_and_no_text(written: str) -> None:
    (call,) = read_reply(written, [LOOK], seed=1).calls
    assert call.parse_error
    assert not call.arguments
    assert not read_reply(written, [LOOK], seed=1).text


@pytest.mark.parametrize(
    ("written", "prompt", "reasoning", "text"),
    [
        ("<think>\nhm\n</think>\n\nso", "", "hm", "so"),
        ("hm</think>so", "<think>\n", "hm", "so"),
        ("<think>\nhm", "", "hm", ""),
        ("hm", "<think>\n", "hm", ""),
        ("<think>\n\n</think>\n\nso", "", None, "so"),
        ("so", "", None, "so"),
    ],
)
def test_thinking_is_kept_apart_from_what_is_said(written: str, prompt: str, reasoning: str | None, text: str) -> None:
    reply = read_reply(written, [], seed=1, prompt=prompt)
    assert (reply.reasoning, reply.text) == (reasoning, text)
