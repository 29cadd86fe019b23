"""Another implementation of what an edit is meant to do, without a model: the filter for reproducible effects.

A deletion and a replacement by something neutral are two ways to take the same thing away, and there are two neutral
substitutes for everything. A new order can be another new order, a statement that was put in can stand at the other
end of its turn. Where the meaning of an edit lies in which words were put in place of others, a program does not know
another way to put it, and says so.

Whether it had the effect is found in responses of its own, against a baseline of its own: the one that made the label
would bring its chance errors along, so that what was called true by chance would be reproduced by the same chance.
"""

import re
from typing import Final

from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.edits import Drop, Edit, Operation, Replace, Rewrite, edited
from firsthand.counterfactual.prompts import Prompt, Role
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.recognising import put_elsewhere, reordered_again, substituted_again, taken_away_again
from firsthand.errors import CounterfactualError

LEAST: Final = 8
"""Fewer valid responses in a batch reproduce nothing, and refute nothing."""

_NOTHING_SAID: Final[dict[Role, str]] = {
    "system": "Answer the user.",
    "user": "Go on, please.",
    "assistant": "All right.",
    "tool": "(empty)",
}
"""Turns that say nothing, in place of a turn that is left out."""

_SENTENCE: Final = "This part has been left blank."
_WORD: Final = "something"
_IDENTIFIER: Final = "item"
_NEUTRAL: Final = frozenset(
    {
        "something",
        "someone",
        "somewhere",
        "somehow",
        "thing",
        "item",
        "x",
        "...",
        "…",
        "___",
        "[...]",
        "[…]",
        "-",
        "n/a",
    }
)


def other_implementation(edit: Edit, prompt: Prompt) -> Edit | None:
    """Another edit of the same intent, as far as a program knows one; ``None`` where it does not.

    ==========================  ====================================================================================
    what an edit does           what is done instead
    ==========================  ====================================================================================
    deletes something           something neutral of its kind (a sentence, a word, an identifier, a number)
    puts in something neutral   it is deleted, or replaced by the other neutral substitute of its kind
    changes a number            it becomes one further in the same direction
    leaves out or empties       the turn says nothing, or text about nothing
    keeps a part alone          everything else becomes text about nothing
    changes an order            another order, in which what came first does not either
    adds a statement            it stands at the other end of its turn; a system's turn before what the user says
    ==========================  ====================================================================================

    Args:
        edit: The edit.
        prompt: The prompt.

    Returns:
        An edit that can be made and leaves another prompt than ``edit`` does.
    """
    done = edited(prompt, edit).id
    for other in (_by_operation, substituted_again, reordered_again, taken_away_again, put_elsewhere):
        found = other(prompt, edit)
        try:
            if found is not None and edited(prompt, found).id != done:
                return found
        except CounterfactualError:
            continue
    return None


def reproduces(claim: Claim, rate: Rate, baseline: Rate | None = None) -> bool | None:
    """Whether another implementation had the effect that the claim says its edit has, or has not.

    A true claim is reproduced by a change of at least 30 points in the same direction, a false one by a change of less.

    Args:
        claim: The claim.
        rate: Counts with the other implementation, in a batch of its own.
        baseline: Counts on the prompt as it is, in a batch of their own. ``None``: those that made the label, so that
            label and reproduction are not independent.

    Returns:
        ``None`` where a batch holds too few valid responses, or invalid ones could turn the answer.
    """
    before_all = claim.baseline if baseline is None else baseline
    if claim.change is None or min(rate.valid, before_all.valid) < LEAST:
        return None
    sign = 1.0 if claim.change >= 0.0 else -1.0
    found = {_had_effect(sign, after - before, claim.label) for before in before_all.bounds for after in rate.bounds}
    return found.pop() if len(found) == 1 else None


def _by_operation(prompt: Prompt, edit: Edit) -> Edit | None:
    """Each operation carried out in another way."""
    if len(edit.operations) > 1 and not all(isinstance(one, Replace) for one in edit.operations):
        return None  # Operations after a dropped turn would mean other turns.
    others = [_other(operation, prompt) for operation in edit.operations]
    return None if any(one is None for one in others) else Edit(operations=tuple(one for one in others if one))


def _had_effect(sign: float, change: float, label: bool) -> bool:
    moved = round(100.0 * (sign * change if label else abs(change)), 6)
    return moved >= POINTS if label else moved < POINTS


def _other(operation: Operation, prompt: Prompt) -> Operation | None:
    match operation:
        case Replace():
            text = _other_text(operation.find, operation.text)
            return None if text is None else operation.model_copy(update={"text": text})
        case Drop():
            role = prompt.turns[operation.turn].role
            return Rewrite(turn=operation.turn, content=_NOTHING_SAID[role])
        case Rewrite() if not operation.content.strip():
            return Rewrite(turn=operation.turn, content=_NOTHING_SAID[prompt.turns[operation.turn].role])
        case _:
            return None


def _other_text(find: str, text: str) -> str | None:
    """Another text that takes ``find`` away, or moves it as ``text`` does."""
    core = find.strip()
    if not core:
        return None
    if not text.strip():
        space = len(find) - len(find.lstrip()), len(find.rstrip())
        return f"{find[: space[0]]}{_neutral(core)}{find[space[1] :]}"
    if text.strip().casefold() in _NEUTRAL | {_SENTENCE.casefold()}:
        return ""
    try:
        old, new = int(core), int(text.strip())
    except ValueError:
        return None
    return text.replace(text.strip(), str(2 * new - old)) if new != old else None


def _neutral(core: str) -> str:
    """Something of the same kind that says nothing."""
    if re.fullmatch(r"[-+]?\d+", core):
        return "1" if core != "1" else "2"
    if re.search(r"[.!?。！？]$", core) or len(core.split()) > 6:
        return _SENTENCE
    if re.fullmatch(r"[A-Za-z_]\w*", core) and ("_" in core or re.search(r"[a-z][A-Z]|\d", core)):
        return _IDENTIFIER
    return _WORD
