"""Inspect's mock model with replies of our own, each of which says what it used."""

from typing import Any

from inspect_ai.model import ChatMessage, Model, ModelOutput, ModelUsage, get_model

ASKED: list[list[ChatMessage]] = []
"""What was asked, in order; emptied by :func:`predictor`."""


def says(text: str) -> ModelOutput:
    return _used(ModelOutput.from_content("mockllm/model", text))


def foretells(probability: float | str, reason: str = "so it seems") -> ModelOutput:
    return says(f'{{"reason": "{reason}", "probability": {probability}}}')


def calls(tool: str, **arguments: Any) -> ModelOutput:
    return _used(ModelOutput.for_tool_call("mockllm/model", tool, arguments))


class OutError(Exception):
    """As a provider's client raises it when its server is out."""

    status_code = 503


def fails() -> ModelOutput:
    raise OutError("no answer from the provider")


def refuses() -> ModelOutput:
    error = OutError("this prompt is too long")
    error.status_code = 400
    raise error


def _used(output: ModelOutput) -> ModelOutput:
    output.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
    return output


def predictor(*replies: Any) -> Model:
    """A model that gives these replies, one after the other; a function is called for its reply."""
    ASKED.clear()
    left = list(replies)

    def reply(messages: list[ChatMessage], tools: Any, choice: Any, config: Any) -> ModelOutput:
        ASKED.append(list(messages))
        if not left:
            raise RuntimeError("nothing was left to say")
        one = left.pop(0)
        made: ModelOutput = one() if callable(one) else one
        return made

    return get_model("mockllm/model", custom_outputs=reply, memoize=False)
