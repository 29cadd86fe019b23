"""What exploring found so far, and the parts of a prompt that an investigator picks from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, ParamSpec, TypeAlias

from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.investigating.without_model.necessary import Changing, Unit, flat
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments import (
    Segment,
    removed,
    replaced,
    segmented,
    sequences,
)
from firsthand.counterfactual.segments.removing import exchanges
from firsthand.errors import CounterfactualError

P = ParamSpec("P")
How: TypeAlias = Literal["removed", "replaced"]
"""What is done with parts."""

LEAVES: Final = ("name", "number", "quote", "identifier", "word")
REPLACED_TOGETHER: Final = ("name", "number", "quote", "identifier")
_LISTS: Final = 2


@dataclass(frozen=True)
class Found:
    """Parts whose change seems to move the rate.

    Attributes:
        units: The parts.
        how: Whether they were deleted or replaced.
    """

    units: tuple[Unit, ...]
    how: How = "removed"

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
        whole: Whether the rate moves if everything is deleted, and which way; ``None`` if that was not tried, or
            could not be judged.
        length: Whether other text of as much length seems to matter as well.
        enough: Whether what was found seems to be enough by itself, so that nothing else is needed.
        partial: Whether a set seems to do clearly less than deleting everything does.
        spent: Whether the budget ended the search.
        unjudged: What was to be learnt from explored edits after which most responses could not be judged.
    """

    prompt: Prompt
    roots: tuple[Segment, ...]
    found: list[Found] = field(default_factory=list)
    whole: int | None = None
    length: bool = False
    enough: bool = False
    partial: bool = False
    spent: bool = False
    unjudged: list[str] = field(default_factory=list)

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


def others_of(findings: Findings, kind: str, besides: Sequence[Segment] = ()) -> list[Segment]:
    """Leaves of a kind that are no part of what was found or of some others, and whose text does not stand in them."""
    away = [*findings.segments, *besides]
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


def by_text(segments: Sequence[Segment]) -> list[Unit]:
    """Segments with the same text as one part each."""
    grouped: dict[str, list[Segment]] = {}
    for one in segments:
        grouped.setdefault(one.text, []).append(one)
    return [tuple(group) for group in grouped.values()]
