"""The smallest set of parts whose change moves the rate, by halving, from coarse parts to fine ones.

Which parts: QuickXplain (Junker 2004). It asks of ever smaller sets whether changing them moves the rate, and takes
what did not move it along, so that causes of which either suffices are found too: neither change alone shows anything,
and both together do. From level to level: hierarchical delta debugging (Misherghi & Su 2006), since parts of one level
make better sentences than spans of any size. Each answer is a guess from few responses, so what is found is tried again
with more, without each of its parts, and is given up for the coarser part if it does not hold.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.investigating.without_model.exploring import Explorer, Steps
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.wording import called
from firsthand.counterfactual.segments import Segment
from firsthand.errors import CounterfactualError

Unit: TypeAlias = tuple[Segment, ...]
"""Segments that are only changed together: one, the turns of an exchange, or a text wherever it stands."""

Changing: TypeAlias = Callable[[Sequence[Segment]], Edit]
"""How segments are changed."""


class Necessary:
    """Looks for parts without which the rate moves.

    Args:
        explorer: Draws responses.
        settings: Settings.
        changing: How parts are changed.
        verb: What is done with them, in words.
        sign: Which way the rate has to move: 1 up, -1 down.
    """

    def __init__(self, explorer: Explorer, settings: SearchSettings, changing: Changing, verb: str, sign: int) -> None:
        self._explorer = explorer
        self._settings = settings
        self._changing = changing
        self._verb = verb
        self._sign = sign
        self.best: list[Unit] = []
        """The smallest set so far: what is left if the budget is spent in between."""

    def moves(self, units: Sequence[Unit], least: int = 0) -> Steps[bool]:
        """Whether changing units seems to move the rate."""
        try:
            edit = self._changing(flat(units))
        except CounterfactualError:
            return False
        found = yield from self._explorer.moves([(edit, f"{called(units)} {self._verb}: does it matter?")], least)
        return found[0] == self._sign

    def smallest(self, units: Sequence[Unit]) -> Steps[list[Unit]]:
        """The smallest set that was found, on the finest level that holds; all ``units`` are known to move the rate."""
        self.best = list(units)
        found = yield from self._smallest_of(self.best)
        while found:
            self.best = found
            fine = finer(found)
            if fine == found or not (yield from self.moves(fine)):
                break
            found = yield from self._smallest_of(fine)
            if len(found) > self._settings.parts:
                found = yield from self._few_leaves(found)
        return self.best

    def _few_leaves(self, units: list[Unit]) -> Steps[list[Unit]]:
        """A few leaves instead of many coarser parts, as where one word stands in all; empty if there are none."""
        fine = units
        while (next_ := finer(fine)) != fine:
            fine = next_
        if fine == units or not (yield from self.moves(fine)):
            return []
        found = yield from self._smallest_of(fine)
        return found if len(found) <= self._settings.parts else []

    def _smallest_of(self, units: list[Unit]) -> Steps[list[Unit]]:
        """The smallest subset; empty if it does not hold when it is tried again."""
        found = yield from self._needed([], False, units)
        if len(found) > 1:
            for unit in list(found):
                rest = [one for one in found if one is not unit]
                if rest and (yield from self.moves(rest)):
                    found = rest
        again = 2 * self._settings.batch
        return found if found and (yield from self.moves(found, again)) else []

    def _needed(self, along: list[Unit], fresh: bool, units: list[Unit]) -> Steps[list[Unit]]:
        """Which of some units have to be changed besides those that are changed along with them."""
        if fresh and (yield from self.moves(along)):
            return []
        if len(units) == 1:
            return units
        half = len(units) // 2
        left, right = units[:half], units[half:]
        second = yield from self._needed(along + left, True, right)
        first = yield from self._needed(along + second, bool(second), left)
        return first + second


def flat(units: Sequence[Unit]) -> list[Segment]:
    """All segments of some units."""
    return [segment for unit in units for segment in unit]


def finer(units: Sequence[Unit]) -> list[Unit]:
    """Units one level below; a unit that cannot be divided stays. Equal leaves become one unit."""
    parts: list[Unit] = []
    for unit in units:
        if len(unit) > 1:
            parts += [(one,) for one in unit] if any(one.children for one in unit) else [unit]
        else:
            parts += [(child,) for child in unit[0].children] or [unit]
    grouped: dict[tuple[object, ...], list[Segment]] = {}
    for part in parts:
        first = part[0]
        key = (first.kind, first.text.lower()) if not first.children else (first.turn, first.start)
        grouped.setdefault(key, []).extend(part)
    return [tuple(group) for group in grouped.values()]
