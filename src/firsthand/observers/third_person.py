"""A language model as observer: it reads the transcript, quoted, and is asked about *that* assistant.

The same model without the edit is the closest outsider there is; a sibling model is the next. The model's own
preference is not taken at face value (a letter bias would make it a weak observer): it enters a logistic regression
beside the public numbers, fitted on other blocks, so that whatever the model can infer is used as well as possible.
"""

import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from firsthand.observers.base import Message, Past, TextModel
from firsthand.observers.features import matrix
from firsthand.trials.public import PublicView
from firsthand.vocabulary import Capability

_SPEAKER = {"user": "Person", "assistant": "Assistant", "system": "System"}


class ThirdPersonObserver:
    """Asks a text-only model about the assistant of a quoted transcript.

    Args:
        model: The model that is asked.
        name: Name of the observer in tables.
    """

    def __init__(self, model: TextModel, name: str = "third_person") -> None:
        self.model = model
        self.name = name
        self._known: dict[tuple[Message, ...], float] = {}

    def observe(self, capability: Capability, past: Past, views: Sequence[PublicView]) -> NDArray[np.float64]:
        """Probability of truth 1 from the model's preference and the public numbers."""
        from sklearn.linear_model import LogisticRegression

        if len(set(past.truth.tolist())) < 2:
            return np.full(len(views), float(np.mean(past.truth)))
        every = [*past.views, *views]
        asked = np.clip(np.array(self._contrasts(capability, every)), -20.0, 20.0)
        scale = max(float(np.std(asked[: len(past.views)])), 1e-6)
        columns = np.column_stack([matrix(every), asked / scale])
        model = LogisticRegression(max_iter=1000).fit(columns[: len(past.views)], past.truth)
        return np.asarray(model.predict_proba(columns[len(past.views) :])[:, 1])

    def _contrasts(self, capability: Capability, views: Sequence[PublicView]) -> list[float]:
        conversations = [tuple(conversation(capability, view)) for view in views]
        new = {
            c: view.questions[capability].codes
            for c, view in zip(conversations, views, strict=True)
            if c not in self._known
        }
        if new:
            self._known.update(zip(new, self.model.contrasts(list(new), list(new.values())), strict=True))
        return [self._known[c] for c in conversations]


def conversation(capability: Capability, view: PublicView) -> list[Message]:
    """The conversation in which an observer model is asked; every turn of the transcript is quoted as JSON text."""
    question = view.questions[capability]
    body = "\n".join(f"{_SPEAKER[turn.role]}: {_quoted(turn.content)}" for turn in view.turns)
    ask = (
        f"Here is a conversation of a person with another assistant.\n{body}\n"
        f"Judge that assistant's register. {question.text}"
    )
    return [("system", "Answer briefly."), ("user", ask), ("assistant", question.stem)]


def _quoted(content: str | None) -> str:
    return "(hidden)" if content is None else json.dumps(content, ensure_ascii=False)
