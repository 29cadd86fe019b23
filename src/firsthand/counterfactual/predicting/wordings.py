"""How a predictor is asked: several wordings of one question, each with its answers in both orders.

A single wording is one draw of many, and models lean towards the answer that is named first or last. The first wording
is the one that the contract's follow-up turn ends in (:data:`~firsthand.counterfactual.predicting.questions.REQUEST`).
"""

from typing import Final, NamedTuple

from firsthand.counterfactual.predicting.questions import ANSWERS, REQUEST


class Wording(NamedTuple):
    """One wording in one order.

    Attributes:
        name: What it is called.
        text: The request, the last line that is read.
        group: Number of the wording, whatever the order.
        yes_first: Whether "Yes" is named before "No".
    """

    name: str
    text: str
    group: int
    yes_first: bool


_TEXTS: Final = (
    REQUEST.replace("Yes or No", "{answers}"),
    "Suppose that this edit were made and many responses were drawn. Would the claim turn out to be right? "
    "One word: {answers}.",
    "Will the share of responses that count move by as much as the claim says? Reply {answers}, and nothing else.",
)


def _all() -> tuple[Wording, ...]:
    yes, no = ANSWERS
    orders = ((f"{yes} or {no}", True), (f"{no} or {yes}", False))
    return tuple(
        Wording(f"wording {group + 1}, {answers}", text.format(answers=answers), group, first)
        for group, text in enumerate(_TEXTS)
        for answers, first in orders
    )


WORDINGS: Final = _all()
"""All of them; the first is the contract's own."""

ONE: Final = WORDINGS[:1]
"""The contract's own alone: how a model that was trained on one format is asked."""
