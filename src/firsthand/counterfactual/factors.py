"""How many things an edit changes, counted in the text. A program cannot say whether they are one thing in meaning.

What is compared are content words, names, numbers, quoted texts and identifiers: words that only hold a sentence
together may follow what they stand beside. Changes with nothing but such words between them are one place, the same
substitution in several places is one change, and so is a new order. One place may still hold several changes, in
however few words:

- several *kinds* of change, such as another topic and another form, or a form and a length: not a single factor;
- several words that became several others: they may differ in anything, and nothing is said of them, unless what was
  put in says nothing (:mod:`~firsthand.counterfactual.neutral`), which is a way to take something away;
- most of what the prompt says taken away, or a long text put in: nothing is said of it either.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple, TypeAlias

from firsthand.counterfactual.edits import (
    Change,
    Drop,
    Edit,
    Insert,
    Operation,
    Replace,
    Rewrite,
    changes,
    edited,
    turn_changes,
)
from firsthand.counterfactual.neutral import takes_away
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.counterfactual.segments.leaves import found_leaves

BRIDGE: Final = 3
"""Fewer words than this between two changes do not part them."""
LONG: Final = 40
"""A text that is put in with more content words than this may be anything."""
FEW: Final = 8
"""Up to this many content words, what was put in or taken out is read word by word."""

Aspect: TypeAlias = Literal["content", "form", "length"]

_FORMS: Final = """
table list bullet bullets bulleted numbered json yaml xml csv html latex markdown code poem haiku sonnet limerick rhyme
rhymes verse essay story tale letter email e-mail tweet memo report recipe dialogue script song bold italic italics
heading headings title capitals caps uppercase lowercase paragraph paragraphs column columns outline steps
"""
_LENGTHS: Final = """
short shorter brief briefly concise concisely long longer lengthy length detailed detail details depth extensive word
words sentence sentences line lines page pages character characters exhaustive thorough thoroughly summary tersely terse
"""
_FORM: Final = frozenset(_FORMS.split())
"""Words that name a form of the answer."""
_LENGTH: Final = frozenset(_LENGTHS.split())
"""Words that name a length of the answer."""
_MARKUP: Final = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)[ \t]|```|\*\*|\|", re.MULTILINE)

_END: Final = (Turn(role="user", content=""), Turn(role="user", content=""))
"""After the last pair of turns; nothing changes in it."""


class Span(NamedTuple):
    """A place where text went, came, or became another."""

    gone: str
    new: str

    @property
    def key(self) -> tuple[str, str]:
        """Equal for the same substitution, whatever its letters' case."""
        return self.gone.strip().casefold(), self.new.strip().casefold()


def spans(found: Iterable[Change], bridge: int = BRIDGE) -> list[Span]:
    """Changes of a text, those with hardly anything between them taken together."""
    return _joined(found, lambda text: len(re.findall(r"\w+", text)) >= bridge)


def _joined(found: Iterable[Change], parts: Callable[[str], bool]) -> list[Span]:
    """Changes of a text as spans; of what stands between two of them, ``parts`` says whether it parts them."""
    made: list[Span] = []
    gone = new = kept = ""
    for kind, text in found:
        if kind == "same":
            if (gone or new) and (kept or parts(text)):
                made.append(Span(gone, new))
                gone = new = kept = ""
            elif gone or new:
                kept = text
            continue
        gone, new, kept = gone + kept, new + kept, ""
        gone, new = (gone + text, new) if kind == "gone" else (gone, new + text)
    return [*made, Span(gone, new)] if gone or new else made


def changed(prompt: Prompt, edit: Edit) -> list[Span]:
    """Everything that an edit changes: spans of turns, and turns that went or came; neighbouring ones are one."""
    return [span for found in by_turn(prompt, edit, named=True) for span in spans(found)]


class Thing(NamedTuple):
    """One change: content words that went and came, in their order, and whether its form changed beside them."""

    gone: tuple[str, ...]
    new: tuple[str, ...]
    form: bool = False

    @property
    def aspects(self) -> set[Aspect]:
        """Which kinds of change it holds."""
        found = {_aspect(word) for word in (*self.gone, *self.new)}
        return found | {"form"} if self.form else found

    @property
    def several(self) -> bool:
        """Whether it holds several kinds of change."""
        if self.gone and self.new:
            return len(self.aspects) > 1 and (self.form or max(len(self.gone), len(self.new)) > 1)
        return len(self.gone or self.new) <= FEW and self.aspects >= {"form", "length"}

    def unclear(self, words: int) -> bool:
        """Whether it may be anything, in a prompt of so many content words."""
        if self.gone and self.new:
            return max(len(self.gone), len(self.new)) > 1 and "content" in self.aspects
        return len(self.new) > LONG or (len(self.gone) >= FEW and 2 * len(self.gone) > words)


