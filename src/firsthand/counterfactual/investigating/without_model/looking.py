"""What is explored, in which order: first whether the text matters at all, then which parts, then rivals of them.

1. Everything that is said is deleted. If that leaves the rate where it is, a part is hardly its cause by being there;
   the system's turn, earlier exchanges and either half are deleted anyway. Else parts have to do nearly half as much.
2. The smallest set of parts without which the rate moves (:mod:`.necessary`).
3. Other text of as much length is deleted. If that moves the rate too, it may be length, and no more is looked for.
4. Everything but what was found is deleted. While that moves the rate, more is needed, and is looked for in the rest.
5. If nothing was found that is enough by itself, lists are reordered, and all other names, numbers, quoted texts and
   identifiers replaced. What moves is followed up.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, ParamSpec

from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.investigating.without_model.exploring import Explorer, Steps
from firsthand.counterfactual.investigating.without_model.necessary import Changing, Necessary, Unit, flat
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.wording import called
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments import (
    Segment,
    kept,
    leaves,
    outside,
    removed,
    reordered,
    replaced,
    segmented,
    sequences,
    walk,
)
from firsthand.counterfactual.segments.removing import exchanges
from firsthand.errors import CounterfactualError

P = ParamSpec("P")

LEAVES: Final = ("name", "number", "quote", "identifier", "word")
REPLACED_TOGETHER: Final = ("name", "number", "quote", "identifier")
_LISTS: Final = 2
_NEAR: Final = 0.7
_PART_OF_WHOLE: Final = 0.45
_MOST_OF_WHOLE: Final = 0.7


@dataclass(frozen=True)
class Found:
    """Parts whose change seems to move the rate.

    Attributes:
        units: The parts.
        how: Whether they were deleted or replaced.
    """

    units: tuple[Unit, ...]
    how: Literal["removed", "replaced"] = "removed"

    @property
    def segments(self) -> list[Segment]:
        """All segments of the parts."""
        return flat(self.units)

    def edit(self, prompt: Prompt) -> Edit:
        """The edit that changes them."""
        return (deleting if self.how == "removed" else replacing)(prompt)(self.segments)


@dataclass
class Findings:
    """What exploring found so far.

    Attributes:
        prompt: The prompt.
        roots: Its segments.
        found: Sets of parts that seem to matter.
        whole: Whether the rate moves if everything is deleted, and which way; ``None`` if that was not tried.
        orders: Lists whose order seems to matter.
        length: Whether other text of as much length seems to matter as well.
        enough: Whether what was found seems to be enough by itself, so that nothing else is needed.
        partial: Whether a set seems to do clearly less than deleting everything does.
        spent: Whether the budget ended the search.
    """

    prompt: Prompt
    roots: tuple[Segment, ...]
    found: list[Found] = field(default_factory=list)
    whole: int | None = None
    orders: list[tuple[Segment, ...]] = field(default_factory=list)
    length: bool = False
    enough: bool = False
    partial: bool = False
    spent: bool = False

    @classmethod
    def of(cls, prompt: Prompt) -> "Findings":
        """Nothing found yet."""
        return cls(prompt, segmented(prompt))

    @property
    def units(self) -> list[Unit]:
        """All parts that were found."""
        return [unit for one in self.found for unit in one.units]

    @property
    def segments(self) -> list[Segment]:
        """All segments of all that was found."""
        return [segment for one in self.found for segment in one.segments]


def deleting(prompt: Prompt) -> Changing:
    """Deletion; identifiers by themselves are renamed instead, since a program without them is none."""

    def change(segments: Sequence[Segment]) -> Edit:
        if all(segment.kind == "identifier" for segment in segments):
            return replaced(prompt, segments)
        return removed(prompt, segments)

    return change


def replacing(prompt: Prompt) -> Changing:
    """Something neutral instead."""

    def change(segments: Sequence[Segment]) -> Edit:
        return replaced(prompt, segments)

    return change


def attempted(make: Callable[P, Edit], *args: P.args, **kwargs: P.kwargs) -> Edit | None:
    """An edit, or ``None`` if there is none of that kind."""
    try:
        return make(*args, **kwargs)
    except CounterfactualError:
        return None


def look(explorer: Explorer, settings: SearchSettings, findings: Findings) -> Steps[None]:
    """Explores, and notes in ``findings`` what is found as soon as it is.

    Raises:
        BudgetSpentError: If the allowance is spent.
    """
    prompt, roots = findings.prompt, findings.roots
    units = top_units(prompt, roots)
    everything = attempted(removed, prompt, roots)
    if everything:
        purpose = "everything that is said deleted: does the rate depend on it at all?"
        findings.whole = (yield from explorer.moves([(everything, purpose)], 2 * settings.batch))[0]
    if everything and findings.whole:
        sign = findings.whole
        whole = abs(explorer.change(everything))
        explorer.threshold = max(settings.least_change, _PART_OF_WHOLE * whole)
        yield from _follow(explorer, settings, findings, units, "removed", sign)
        findings.length = yield from _is_length(explorer, findings, sign)
        while findings.found and not findings.length:
            findings.enough = yield from _is_enough(explorer, findings, sign)
            if findings.enough or len(findings.found) >= settings.causes:
                break
            if not (yield from _more(explorer, settings, findings, sign)):
                break
        findings.partial = any(
            abs(explorer.change(one.edit(prompt))) < _MOST_OF_WHOLE * whole for one in findings.found
        )
        explorer.threshold = settings.least_change
    if not findings.enough:
        yield from _rivals(explorer, settings, findings, units)


def top_units(prompt: Prompt, roots: Sequence[Segment]) -> list[Unit]:
    """The coarsest parts that can be deleted: the system's turn, each earlier exchange, each block of the last one."""
    by_turn = {root.turn: root for root in roots}
    units: list[Unit] = [(root,) for root in roots if prompt.turns[root.turn].role == "system"]
    groups = exchanges(prompt)
    for group in groups[:-1]:
        some = tuple(by_turn[number] for number in group if number in by_turn)
        units += [some] if some else []
    for number in groups[-1]:
        units += [(block,) for block in by_turn[number].children] if number in by_turn else []
    return units


