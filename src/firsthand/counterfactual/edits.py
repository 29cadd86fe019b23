"""Edits of a prompt, as data: they change what they say and nothing else, or they are refused."""

import difflib
import re
from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, ValidationError

from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt, Role, Turn
from firsthand.errors import CounterfactualError


class Replace(Part):
    """Some text of a turn becomes another.

    Attributes:
        turn: Number of the turn, from 0.
        find: The text, which must stand there.
        text: What it becomes; empty to delete it.
        which: Which occurrence, from 0. ``None``: there must be exactly one. ``all``: every one.
    """

    kind: Literal["replace"] = "replace"
    turn: Annotated[int, Field(ge=0)]
    find: Annotated[str, Field(min_length=1)]
    text: str = ""
    which: Annotated[int, Field(ge=0)] | Literal["all"] | None = None


class Rewrite(Part):
    """A turn gets another content."""

    kind: Literal["rewrite"] = "rewrite"
    turn: Annotated[int, Field(ge=0)]
    content: str


class Drop(Part):
    """A turn is left out."""

    kind: Literal["drop"] = "drop"
    turn: Annotated[int, Field(ge=0)]


class Insert(Part):
    """A turn is put before another.

    Attributes:
        turn: Number that the new turn will have.
        role: Who speaks.
        content: The text.
    """

    kind: Literal["insert"] = "insert"
    turn: Annotated[int, Field(ge=0)]
    role: Role
    content: str


Operation: TypeAlias = Annotated[Replace | Rewrite | Drop | Insert, Field(discriminator="kind")]


class Edit(Part):
    """Operations that are made one after the other, each on what the one before it left."""

    operations: Annotated[tuple[Operation, ...], Field(min_length=1)]


def edited(prompt: Prompt, edit: Edit) -> Prompt:
    """The prompt after an edit; where it comes from stays noted.

    Raises:
        CounterfactualError: If a turn or a text is not there or not unique, nothing changes, or no prompt is left.
    """
    turns = list(prompt.turns)
    for operation in edit.operations:
        _make(turns, operation)
    if tuple(turns) == prompt.turns:
        raise CounterfactualError("The edit leaves the prompt as it is.", "Change something.")
    if (more := _orphans(turns) - _orphans(prompt.turns)) > 0:
        raise CounterfactualError(
            f"The edit leaves {more} results of tools without their calls.", "Drop or leave out the results as well."
        )
    try:
        return Prompt(turns=tuple(turns), **prompt.model_dump(exclude={"turns"}))
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise CounterfactualError(
            f"The edit leaves no prompt: {why}.", "Let it end in a user's or a tool's turn."
        ) from None


def _orphans(turns: Sequence[Turn]) -> int:
    """How many results of tools answer no call that was made before."""
    made: set[str | None] = set()
    count = 0
    for turn in turns:
        count += turn.role == "tool" and turn.answers not in made
        made.update(call.id for call in turn.calls)
    return count


def _make(turns: list[Turn], operation: Operation) -> None:
    last = len(turns) - (0 if isinstance(operation, Insert) else 1)
    if operation.turn > last:
        raise CounterfactualError(
            f"There is no turn {operation.turn}: the prompt has turns 0 to {len(turns) - 1}.", "Name one of them."
        )
    match operation:
        case Replace():
            turns[operation.turn] = turns[operation.turn].model_copy(
                update={"content": _replaced(turns[operation.turn].content, operation)}
            )
        case Rewrite():
            turns[operation.turn] = turns[operation.turn].model_copy(update={"content": operation.content})
        case Drop():
            del turns[operation.turn]
        case Insert():
            turns.insert(operation.turn, Turn(role=operation.role, content=operation.content))


def _replaced(content: str, operation: Replace) -> str:
    count = content.count(operation.find)
    wanted = operation.which
    if not count or (wanted is None and count > 1) or (isinstance(wanted, int) and wanted >= count):
        raise CounterfactualError(
            f"The text {operation.find[:60]!r} stands {count} times in turn {operation.turn}.",
            "Name a text that is there, and which of several is meant.",
        )
    if wanted == "all":
        return content.replace(operation.find, operation.text)
    pieces = content.split(operation.find)
    place = wanted or 0
    before, after = operation.find.join(pieces[: place + 1]), operation.find.join(pieces[place + 1 :])
    return f"{before}{operation.text}{after}"


Change: TypeAlias = tuple[Literal["same", "gone", "new"], str]


def changes(before: str, after: str) -> list[Change]:
    """What became of a text, word by word: pieces that stayed, went and came, in reading order.

    Pieces that are the same or gone make ``before``; those that are the same or new make ``after``.
    """
    old, new = _words(before), _words(after)
    # What is the same at both ends is set aside: comparing all words with all takes a second for a long prompt.
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    start, end = old[:first], old[len(old) - last :]
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    found: list[Change] = [("same", "".join(start))] if start else []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            found.append(("same", "".join(old[a:b])))
            continue
        if b > a:
            found.append(("gone", "".join(old[a:b])))
        if d > c:
            found.append(("new", "".join(new[c:d])))
    return [*found, ("same", "".join(end))] if end else found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items are the same at the beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _words(text: str) -> list[str]:
    """Words and what stands between them, which together are the text."""
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def turn_changes(before: Prompt, after: Prompt) -> list[tuple[Turn | None, Turn | None]]:
    """Turns of two prompts side by side; ``None`` where one has none.

    Where turns came or went among others that changed, those of one role that have most words in common are paired.
    """
    old, new = [t.model_dump_json() for t in before.turns], [t.model_dump_json() for t in after.turns]
    pairs: list[tuple[Turn | None, Turn | None]] = []
    for _, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        pairs += _side_by_side(before.turns[a:b], after.turns[c:d])
    return pairs


def _side_by_side(old: Sequence[Turn], new: Sequence[Turn]) -> list[tuple[Turn | None, Turn | None]]:
    if len(old) == len(new):
        return list(zip(old, new, strict=True))
    best: dict[tuple[int, int], tuple[float, list[tuple[Turn | None, Turn | None]]]] = {(0, 0): (0.0, [])}
    for i in range(len(old) + 1):
        for j in range(len(new) + 1):
            ways = [best[i, j]] if (i, j) in best else []
            if i and j and old[i - 1].role == new[j - 1].role:
                worth, made = best[i - 1, j - 1]
                ways.append((worth + 0.01 + _alike(old[i - 1], new[j - 1]), [*made, (old[i - 1], new[j - 1])]))
            if i:
                ways.append((best[i - 1, j][0], [*best[i - 1, j][1], (old[i - 1], None)]))
            if j:
                ways.append((best[i, j - 1][0], [*best[i, j - 1][1], (None, new[j - 1])]))
            best[i, j] = max(ways, key=lambda way: way[0])
    return best[len(old), len(new)][1]


def _alike(one: Turn, other: Turn) -> float:
    return difflib.SequenceMatcher(None, _words(one.content), _words(other.content), autojunk=False).ratio()
