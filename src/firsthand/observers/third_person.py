"""A language model as observer: it reads the transcript, quoted, and is asked about *that* assistant.

The same model without the edit is the closest outsider there is; a sibling model is the next. The model's own
preference is not taken at face value. A bias towards a letter or a place shifts all answers to one question alike, so
the preference enters twice: as it is, and as its difference from the mean over all views that were asked the same
question. Both enter a logistic regression beside the public numbers, fitted on other blocks, so that whatever the model
can infer is used as well as possible. Whether a report is right is not asked for: it follows from what the model says
of the state and from which state was reported.
"""

import json
import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.observers.base import Message, Past, TextModel
from firsthand.observers.features import matrix
from firsthand.trials.public import PublicQuestion, PublicView
from firsthand.vocabulary import Capability

_SPEAKER = {"user": "Person", "assistant": "Assistant", "system": "System"}
_CONTROL = re.compile(r"<(?=\S)|\[(?=/?[A-Z_]+\])")


class ThirdPersonObserver:
    """Asks a text-only model about the assistant of a quoted transcript.

    Args:
        model: The model that is asked.
        name: Name of the observer in tables.
    """

    def __init__(self, model: TextModel, name: str = "third_person") -> None:
        self.model = model
        self.name = name
        self._known: dict[tuple[tuple[Message, ...], tuple[str, str]], float] = {}

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """Probability of truth 1 from the model's preference and the public numbers."""
        from sklearn.linear_model import LogisticRegression

        if len(set(past.truth.tolist())) < 2:
            return np.full(len(views), float(np.mean(past.truth)))
        every = [*past.views, *views]
        question = Capability.IDENTIFICATION if capability is Capability.CONFIDENCE else capability
        asked = np.clip(np.array(self._contrasts(question, every)), -20.0, 20.0)
        unbiased = _less_mean(asked, [view.questions[question] for view in every])
        if capability is Capability.CONFIDENCE:
            reported = np.array([2.0 * view.features["reported"] - 1.0 for view in every])
            asked, unbiased = asked * reported, unbiased * reported
        scaled = [column / max(float(np.std(column[: len(past.views)])), 1e-6) for column in (asked, unbiased)]
        columns = np.column_stack([matrix(every), *scaled])
        model = LogisticRegression(max_iter=1000).fit(columns[: len(past.views)], past.truth)
        return np.asarray(model.predict_proba(columns[len(past.views) :])[:, 1])

    def _contrasts(self, capability: Capability, views: Sequence[PublicView]) -> list[float]:
        asks = [(tuple(conversation(capability, view)), view.questions[capability].codes) for view in views]
        new = [ask for ask in dict.fromkeys(asks) if ask not in self._known]
        if new:
            found = self.model.contrasts([said for said, _ in new], [codes for _, codes in new])
            self._known.update(zip(new, found, strict=True))
        return [self._known[ask] for ask in asks]


def _less_mean(asked: NDArray[np.float64], questions: Sequence[PublicQuestion]) -> NDArray[np.float64]:
    """Each preference less the mean over all that were asked the same question with the same codes, ``[views]``."""
    same: dict[PublicQuestion, list[int]] = defaultdict(list)
    for i, question in enumerate(questions):
        same[question].append(i)
    unbiased = asked.copy()
    for rows in same.values():
        unbiased[rows] -= asked[rows].mean()
    return unbiased


def conversation(capability: Capability, view: PublicView) -> list[Message]:
    """The conversation in which an observer model is asked; every turn of the transcript is quoted as JSON text."""
    question = view.questions[capability]
    body = "\n".join(f"{_SPEAKER.get(turn.role, turn.role.title())}: {_quoted(turn.content)}" for turn in view.turns)
    ask = (
        f"Here is a conversation of a person with another assistant.\n{body}\n"
        f"Judge that assistant's register. {question.text}"
    )
    return [("system", "Answer briefly."), ("user", ask), ("assistant", question.stem)]


def _quoted(content: str | None) -> str:
    """A turn as a JSON string in which no token of a chat template is left whole: they would end the quotation."""
    if content is None:
        return "(hidden)"
    quoted = json.dumps(content, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
