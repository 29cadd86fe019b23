"""What Inspect returns, as responses."""

from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage

from firsthand.counterfactual.inspecting.converting import responses_of


def test_tokens_of_a_choice_that_was_cut_off_beside_others_are_not_known() -> None:
    def choices(*reasons: str) -> ModelOutput:
        made = [
            ChatCompletionChoice(message=ChatMessageAssistant(content="so"), stop_reason=one)  # type: ignore[arg-type]
            for one in reasons
        ]
        return ModelOutput(model="m", choices=made, usage=ModelUsage(output_tokens=30 * len(made)))

    told = responses_of(choices("stop", "max_tokens", "stop"), 3)
    assert [one.tokens for one in told] == [30, 0, 30]
    assert [one.tokens for one in responses_of(choices("max_tokens"), 1)] == [30]
