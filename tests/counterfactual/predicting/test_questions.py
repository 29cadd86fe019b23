"""A question shows what came before the edit, and nothing of what was measured after it."""

from firsthand.counterfactual.behaviours import Pattern
from firsthand.counterfactual.claims import Claim
from firsthand.counterfactual.edits import Edit, Replace
from firsthand.counterfactual.predicting.questions import REQUEST, Question
from firsthand.counterfactual.prompts import Prompt, ToolCall, Turn
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Response


def claim(after: int) -> Claim:
    return Claim(
        investigation="i",
        target="t",
        prompt=Prompt(turns=(Turn(role="user", content="Name a green fruit, please."),)),
        edit=Edit(operations=(Replace(turn=0, find="green", text="red"),)),
        experiment=1,
        behaviour=Pattern(question="Does it name a lime?", pattern="lime"),
        baseline=Rate(yes=20, no=10),
        rate=Rate(yes=after, no=30 - after),
        intervention="The colour was replaced.",
        label=after == 0,
    )


def test_a_question_is_the_same_whatever_the_edit_did() -> None:
    response = Response(text="A lime.")
    assert Question.of(claim(0), response) == Question.of(claim(20), response)


def test_the_claim_is_the_users_next_turn_on_the_targets_own_transcript() -> None:
    turns = Question.of(claim(0), Response(text="A lime.")).follow_up.turns
    assert [turn.role for turn in turns] == ["user", "assistant", "user"]
    assert turns[1].content == "A lime."
    assert "The colour was replaced." in turns[2].content
    assert turns[2].content.endswith(REQUEST)


def test_a_response_that_calls_a_tool_is_followed_by_a_result_that_says_it_was_not_run() -> None:
    response = Response(text="", calls=(ToolCall(id="1", name="look"),))
    turns = Question.of(claim(0), response).follow_up.turns
    assert [turn.role for turn in turns] == ["user", "assistant", "tool", "user"]
    assert turns[2].answers == "1"