def other_text(findings: Findings) -> list[Segment]:
    """Other segments of the same fineness as what was found first, together about as long; empty if there are none."""
    if not findings.found:
        return []
    away = findings.found[0].segments
    length = sum(segment.end - segment.start for segment in away)
    texts = {segment.text.lower() for segment in away}
    free = outside(findings.roots, findings.segments)
    fine = all(segment.kind in LEAVES for segment in away)
    choices = leaves(free) if fine else _statements(free)
    choices = [one for one in choices if one.text.lower() not in texts and (one.kind in LEAVES) == fine]
    chosen: list[Segment] = []
    left = length
    for one in sorted(choices, key=lambda one: (one.start - one.end, one.turn, one.start)):
        size = one.end - one.start
        if size <= left * 1.15:
            chosen.append(one)
            left -= size
        if left <= 0.1 * length:
            break
    return chosen if length - left >= _NEAR * length else []


def others_of(findings: Findings, kind: str) -> list[Segment]:
    """Leaves of a kind that are no part of what was found, and whose text does not stand in it."""
    away = findings.segments
    free = [one for one in leaves_of(findings.roots) if one.kind == kind]
    return [one for one in free if not any(one.overlaps(other) or one.text in other.text for other in away)]


def leaves_of(roots: Sequence[Segment]) -> Iterator[Segment]:
    """Segments of the finest kinds, quoted texts as a whole and not what is in them."""
    for segment in roots:
        if segment.kind in LEAVES:
            yield segment
        else:
            yield from leaves_of(segment.children)


def lists_of(roots: Sequence[Segment]) -> list[tuple[Segment, ...]]:
    """The longest lists."""
    return sorted(sequences(roots), key=lambda run: -len(run))[:_LISTS]


def _statements(segments: Sequence[Segment]) -> list[Segment]:
    return [one for one in walk(segments) if one.kind in ("sentence", "item", "line")]


