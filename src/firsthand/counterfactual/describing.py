"""An edit in words, made from the edit alone: whoever writes them is shown neither a rate nor a response.

Texts of prompts are data: they stand in quotation marks with everything that is not plain text spelled out, so that a
quoted text cannot end its quotation, and long ones are shortened with what was left out counted.
"""

import json
import unicodedata
from typing import Final, NamedTuple, Protocol

from firsthand.counterfactual.edits import Drop, Edit, Insert, Operation, Replace, Rewrite, changes, edited
from firsthand.counterfactual.factors import Span, single_factor, spans
from firsthand.counterfactual.neutral import is_neutral
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Role

LONGEST: Final = 400
"""Characters of a quoted text; of a longer one its beginning and end are quoted."""
SAYS_NOTHING: Final = "something of its kind that says nothing"
"""Which of several neutral texts was put in is no part of what was meant, and might tell who chose the edit and why."""
_HEAD: Final = 240
_TAIL: Final = 120
_MOST_SPANS: Final = 4

_SPOKEN: Final[dict[Role, str]] = {
    "system": "system prompt",
    "user": "user's turn",
    "assistant": "assistant's turn",
    "tool": "tool result",
}


class Described(Part):
    """What a describer says of an edit.

    Attributes:
        intervention: The edit in words.
        single_factor: Whether it changes one thing; ``None`` where the describer cannot tell.
    """

    intervention: str
    single_factor: bool | None = None


class Describer(Protocol):
    """Whoever puts edits into words: a program, or a model that is shown the two prompts.

    It is given the prompt and the edit, and nothing that was measured.
    """

    def __call__(self, prompt: Prompt, edit: Edit) -> Described:
        """The edit in words."""
        ...


def mechanically(prompt: Prompt, edit: Edit) -> Described:
    """A describer that is no model."""
    return Described(intervention=described(prompt, edit), single_factor=single_factor(prompt, edit))


def described(prompt: Prompt, edit: Edit) -> str:
    """What an edit does, operation by operation. Turns are named by the numbers they had, from 1.

    Raises:
        CounterfactualError: If the edit cannot be made.
    """
    edited(prompt, edit)
    turns = [_Named(turn.role, turn.content, number) for number, turn in enumerate(prompt.turns, 1)]
    total, said = len(turns), []
    for operation in edit.operations:
        said.append(_said(turns, operation, total))
        _carry_out(turns, operation)
    if len(said) == 1:
        return said[0]
    return f"{len(said)} changes are made. " + " ".join(f"({n}) {one}" for n, one in enumerate(said, 1))


class _Named(NamedTuple):
    role: Role
    content: str
    number: int | None

    def name(self, total: int) -> str:
        if self.role == "system":
            return "the system prompt"
        place = "new" if self.number is None else f"turn {self.number} of {total}"
        return f"the {_SPOKEN[self.role]} ({place})"


def _said(turns: list[_Named], operation: Operation, total: int) -> str:
    if isinstance(operation, Insert):
        kind = "system prompt" if operation.role == "system" else _SPOKEN[operation.role]
        at_end = operation.turn >= len(turns)
        place = "at the end" if at_end else f"before {turns[operation.turn].name(total)}"
        return f"A new {kind} is put {place}: {quoted(operation.content)}."
    turn = turns[operation.turn]
    name = turn.name(total)
    match operation:
        case Replace():
            return f"In {name}, {_substituted(turn.content, operation)}."
        case Rewrite():
            return _rewritten(name, turn.content, operation.content)
        case Drop():
            return f"{name[0].upper()}{name[1:]} is left out: {quoted(turn.content)}."


def _substituted(content: str, operation: Replace) -> str:
    count, which = content.count(operation.find), operation.which
    where = ""
    if count > 1:
        where = f" (all {count} places)" if which == "all" else f" (number {int(which or 0) + 1} of {count} places)"
    return f"{_became(Span(operation.find, operation.text))}{where}"


def _became(span: Span) -> str:
    gone, new = span
    if not new:
        return f"{quoted(gone)} is deleted"
    if not gone:
        return f"{quoted(new)} is added"
    if is_neutral(new) and not is_neutral(gone):
        return f"{quoted(gone)} is replaced with {SAYS_NOTHING}"
    if new.startswith(gone):
        return f"{quoted(new[len(gone) :])} is added after {quoted(gone)}"
    if new.endswith(gone):
        return f"{quoted(new[: -len(gone)])} is added before {quoted(gone)}"
    return f"{quoted(gone)} is replaced with {quoted(new)}"


def _rewritten(name: str, before: str, after: str) -> str:
    if not after.strip():
        return f"{name[0].upper()}{name[1:]} is emptied; it was {quoted(before)}."
    if is_neutral(after) and not is_neutral(before):
        return f"{name[0].upper()}{name[1:]} is replaced with {SAYS_NOTHING}; it was {quoted(before)}."
    found = list(changes(before, after))
    parts = spans(found)
    kept = sum(len(text) for kind, text in found if kind == "same")
    if parts and len(parts) <= _MOST_SPANS and 2 * kept >= max(len(before), len(after)):
        return f"In {name}, {'; '.join(_became(part) for part in parts)}."
    return f"{name[0].upper()}{name[1:]} is rewritten: {quoted(before)} becomes {quoted(after)}."


def _carry_out(turns: list[_Named], operation: Operation) -> None:
    match operation:
        case Insert():
            turns.insert(operation.turn, _Named(operation.role, operation.content, None))
        case Drop():
            del turns[operation.turn]
        case Rewrite():
            turns[operation.turn] = turns[operation.turn]._replace(content=operation.content)
        case Replace():
            turn = turns[operation.turn]
            pieces, place = turn.content.split(operation.find), operation.which
            if place == "all":
                content = operation.text.join(pieces)
            else:
                at = int(place or 0) + 1
                content = f"{operation.find.join(pieces[:at])}{operation.text}{operation.find.join(pieces[at:])}"
            turns[operation.turn] = turn._replace(content=content)


def quoted(text: str, longest: int = LONGEST) -> str:
    """A text in quotation marks, what is no plain text spelled out; a long one shortened, and counted."""
    if len(text) <= longest:
        return _quotation(text)
    left_out = text[_HEAD : len(text) - _TAIL]
    return (
        f"{_quotation(text[:_HEAD])} [{len(left_out):,} characters, about {len(left_out.split()):,} words, not shown] "
        f"{_quotation(text[-_TAIL:])}"
    )


def _quotation(text: str) -> str:
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(one if _plain(one) else _spelt(ord(one)) for one in shown)


def _spelt(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _plain(character: str) -> bool:
    return unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
