"""What an edit changed in a prompt, turn by turn and word by word, short enough to read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from firsthand.counterfactual.edits import Drop, Edit, Insert, changes, edited
from firsthand.counterfactual.prompts import Prompt, Turn
from firsthand.errors import CounterfactualError

KEPT = 320
"""Characters of unchanged text that are shown at each side of a change in the short form."""

_COMPARED = 6_000
"""With more characters than this on both sides of a change, words are not compared one by one: it takes too long."""

PieceKind = Literal["same", "gone", "new", "cut"]
TurnState = Literal["same", "changed", "gone", "new"]


@dataclass(frozen=True)
class Piece:
    """Some text of a turn: it stayed, went, came, or was left out here (``text`` then says how much)."""

    kind: PieceKind
    text: str


@dataclass(frozen=True)
class MarkedTurn:
    """One turn, and what became of it.

    Attributes:
        number: Number in the prompt as it was, from 0; ``None`` for a turn that came in.
        role: Who speaks.
        state: What became of it.
        pieces: Its text.
        calls: Its tool calls, each on a line of its own.
    """

    number: int | None
    role: str
    state: TurnState
    pieces: tuple[Piece, ...]
    calls: tuple[Piece, ...] = ()

    @property
    def shortened(self) -> bool:
        """Whether some of its text is not shown."""
        return any(piece.kind == "cut" for piece in self.pieces)


def plain(prompt: Prompt) -> tuple[MarkedTurn, ...]:
    """The turns as they are."""
    return tuple(_whole(number, turn, "same") for number, turn in enumerate(prompt.turns))


def marked(prompt: Prompt, edit: Edit, *, short: bool = True, unchanged: bool = True) -> tuple[MarkedTurn, ...]:
    """The turns with what an edit changed; none if the edit cannot be made.

    Args:
        prompt: The prompt as it was.
        edit: The edit.
        short: Whether long unchanged text is left out.
        unchanged: Whether turns that the edit does not touch are given.
    """
    try:
        after = edited(prompt, edit)
    except CounterfactualError:
        return ()
    turns = tuple(_turns(prompt, after, edit))
    if not unchanged:
        turns = tuple(turn for turn in turns if turn.state != "same")
    return tuple(_shortened(turn) for turn in turns) if short else turns


def _turns(before: Prompt, after: Prompt, edit: Edit) -> Iterator[MarkedTurn]:
    """Turns side by side. Which is which is known from the edit's operations, and need not be guessed from texts."""
    origins, count, come = _origins(len(before.turns), edit), len(before.turns), 0
    for place, new in enumerate(after.turns):
        following = next((origin for origin in origins[place:] if origin is not None), count)
        yield from (_whole(number, before.turns[number], "gone") for number in range(come, following))
        origin, come = origins[place], following
        if origin is None:
            yield _whole(None, new, "new")
            continue
        come, old = origin + 1, before.turns[origin]
        if old == new:
            yield _whole(origin, old, "same")
        else:
            calls = tuple(Piece("same", call) for call in _calls(old))
            yield MarkedTurn(origin, old.role, "changed", word_changes(old.content, new.content), calls)
    yield from (_whole(number, before.turns[number], "gone") for number in range(come, count))


def _origins(turns: int, edit: Edit) -> list[int | None]:
    """For each turn of the edited prompt its number in the prompt as it was; ``None`` for one that came in."""
    origins: list[int | None] = list(range(turns))
    for operation in edit.operations:
        if isinstance(operation, Drop):
            del origins[operation.turn]
        elif isinstance(operation, Insert):
            origins.insert(operation.turn, None)
    return origins


def word_changes(before: str, after: str) -> tuple[Piece, ...]:
    """What became of a text, word by word; what it begins and ends with alike is not compared again.

    Pieces that are the same or gone make ``before``; those that are the same or new make ``after``.
    """
    head = _back_to_a_word(before, after, _alike(before, after))
    rest = min(len(before), len(after)) - head
    tail = min(rest, _alike(before[::-1], after[::-1]))
    while tail and (_inside_a_word(before, len(before) - tail) or _inside_a_word(after, len(after) - tail)):
        tail -= 1
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if not (old and new) or min(len(old), len(new)) > _COMPARED:
        middle = [Piece("gone", old), Piece("new", new)]
    else:
        middle = [Piece(kind, text) for kind, text in changes(old, new)]
    pieces = (Piece("same", before[:head]), *middle, Piece("same", before[len(before) - tail :] if tail else ""))
    return tuple(piece for piece in pieces if piece.text)


def _alike(one: str, other: str) -> int:
    """So many characters are the same at the beginning of both."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _back_to_a_word(before: str, after: str, place: int) -> int:
    while place and (_inside_a_word(before, place) or _inside_a_word(after, place)):
        place -= 1
    return place


def _inside_a_word(text: str, place: int) -> bool:
    """Whether a word is going on at a place."""
    return 0 < place < len(text) and _of_a_word(text[place - 1]) and _of_a_word(text[place])


def _of_a_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _whole(number: int | None, turn: Turn, state: TurnState) -> MarkedTurn:
    kind: PieceKind = state if state != "changed" else "same"
    pieces = (Piece(kind, turn.content),) if turn.content else ()
    return MarkedTurn(number, turn.role, state, pieces, tuple(Piece(kind, call) for call in _calls(turn)))


def _calls(turn: Turn) -> list[str]:
    return [f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})" for call in turn.calls]


def _shortened(turn: MarkedTurn) -> MarkedTurn:
    last = len(turn.pieces) - 1
    pieces: list[Piece] = []
    for index, piece in enumerate(turn.pieces):
        if piece.kind != "same":
            pieces.append(piece)
        elif turn.state == "same":
            pieces += _cut(piece, 2 * KEPT, 0)
        else:
            pieces += _cut(piece, KEPT if index else KEPT // 2, KEPT if index < last else 0)
    return MarkedTurn(turn.number, turn.role, turn.state, tuple(pieces), turn.calls)


def _cut(piece: Piece, first: int, last: int) -> list[Piece]:
    """A piece without its middle, if that is long enough to be worth it."""
    out = len(piece.text) - first - last
    if out < KEPT // 2:
        return [piece]
    end = piece.text[len(piece.text) - last :] if last else ""
    parts = [Piece("same", piece.text[:first]), Piece("cut", f"{out:,} characters, unchanged"), Piece("same", end)]
    return [part for part in parts if part.text]