def things(prompt: Prompt, edit: Edit) -> list[Thing]:
    """The different changes that an edit makes; none if words only changed places, or only small ones changed."""
    if takes_away(edit):
        taken = {Thing(_content(_taken(prompt, one)), ()) for one in edit.operations}
        return sorted(one for one in taken if one.gone)
    found = [_thing(place) for one in by_turn(prompt, edit) for place in _places(one)]
    gone = Counter(word for one in found for word in one.gone)
    new = Counter(word for one in found for word in one.new)
    if gone == new and not any(one.form for one in found):
        return []
    kept = {one for one in found if any(one)}
    left = {one.gone for one in kept if not one.new}
    return sorted(one for one in kept if one.gone or one.form or one.new not in left)


def factors(prompt: Prompt, edit: Edit) -> int:
    """How many different changes an edit makes; at least one."""
    return max(1, len(things(prompt, edit)))


def single_factor(prompt: Prompt, edit: Edit) -> bool | None:
    """Whether an edit changes one thing; ``None`` where a program cannot tell."""
    found = things(prompt, edit)
    if len(found) > 1 or any(one.several for one in found):
        return False
    words = sum(len(_content(turn.content)) for turn in prompt.turns)
    return None if any(one.unclear(words) for one in found) else True


def by_turn(prompt: Prompt, edit: Edit, *, named: bool = False) -> list[list[Change]]:
    """What changed in each turn; turns that went or came one after the other are one, with their roles if asked for."""
    found: list[list[Change]] = []
    gone = new = ""
    for before, after in [*turn_changes(prompt, edited(prompt, edit)), _END]:
        if before is not None and after is not None and before.role == after.role:
            whole: list[Change] = [("gone", gone), ("new", new)]
            found += [whole] if gone or new else []
            gone = new = ""
            found.append(changes(before.content, after.content))
        else:
            gone += _line(before, named) if before else ""
            new += _line(after, named) if after else ""
    return found


def _line(turn: Turn, named: bool) -> str:
    return f"{turn.role}: {turn.content}\n" if named else f"{turn.content}\n"


def _places(found: Iterable[Change]) -> list[Span]:
    """Changes of a text, those together that only a few small words part."""
    return _joined(found, lambda text: len(re.findall(r"\w+", text)) >= BRIDGE or bool(_content(text)))


def _thing(place: Span) -> Thing:
    """A place as the words that went and came, those on both sides left out."""
    old, new = _content(place.gone), _content(place.new)
    form = Counter(_MARKUP.findall(place.gone)) != Counter(_MARKUP.findall(place.new))
    if old == new:
        return Thing((), (), form or _letters(place.gone) != _letters(place.new))
    both = Counter(old) & Counter(new)
    sides = _without(old, both), _without(new, both)
    return Thing(*sides, form and all(sides))


def _without(words: Iterable[str], both: Counter[str]) -> tuple[str, ...]:
    left, kept = Counter(both), []
    for word in words:
        if left[word]:
            left[word] -= 1
        else:
            kept.append(word)
    return tuple(kept)


def _letters(text: str) -> list[str]:
    """Words but for the case of their first letters, which follow where a sentence begins."""
    return [word[1:] for word in re.findall(r"\w+", text)]


def _content(text: str) -> tuple[str, ...]:
    """Content words, names, numbers, quoted texts and identifiers, in small letters."""
    return tuple(leaf.text.casefold() for leaf in found_leaves(text, 0, len(text), prose=True))


def _taken(prompt: Prompt, operation: Operation) -> str:
    """What an operation takes away, where none leaves out or puts in a turn."""
    match operation:
        case Replace():
            return operation.find
        case Drop() | Insert():
            return ""
        case Rewrite():
            return prompt.turns[operation.turn].content


def _aspect(word: str) -> Aspect:
    words = set(word.split())
    if words & _FORM:
        return "form"
    return "length" if words & _LENGTH or word.isdigit() else "content"


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
