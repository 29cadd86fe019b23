"""Explanations as conversations to train on: the prompt, the target's own response, "why did you?", the explanation.

The follow-up turn asks in the second person, since the target answers for itself; the loss is on the last turn alone,
and there are three epochs of explanations where there is one of predictions (arXiv 2608.16747, appendices D.1 and E).
"""

from collections.abc import Iterable, Mapping
from typing import Final

from firsthand.counterfactual.describing import Describer, mechanically
from firsthand.counterfactual.explaining.target_text import explanation_of, target_text
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.responses import Response
from firsthand.errors import CounterfactualError

EPOCHS: Final = 3
"""How often each explanation is seen."""


class ExplanationExample(Part):
    """One conversation to train on.

    Attributes:
        investigation: Identifier of the investigation, by which data are split.
        cluster: What must not be parted besides, such as a family of prompts.
        prompt: The transcript with the question, ending in the user's turn.
        answer: The last turn, on which the loss is.
    """

    investigation: str
    cluster: str
    prompt: Prompt
    answer: str


class Made(Part):
    """Examples, and why the other investigations gave none.

    Attributes:
        examples: One for each investigation that gave one.
        left_out: The others, by identifier, with the reason.
    """

    examples: tuple[ExplanationExample, ...]
    left_out: dict[str, str]


def asked(prompt: Prompt, response: Response, question: str) -> Prompt:
    """A transcript with a question as the user's next turn."""
    own = Turn(role="assistant", content=response.text, calls=response.calls)
    results = tuple(Turn(role="tool", content="(not run)", answers=call.id) for call in response.calls)
    turns = (*prompt.turns, own, *results, Turn(role="user", content=question))
    return prompt.model_copy(update={"turns": turns})


def examples(
    investigations: Iterable[Investigation],
    responses: Mapping[str, Response],
    describe: Describer = mechanically,
) -> Made:
    """A conversation for each investigation.

    Args:
        investigations: The investigations.
        responses: For each, by identifier, one of the target's own responses that show the behaviour.
        describe: Who puts edits into words.
    """
    found: list[ExplanationExample] = []
    left_out: dict[str, str] = {}
    for one in investigations:
        response = responses.get(one.id)
        if response is None or response.missing:
            left_out[one.id] = "no response to explain"
            continue
        try:
            explanation = explanation_of(one, describe)
        except CounterfactualError as error:
            left_out[one.id] = error.problem
            continue
        if not explanation.evidence:
            left_out[one.id] = "no confirmed experiment"
            continue
        prompt = one.screened.prompt
        found.append(
            ExplanationExample(
                investigation=one.id,
                cluster=prompt.cluster or prompt.id,
                prompt=asked(prompt, response, one.screened.own_question),
                answer=target_text(explanation),
            )
        )
    return Made(examples=tuple(found), left_out=left_out)
