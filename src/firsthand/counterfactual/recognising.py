"""Other ways to make an edit that was made of a prompt's parts: recognised by making it again and comparing.

An edit says which characters change and not what was meant. Here the parts are looked for whose substitution, new
order or removal gives the very prompt that the edit gives; what was meant can then be made in another way. An edit that
none of them gives is not recognised.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, ParamSpec

from firsthand.counterfactual.edits import Drop, Edit, Insert, Replace, Rewrite, changes, edited
from firsthand.counterfactual.neutral import is_neutral
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments import Segment, reordered, replaced, segmented, sequences, walk
from firsthand.counterfactual.segments.reordering import Order
from firsthand.errors import CounterfactualError

P = ParamSpec("P")

_LEVELS: Final = 5
"""How many parts that hold a place are tried, from the finest."""
_STATEMENT: Final = re.compile(r"[.!?:…。！？]\W*$|\n")


class _Place(NamedTuple):
    turn: int
    start: int
    end: int


def substituted_again(prompt: Prompt, edit: Edit) -> Edit | None:
    """The other of the two neutral substitutes, where an edit puts in one of them."""
    places = _places(prompt, edit)
    if not places:
        return None
    whole, wanted = list(walk(segmented(prompt))), edited(prompt, edit).id
    around = [some for one in places if (some := _around(whole, one))]
    for level in range(max(map(len, around), default=0)):
        parts = list(dict.fromkeys(some[min(level, len(some) - 1)] for some in around))
        for variant in (0, 1):
            made = _attempted(replaced, prompt, parts, variant)
            if made is not None and edited(prompt, made).id == wanted:
                return _attempted(replaced, prompt, parts, 1 - variant)
    return None


def reordered_again(prompt: Prompt, edit: Edit) -> Edit | None:
    """Another order of the same list items or sentences, in which those do not come first either that did at first."""
    roots, wanted = segmented(prompt), edited(prompt, edit).id
    orders: tuple[Order, ...] = ("first to last", "reversed")
    for run in (*sequences(roots), *sequences(roots, "sentence")):
        made = [_attempted(reordered, prompt, run, order) for order in orders]
        ids = [None if one is None else edited(prompt, one).id for one in made]
        if wanted in ids and ids[0] != ids[1]:
            return made[1 - ids.index(wanted)]
    return None


def taken_away_again(prompt: Prompt, edit: Edit) -> Edit | None:
    """Something neutral in place of what an edit takes away, whole turns and everything but a part included."""
    gone = _gone(prompt, edit)
    if not gone:
        return None
    parts = [one for root in segmented(prompt) for one in _covered(root, gone.get(root.turn, set()))]
    return _attempted(replaced, prompt, parts) if parts else None


def put_elsewhere(prompt: Prompt, edit: Edit) -> Edit | None:
    """The same statement at the other end of its turn, or what a new system's turn says before what the user says."""
    first = edit.operations[0]
    if len(edit.operations) == 1 and isinstance(first, Insert):
        user = next((number for number, turn in enumerate(prompt.turns) if turn.role == "user"), None)
        if first.role != "system" or user is None:
            return None
        return _before(prompt, user, first.content)
    after = edited(prompt, edit)
    if len(after.turns) != len(prompt.turns):
        return None
    pairs = enumerate(zip(prompt.turns, after.turns, strict=True))
    changed = [(number, changes(one.content, two.content)) for number, (one, two) in pairs if one != two]
    new = [text for _, found in changed for kind, text in found if kind == "new"]
    if len(changed) != 1 or len(new) != 1 or any(kind == "gone" for kind, _ in changed[0][1]):
        return None
    number, statement = changed[0][0], new[0].strip()
    if not _STATEMENT.search(new[0].strip(" ")) or not re.search(r"\w", statement):
        return None
    if changed[0][1][0][0] == "new":
        return Edit(operations=(Rewrite(turn=number, content=f"{prompt.turns[number].content}\n\n{statement}"),))
    return _before(prompt, number, statement)


def _before(prompt: Prompt, turn: int, text: str) -> Edit:
    return Edit(operations=(Rewrite(turn=turn, content=f"{text.strip()}\n\n{prompt.turns[turn].content}"),))


def _attempted(make: Callable[P, Edit], *args: P.args, **kwargs: P.kwargs) -> Edit | None:
    try:
        return make(*args, **kwargs)
    except CounterfactualError:
        return None


def _places(prompt: Prompt, edit: Edit) -> list[_Place] | None:
    """Where the replacements of an edit stand in the prompt as it was; ``None`` unless they go from last to first."""
    contents = [turn.content for turn in prompt.turns]
    below = [len(content) for content in contents]
    found: list[_Place] = []
    for one in edit.operations:
        if not isinstance(one, Replace):
            return None
        content = contents[one.turn]
        starts = _starts(content, one.find)
        chosen = starts if one.which == "all" else [starts[one.which or 0]]
        for start in reversed(chosen):
            if start + len(one.find) > below[one.turn]:
                return None
            below[one.turn] = start
            found.append(_trimmed(one, start))
            content = content[:start] + one.text + content[start + len(one.find) :]
        contents[one.turn] = content
    return found


def _starts(content: str, find: str) -> list[int]:
    """Where a text stands, as edits count it."""
    found: list[int] = []
    at = content.find(find)
    while at >= 0:
        found.append(at)
        at = content.find(find, at + len(find))
    return found


def _trimmed(operation: Replace, start: int) -> _Place:
    """The place of a replacement without what is the same at both ends."""
    find, text = operation.find, operation.text
    first = next((n for n, (a, b) in enumerate(zip(find, text, strict=False)) if a != b), min(len(find), len(text)))
    find, text = find[first:], text[first:]
    pairs = enumerate(zip(reversed(find), reversed(text), strict=False))
    last = next((n for n, (a, b) in pairs if a != b), min(len(find), len(text)))
    return _Place(operation.turn, start + first, start + first + len(find) - last)


def _around(segments: Sequence[Segment], place: _Place) -> list[Segment]:
    """Parts that hold a place, the finest first."""
    held = [one for one in segments if one.turn == place.turn and one.start <= place.start and place.end <= one.end]
    return sorted(held, key=lambda one: one.end - one.start)[:_LEVELS]


def _gone(prompt: Prompt, edit: Edit) -> dict[int, set[int]]:
    """Characters of each turn that an edit takes away; empty if it puts in anything that says something."""
    left = list(range(len(prompt.turns)))
    for operation in edit.operations:
        if isinstance(operation, Insert):
            return {}
        if isinstance(operation, Drop):
            del left[operation.turn]
    gone = {n: set(range(len(turn.content))) for n, turn in enumerate(prompt.turns) if n not in left}
    for number, after in zip(left, edited(prompt, edit).turns, strict=True):
        before = prompt.turns[number].content
        if before != after.content and is_neutral(after.content):
            gone[number] = set(range(len(before)))
            continue
        at = 0
        for kind, text in changes(before, after.content):
            if kind == "new" and re.search(r"\w", text):
                return {}
            if kind == "gone":
                gone.setdefault(number, set()).update(range(at, at + len(text)))
            at += len(text) if kind != "new" else 0
    return gone


def _covered(segment: Segment, gone: set[int]) -> Iterator[Segment]:
    """The coarsest parts of which every letter and digit is gone."""
    letters = [segment.start + found.start() for found in re.finditer(r"\w", segment.text)]
    if letters and gone.issuperset(letters):
        yield segment
    elif not gone.isdisjoint(letters):
        for child in segment.children:
            yield from _covered(child, gone)
