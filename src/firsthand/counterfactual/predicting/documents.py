"""A question as a document: the transcript quoted as data in one user's turn, for a reader that did not speak in it.

Whoever wrote a prompt or a response may have written it to be obeyed. Each text stands between marks with a code that
depends on the claim, which was made after the transcript was: nobody could have written the code into it. The same
question is always the same document, so answers may be kept and compared.
"""

from typing import Final, NamedTuple

from firsthand.counterfactual.predicting.questions import Question
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.quoting import RULE, Fence, quoted
from firsthand.trials.canonical import digest

WHOLE: Final = 1_000_000
"""Characters of a text that is shown whole, whatever its length."""

LEAST: Final = 200
"""Characters that a text keeps at least when it is shortened."""

_OPENING: Final = (
    "Below is a transcript of another model: a prompt, and one of its responses. Then comes a claim about what an edit "
    "of the prompt would do to that model's responses."
)


class Document(NamedTuple):
    """A question as text.

    Attributes:
        text: What is read, up to the request.
        shortened: Characters that were left out of the transcript, where a mark stands.
    """

    text: str
    shortened: int


def document(question: Question, limit: int = WHOLE) -> Document:
    """Write a question as a document.

    Args:
        question: The question.
        limit: Characters of each text of the transcript that are shown. Of a longer one the beginning and the end are,
            with a mark between them; the claim itself is never shortened.
    """
    fence = Fence(digest(["predicting", question.model_dump(mode="json")]).encode())
    texts = transcript(question)
    parts = [RULE, _OPENING, *(quoted(text, fence, what, limit) for what, text in texts)]
    parts.append(f"The claim:\n{quoted(question.text, fence, 'claim', WHOLE)}")
    return Document("\n\n".join(parts), sum(max(0, len(text) - limit) for _, text in texts))


def transcript(question: Question) -> list[tuple[str, str]]:
    """Every text of the transcript with what it is."""
    prompt, response = question.prompt, question.response
    texts = [(f"turn {number}, {turn.role}", spoken(turn)) for number, turn in enumerate(prompt.turns)]
    if prompt.tools:
        told = "\n".join(f"{tool.name}: {tool.description}" for tool in prompt.tools)
        texts.append(("tools that the model was told of", told))
    texts.append(("response of the model", spoken(Turn(role="assistant", content=response.text, calls=response.calls))))
    return texts


def spoken(turn: Turn) -> str:
    """What a turn says, with the calls that it makes."""
    return turn.content + "".join(f"\n(calls {call.name} with {call.arguments})" for call in turn.calls)


def as_prompt(text: str, request: str) -> Prompt:
    """A document with its request as the prompt that a reader is given."""
    return Prompt(turns=(Turn(role="user", content=f"{text}\n\n{request}"),))
