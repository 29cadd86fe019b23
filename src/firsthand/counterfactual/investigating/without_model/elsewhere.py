"""The same kind of edit at another place: what less text alone, or any edit of this size, would do.

Other text is chosen by the prompt and the edit alone, without a look at any result of it: as fine as what the edit
changes if that is possible, outside of it and of everything that is suspected, together at least as long and at most
twice as long, and such that the prompt becomes shorter by at least as much. Where the rest of the prompt holds no such
text there is no matched edit.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from firsthand.counterfactual.edits import Edit, Replace, edited
from firsthand.counterfactual.factors import changed
from firsthand.counterfactual.investigating.without_model.findings import (
    LEAVES,
    Findings,
    attempted,
    by_text,
    others_of,
)
from firsthand.counterfactual.investigating.without_model.necessary import Unit, flat
from firsthand.counterfactual.investigating.without_model.wording import called
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.segments import (
    Segment,
    leaves,
    outside,
    removed,
    reordered,
    replaced,
    sequences,
    shortened,
    walk,
)
from firsthand.counterfactual.segments.reordering import Order

Kind: TypeAlias = Literal["removed", "replaced"] | Order
"""What is done with segments."""
Made: TypeAlias = tuple[Edit, str]
"""An edit, and what it does in words."""

_LARGER: Final = 2.0
_SLACK: Final = 8
_TRIES: Final = 6


def matched(findings: Findings, edit: Edit, segments: Sequence[Segment], kind: Kind) -> Made | None:
    """The same kind of edit elsewhere, about as large; ``None`` where there is none.

    Args:
        findings: What exploring found; all of it is left alone.
        edit: The edit that is to be matched.
        segments: What it changes.
        kind: What it does with them.
    """
    size, shorter = size_of(findings.prompt, edit), shorter_by(findings.prompt, edit)
    most, whole = _LARGER * size + _SLACK, _takes_turns(edit)
    for made in _tries(findings, size, segments, kind):
        fits = made and size_of(findings.prompt, made[0]) <= most and shorter_by(findings.prompt, made[0]) >= shorter
        # A turn that is missing is more than text that is missing: a template may put its own system line there, and
        # what was said second is then said first.
        if made and fits and whole == _takes_turns(made[0]):
            return made
    return None


def less_text(findings: Findings) -> Made | None:
    """An edit that leaves less text and does not touch what was found first, and what it does in words.

    For lack of other text, one that puts something short in place of what was found. ``None`` if neither can be made.
    """
    if not findings.found:
        return None
    prompt, away = findings.prompt, findings.found[0].segments
    edit = attempted(removed, prompt, away)
    made = matched(findings, edit, away, "removed") if edit else None
    if made:
        return made
    edit = attempted(shortened, prompt, away)
    return (edit, f"{called(findings.found[0].units)} replaced by less text about nothing") if edit else None


def size_of(prompt: Prompt, edit: Edit) -> int:
    """How many characters of a prompt an edit takes away or exchanges."""
    return sum(len(span.gone) for span in changed(prompt, edit))


def shorter_by(prompt: Prompt, edit: Edit) -> int:
    """How many characters a prompt is shorter by after an edit; 0 if it is not."""
    return max(0, prompt.characters - edited(prompt, edit).characters)


def _tries(findings: Findings, size: int, segments: Sequence[Segment], kind: Kind) -> Iterator[Made | None]:
    """Edits in the order in which they are preferred; where nothing can be exchanged that is as long, as much goes."""
    if kind == "first to last" or kind == "reversed":
        yield _moved(findings, size, segments, kind)
        return
    if kind == "replaced":
        kinds = tuple(dict.fromkeys([*(one.kind for one in segments), "word"]))
        yield from (_exchanged(findings, size, segments, kinds[:count]) for count in range(1, len(kinds) + 1))
    fine = all(segment.kind in LEAVES for segment in segments)
    yield from (_deleted(findings, size, segments, one) for one in (fine, not fine))


def _deleted(findings: Findings, size: int, segments: Sequence[Segment], fine: bool) -> Made | None:
    """Other words (or sentences, items and lines) deleted."""
    texts = {segment.text.lower() for segment in segments}
    free = outside(findings.roots, [*findings.segments, *segments])
    choices = [one for one in leaves(free) if one.kind in LEAVES] if fine else _statements(free)
    units: list[Unit] = [(one,) for one in choices if one.text.lower() not in texts]
    made = _as_large(findings.prompt, units, size, lambda some: attempted(removed, findings.prompt, some))
    return (made[0], f"as much other text deleted ({called(made[1])})") if made else None


def _exchanged(findings: Findings, size: int, segments: Sequence[Segment], kinds: Sequence[str]) -> Made | None:
    """Other leaves of some kinds replaced."""
    units = [unit for kind in kinds for unit in by_text(others_of(findings, kind, segments))]
    made = _as_large(findings.prompt, units, size, lambda some: attempted(replaced, findings.prompt, some))
    return (made[0], f"as much other text replaced ({called(made[1])})") if made else None


def _moved(findings: Findings, size: int, segments: Sequence[Segment], order: Order) -> Made | None:
    """Another list, or other sentences, put in another order."""
    away = [*findings.segments, *segments]
    found = []
    for run in [*sequences(findings.roots), *sequences(findings.roots, "sentence")]:
        edit = attempted(reordered, findings.prompt, run, order)
        if edit and not any(one.overlaps(other) for one in run for other in away):
            found.append((size_of(findings.prompt, edit), edit, run))
    fitting = [one for one in found if one[0] >= size]
    if not fitting:
        return None
    _, edit, run = min(fitting, key=lambda one: (one[0], one[2][0].turn, one[2][0].start))
    what = "list items" if run[0].kind == "item" else "sentences"
    return edit, f"{len(run)} other {what} put in another order"


def _as_large(
    prompt: Prompt, units: Sequence[Unit], size: int, make: Callable[[list[Segment]], Edit | None]
) -> tuple[Edit, list[Unit]] | None:
    """An edit of some units that takes at least so many characters; more is asked for until that is so."""
    wanted = size
    for _ in range(_TRIES):
        chosen = _filled(units, wanted)
        edit = make(flat(chosen)) if chosen else None
        if edit is None:
            return None
        missing = size - size_of(prompt, edit)
        if missing <= 0:
            return edit, chosen
        wanted += missing
    return None


def _filled(units: Sequence[Unit], length: int) -> list[Unit]:
    """Units that are together at least so long: the longest that fit, then the shortest that makes it full."""
    chosen: list[Unit] = []
    left = length
    for one in sorted(units, key=lambda one: (-_length(one), one[0].turn, one[0].start)):
        if _length(one) <= left:
            chosen.append(one)
            left -= _length(one)
    rest = [one for one in units if one not in chosen and _length(one) >= left]
    if left > 0 and rest:
        chosen.append(min(rest, key=lambda one: (_length(one), one[0].turn, one[0].start)))
        left = 0
    return sorted(chosen, key=lambda one: (one[0].turn, one[0].start)) if left <= 0 else []


def _length(unit: Unit) -> int:
    return sum(one.end - one.start for one in unit)


def _takes_turns(edit: Edit) -> bool:
    """Whether nothing is left of some turn."""
    return not all(isinstance(operation, Replace) for operation in edit.operations)


def _statements(segments: Sequence[Segment]) -> list[Segment]:
    return [one for one in walk(segments) if one.kind in ("sentence", "item", "line")]
