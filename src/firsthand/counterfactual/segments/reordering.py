"""The same list items or sentences in another order; the marks and numbers of a list stay where they are."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, Literal, TypeAlias

from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments.exact import exact_replacements
from firsthand.counterfactual.segments.tree import Segment, item_mark, walk
from firsthand.errors import CounterfactualError

Order: TypeAlias = Literal["first to last", "reversed"]

_LONGEST_GAP: Final = 4


def sequences(segments: Sequence[Segment], kind: Literal["item", "sentence"] = "item") -> list[tuple[Segment, ...]]:
    """Runs of at least two list items (or sentences) one after the other, in reading order.

    Items of one list may stand in paragraphs of their own, as long as no other text comes between.
    """
    flat = [one for one in walk(segments) if one.kind in ("sentence", "item", "line")]
    runs: list[tuple[Segment, ...]] = []
    for (_, one_kind), group in groupby(flat, key=lambda one: (one.turn, one.kind)):
        if one_kind == kind:
            runs += [run for run in _unbroken(list(group), segments, kind) if len(run) > 1]
    return runs


def _unbroken(group: list[Segment], segments: Sequence[Segment], kind: str) -> Iterator[tuple[Segment, ...]]:
    """Parts of a run that stand close together; sentences keep to their paragraph."""
    contents = {root.turn: root.text for root in segments if root.kind == "turn"}
    run: list[Segment] = []
    for one in group:
        gap = contents.get(one.turn, "")[run[-1].end : one.start] if run else ""
        breaks = gap.count("\n") > (0 if kind == "sentence" else _LONGEST_GAP)
        if run and breaks:
            yield tuple(run)
            run = []
        run.append(one)
    if run:
        yield tuple(run)


def reordered(prompt: Prompt, run: Sequence[Segment], order: Order) -> Edit:
    """The edit that puts a run in another order.

    Raises:
        CounterfactualError: If the run is shorter than two, or its order makes no difference.
    """
    if len(run) < 2:
        raise CounterfactualError("One thing has no order.", "Name at least two segments.")
    bodies = [(one.start + (item_mark(one.text) if one.kind == "item" else 0), one.end) for one in run]
    content = prompt.turns[run[0].turn].content
    texts = [content[start:end] for start, end in bodies]
    changed = texts[1:] + texts[:1] if order == "first to last" else texts[::-1]
    changes = [(start, end, text) for (start, end), text in zip(bodies, changed, strict=True)]
    operations = exact_replacements(run[0].turn, content, changes)
    if not operations:
        raise CounterfactualError("In the other order the text is the same.", "Name segments that differ.")
    return Edit(operations=tuple(operations))
