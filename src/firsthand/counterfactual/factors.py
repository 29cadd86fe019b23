"""How many things an edit changes, counted in the text. A program cannot say whether they are one thing in meaning.

Words that were replaced by the same others in several places are one change, and so is text that only moved. A long
passage that became another long passage may differ in anything, and nothing is said of it.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from firsthand.counterfactual.edits import Change, Drop, Edit, Insert, Replace, Rewrite, changes, edited, turn_changes
from firsthand.counterfactual.prompts import Prompt

BRIDGE: Final = 3
"""Fewer words than this between two changes do not part them."""
LONG: Final = 40
"""From this many words on, gone and new, a span is called rewritten."""


class Span(NamedTuple):
    """A place where text went, came, or became another."""

    gone: str
    new: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal for the same substitution, whatever its letters' case."""
        return self.gone.strip().casefold(), self.new.strip().casefold()

    @property
    def rewritten(self) -> bool:
        """Whether so much became so much else that it may be anything."""
        return min(_words(self.gone), _words(self.new)) >= LONG


def spans(found: Iterable[Change], bridge: int = BRIDGE) -> list[Span]:
    """Changes of a text, those with hardly anything between them taken together."""
    made: list[Span] = []
    gone = new = kept = ""
    for kind, text in found:
        if kind == "same":
            if (gone or new) and (kept or _words(text) >= bridge):
                made.append(Span(gone, new))
                gone = new = kept = ""
            elif gone or new:
                kept = text
            continue
        gone, new, kept = gone + kept, new + kept, ""
        gone, new = (gone + text, new) if kind == "gone" else (gone, new + text)
    return [*made, Span(gone, new)] if gone or new else made


def changed(prompt: Prompt, edit: Edit, bridge: int = BRIDGE) -> list[Span]:
    """Everything that an edit changes: spans of turns, and turns that went or came; neighbouring ones are one."""
    made: list[Span] = []
    gone = new = ""
    for before, after in turn_changes(prompt, edited(prompt, edit)):
        if before and after and before.role == after.role:
            if gone or new:
                made.append(Span(gone, new))
                gone = new = ""
            made += spans(changes(before.content, after.content), bridge)
        else:
            gone += f"{before.role}: {before.content}\n" if before else ""
            new += f"{after.role}: {after.content}\n" if after else ""
    return [*made, Span(gone, new)] if gone or new else made


def factors(prompt: Prompt, edit: Edit) -> int:
    """How many different changes an edit makes; at least one."""
    return max(1, min(len(_different(changed(prompt, edit, bridge))) for bridge in (0, BRIDGE)))


def single_factor(prompt: Prompt, edit: Edit) -> bool | None:
    """Whether an edit changes one thing; ``None`` where it rewrites a long passage."""
    if factors(prompt, edit) > 1:
        return False
    return None if any(span.rewritten for span in changed(prompt, edit)) else True


def confounded(edit: Edit, prompt: Prompt | None = None) -> bool | None:
    """Whether an edit changes several things at once.

    Without the prompt only its operations can be counted: the same substitution in several places is one, and so are
    turns in a row that are dropped. With the prompt, what changes in the text is.
    """
    if prompt is not None:
        single = single_factor(prompt, edit)
        return None if single is None else not single
    made: set[tuple[str, ...]] = set()
    last = -2
    for operation in edit.operations:
        match operation:
            case Replace():
                made.add(("replace", operation.find.casefold(), operation.text.casefold()))
            case Drop():
                if operation.turn not in (last, last - 1):
                    made.add(("drop", str(operation.turn)))
                last = operation.turn
            case Rewrite() | Insert():
                made.add((operation.kind, str(operation.turn)))
    return len(made) > 1


def _different(found: Iterable[Span]) -> set[tuple[str, str]]:
    """Different substitutions, text that moved counted once."""
    keys = {span.key for span in found} - {("", "")}
    moved = {(gone, new) for gone, new in keys if not gone and (new, "") in keys}
    return keys - moved


def _words(text: str) -> int:
    return len(re.findall(r"\w+", text))
