"""Transcripts of models that think first, with the thinking shown or hidden.

A response keeps its thinking apart from what it says (:class:`~firsthand.counterfactual.responses.Response`). Whether a
reader is shown it is a choice, and one that matters: predictions from transcripts that show it are better (arXiv
2608.16747, appendix G). The choice is made on the question, so that every predictor and every way of asking takes it.
"""

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.predicting.predictions import Prediction, Predictor
from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.responses import Response

Thinking: TypeAlias = Literal["visible", "hidden"]
THINKING: Final[tuple[Thinking, ...]] = ("visible", "hidden")

BEGIN: Final = "[Thinking]"
END: Final = "[Answer]"
"""What stands before the thinking and before the answer, where the thinking is shown."""


def shown(response: Response, thinking: Thinking) -> Response:
    """A response as a reader gets it: with its thinking as part of the text, or without any.

    A response that came without thinking is the same either way. A mark that the thinking itself holds is spelled
    otherwise, so that it cannot end itself.
    """
    if thinking == "hidden" or not (response.reasoning or "").strip():
        return response.model_copy(update={"reasoning": None})
    thought = (response.reasoning or "").strip().replace(END, END.lower()).replace(BEGIN, BEGIN.lower())
    text = f"{BEGIN}\n{thought}\n\n{END}\n{response.text}"
    return response.model_copy(update={"text": text, "reasoning": None})


def with_thinking(question: Question, thinking: Thinking) -> Question:
    """The question on a transcript that shows the thinking, or hides it."""
    return question.model_copy(update={"response": shown(question.response, thinking)})


def follow_up(question: Question, thinking: Thinking) -> Prompt:
    """The claim as the user's next turn on such a transcript."""
    return with_thinking(question, thinking).follow_up


def transcript(prompt: Prompt, response: Response, thinking: Thinking) -> str:
    """A prompt and a response as a text for a reader, who must be given it as a quoted document."""
    lines = [f"{turn.role.upper()}: {turn.content}" for turn in prompt.turns]
    return "\n\n".join([*lines, f"ASSISTANT: {shown(response, thinking).text}"])


class Seen(Part):
    """Predictions by one predictor on transcripts of one kind.

    Attributes:
        thinking: Whether the thinking was shown.
        predictions: One for each question.
        thought: How many of the transcripts have any thinking.
    """

    thinking: Thinking
    predictions: tuple[Prediction, ...]
    thought: int


def both_ways(predictor: Predictor, questions: Sequence[Question]) -> tuple[Seen, ...]:
    """The same questions with thinking visible and hidden."""
    thought = sum(bool((one.response.reasoning or "").strip()) for one in questions)
    return tuple(
        Seen(
            thinking=thinking,
            predictions=tuple(predictor.predict([with_thinking(one, thinking) for one in questions])),
            thought=thought,
        )
        for thinking in THINKING
    )