def _follow(
    explorer: Explorer,
    settings: SearchSettings,
    findings: Findings,
    units: Sequence[Unit],
    how: Literal["removed", "replaced"],
    sign: int,
) -> Steps[bool]:
    """Looks for the smallest set among units that move the rate together; notes the best so far if the budget ends.

    That everything together moves the rate is no finding.
    """
    prompt = findings.prompt
    changing = deleting(prompt) if how == "removed" else replacing(prompt)
    search = Necessary(explorer, settings, changing, "deleted" if how == "removed" else "replaced", sign)
    known = len(findings.found)
    try:
        yield from search.smallest(units)
    finally:
        all_ = set(flat(top_units(prompt, findings.roots)))
        smaller = how == "replaced" or len(units) == 1 or len(search.best) < len(units)
        if search.best and smaller and set(flat(search.best)) != all_:
            findings.found.append(Found(tuple(search.best), how))
    return len(findings.found) > known


def _is_length(explorer: Explorer, findings: Findings, sign: int) -> Steps[bool]:
    other = other_text(findings)
    edit = attempted(removed, findings.prompt, other) if other else None
    if edit is None:
        return False
    purpose = f"as much other text ({called([(one,) for one in other])}) deleted: is it the length?"
    return (yield from explorer.moves([(edit, purpose)]))[0] == sign


def _is_enough(explorer: Explorer, findings: Findings, sign: int) -> Steps[bool]:
    edit = attempted(kept, findings.prompt, findings.segments)
    if edit is None:
        return False
    purpose = f"{called(findings.units)} alone: is it enough?"
    return (yield from explorer.moves([(edit, purpose)]))[0] != sign


def _more(explorer: Explorer, settings: SearchSettings, findings: Findings, sign: int) -> Steps[bool]:
    """Looks for another necessary part in the rest."""
    rest = outside(findings.roots, findings.segments)
    others = attempted(removed, findings.prompt, rest) if rest else None
    if others is None:
        return False
    purpose = f"all but {called(findings.units)} deleted: is more needed?"
    if (yield from explorer.moves([(others, purpose)]))[0] != sign:
        return False
    return (yield from _follow(explorer, settings, findings, [(one,) for one in rest], "removed", sign))


def _rivals(explorer: Explorer, settings: SearchSettings, findings: Findings, units: list[Unit]) -> Steps[None]:
    """Orders, other names and the like; coarse parts too if deleting everything left the rate where it was."""
    prompt = findings.prompt
    runs = lists_of(findings.roots)
    orders = [(run, attempted(reordered, prompt, run, "first to last")) for run in runs]
    kinds = {kind: others_of(findings, kind) for kind in REPLACED_TOGETHER}
    tries: list[tuple[Edit, str, tuple[Segment, ...] | None, list[Unit]]] = []
    for run, edit in orders:
        if edit:
            tries.append((edit, f"the first of {len(run)} list items put last: does the order matter?", run, []))
    for kind, some in kinds.items():
        edit = attempted(replaced, prompt, some) if some else None
        if edit:
            grouped = _by_text(some)
            tries.append((edit, f"{called(grouped)} replaced: does this {kind} matter?", None, grouped))
    if not findings.whole:
        for some in _coarse(prompt, units):
            edit = attempted(removed, prompt, flat(some))
            if edit:
                tries.append((edit, f"{called(some)} deleted: does it matter?", None, some))
    moved = yield from explorer.moves([(edit, purpose) for edit, purpose, _, _ in tries])
    for (_, purpose, run, some), sign in zip(tries, moved, strict=True):
        if sign and run:
            findings.orders.append(run)
        elif sign and len(findings.found) < settings.causes and not _known(findings, some):
            how: Literal["removed", "replaced"] = "replaced" if "replaced" in purpose else "removed"
            yield from _follow(explorer, settings, findings, some, how, sign)


def _known(findings: Findings, units: Sequence[Unit]) -> bool:
    return any(one.overlaps(other) for unit in units for one in unit for other in findings.segments)


def _coarse(prompt: Prompt, units: list[Unit]) -> list[list[Unit]]:
    """Each turn or exchange before the last, and both halves of the parts."""
    turns = [[unit] for unit in units if unit[0].kind == "turn"][:_LISTS]
    half = len(units) // 2
    return turns + ([units[:half], units[half:]] if len(units) > 1 else [])


def _by_text(segments: Sequence[Segment]) -> list[Unit]:
    grouped: dict[str, list[Segment]] = {}
    for one in segments:
        grouped.setdefault(one.text, []).append(one)
    return [tuple(group) for group in grouped.values()]
