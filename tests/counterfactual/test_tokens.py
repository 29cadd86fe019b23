"""Tokens are estimated from bytes, or counted by what a user gives."""

from firsthand.counterfactual.prompts import Prompt, Tool, ToolCall, Turn
from firsthand.counterfactual.tokens import counted_by, estimated_tokens

CALL = ToolCall(id="1", name="look", arguments={"at": "here" * 100})
TURNS = (
    Turn(role="user", content="x" * 400),
    Turn(role="assistant", content="", calls=(CALL,)),
    Turn(role="tool", content="x" * 401, answers="1"),
)


def test_four_bytes_are_a_token_and_a_turn_is_four_more() -> None:
    assert estimated_tokens(Prompt(turns=TURNS[:1])) == 100 + 4
    assert estimated_tokens(Prompt(turns=(Turn(role="user", content="漢" * 400),))) == 300 + 4


def test_calls_and_tools_count() -> None:
    without = estimated_tokens(Prompt(turns=(TURNS[0], Turn(role="assistant", content=""), TURNS[2])))
    assert estimated_tokens(Prompt(turns=TURNS)) > without + 100
    tools = (Tool(name="look", description="x" * 400),)
    assert estimated_tokens(Prompt(turns=TURNS, tools=tools)) > estimated_tokens(Prompt(turns=TURNS)) + 100


def test_a_tokenizer_counts_every_text() -> None:
    seen: list[str] = []

    def tokenize(text: str) -> list[str]:
        seen.append(text)
        return text.split("x")

    assert counted_by(tokenize)(Prompt(turns=TURNS)) == 401 + 402 + 1 + 3 * 4
    assert len(seen) == 3
    assert '"at":"herehere' in seen[2]
