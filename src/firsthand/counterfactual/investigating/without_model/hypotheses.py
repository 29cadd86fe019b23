"""Which edits are confirmed: what was found, carried out in more than one way, and the rivals that it has to beat.

Order is priority, since the budget may not reach for all. For each set of parts: deleted; replaced by something
neutral (another way to take them away: if that changes nothing, it is not what they say that matters); each part by
itself where there are several; moved within its list. Then all that was found deleted, as much other text deleted, and
all that was found kept alone. Then rivals: the order of lists, other names, numbers, quoted texts and identifiers, the
system's turn, earlier exchanges, the longest other block, the order of sentences, the most striking other words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from firsthand.counterfactual.edits import Edit, edited
from firsthand.counterfactual.investigating.without_model.elsewhere import Kind, less_text
from firsthand.counterfactual.investigating.without_model.findings import (
    REPLACED_TOGETHER,
    Findings,
    Found,
    attempted,
    by_text,
    deleting,
    leaves_of,
    lists_of,
    others_of,
    top_units,
)
from firsthand.counterfactual.investigating.without_model.necessary import flat
from firsthand.counterfactual.investigating.without_model.wording import called
from firsthand.counterfactual.segments import Segment, kept, outside, removed, reordered, replaced, sequences

Role: TypeAlias = Literal[
    "without", "instead", "part", "place", "together", "alone", "length", "whole", "rival", "block", "control"
]


ELSE: Final = 1
"""Which neutral text takes a part's place: the same for causes and rivals, so that it does not tell them apart."""


@dataclass(frozen=True)
class Planned:
    """An edit that is to be confirmed.

    Attributes:
        edit: The edit.
        hypothesis: What causes the behaviour if the edit changes its rate.
        done: What the edit does, in words.
        role: What it is for.
        cause: Which of the sets that were found it bears on.
        segments: The segments that are changed, where the edit may turn out to be a cause; its control leaves them.
        kind: What is done with them.
        of: Numbers of the experiments that a control is the control of.
    """

    edit: Edit
    hypothesis: str
    done: str
    role: Role
    cause: int | None = None
    segments: tuple[Segment, ...] = ()
    kind: Kind = "removed"
    of: tuple[int, ...] = ()


def planned(findings: Findings, most: int) -> list[Planned]:
    """Edits to be confirmed, the most important first, each of which leads to another prompt."""
    chosen: dict[str, Planned] = {}
    for one in _in_order(findings):
        chosen.setdefault(edited(findings.prompt, one.edit).id, one)
    return list(chosen.values())[:most]


def _in_order(findings: Findings) -> Iterator[Planned]:
    prompt = findings.prompt
    for number, found in enumerate(findings.found):
        yield from _of_cause(findings, number, found)
    if findings.found:
        what = called(findings.units)
        edit = attempted(removed, prompt, findings.segments) if findings.partial and len(findings.found) > 1 else None
        if edit:
            whole = tuple(findings.segments)
            yield Planned(edit, f"{what} together", f"{what} deleted", "together", segments=whole)
        if less := less_text(findings):
            yield Planned(less[0], "the length of the prompt", less[1], "length", 0)
        edit = attempted(kept, prompt, findings.segments)
        if edit:
            yield Planned(edit, f"more than {what} is needed", f"everything but {what} deleted", "alone")
    edit = attempted(removed, prompt, findings.roots)
    if edit and (findings.partial or not findings.found):
        yield Planned(edit, "something that the prompt says", "everything that is said deleted", "whole")
    yield from _orders(findings)
    yield from _kinds(findings)
    yield from _coarse(findings)
    yield from _fine(findings)


def _of_cause(findings: Findings, number: int, found: Found) -> Iterator[Planned]:
    prompt, what = findings.prompt, called(found.units)
    renamed = all(segment.kind == "identifier" for segment in found.segments)
    first = found.how == "replaced" or renamed
    edit = attempted(found.edit, prompt)
    if edit:
        kind: Kind = "replaced" if first else "removed"
        done = f"{what} {'replaced' if first else 'deleted'}"
        yield Planned(edit, what, done, "without", number, tuple(found.segments), kind)
    edit = attempted(replaced, prompt, found.segments, ELSE)
    if edit:
        how = "replaced by something else again" if first else "replaced by something neutral"
        yield Planned(edit, f"what is said by {what}", f"{what} {how}", "instead", number)
    if len(found.units) > 1:
        for unit in found.units:
            edit = attempted(deleting(prompt), unit)
            if edit:
                kind = "replaced" if all(one.kind == "identifier" for one in unit) else "removed"
                yield Planned(edit, called([unit]), f"{called([unit])} deleted", "part", number, unit, kind)
    for run in sequences(findings.roots):
        if any(item.overlaps(segment) for item in run for segment in found.segments):
            edit = attempted(reordered, prompt, run, "first to last")
            done = f"the first of {len(run)} list items put last"
            if edit:
                # Only the item that is moved can be said to matter by where it stands.
                moved = any(run[0].overlaps(segment) for segment in found.segments)
                which = f"where in its list {what} stands" if moved else f"the order of the list that holds {what}"
                yield Planned(edit, which, done, "place", number, run, "first to last")


def _orders(findings: Findings) -> Iterator[Planned]:
    for run in lists_of(findings.roots):
        edit = attempted(reordered, findings.prompt, run, "first to last")
        if edit:
            done = f"the first of {len(run)} list items put last"
            what = f"the order of the list of {len(run)} items"
            yield Planned(edit, what, done, "rival", segments=run, kind="first to last")


def _kinds(findings: Findings) -> Iterator[Planned]:
    for kind in REPLACED_TOGETHER:
        some = others_of(findings, kind)
        edit = attempted(replaced, findings.prompt, some, ELSE) if some else None
        if edit:
            texts: dict[str, Segment] = {one.text: one for one in some}
            what = called([(one,) for one in texts.values()])
            yield Planned(edit, what, f"{what} replaced", "rival", segments=tuple(some), kind="replaced")


def _coarse(findings: Findings) -> Iterator[Planned]:
    """Whole turns, and the longest other block."""
    prompt, away = findings.prompt, findings.segments
    units = [
        unit
        for unit in top_units(prompt, findings.roots)
        if not any(one.overlaps(other) for one in unit for other in away)
    ]
    system = [unit for unit in units if prompt.turns[unit[0].turn].role == "system"]
    earlier = [unit for unit in units if unit[0].kind == "turn" and unit not in system]
    blocks = sorted((unit for unit in units if unit[0].kind != "turn"), key=lambda unit: unit[0].start - unit[0].end)
    for some, name in ((system, "the system's turn"), (earlier, "earlier turns"), (blocks[:1], "")):
        edit = attempted(removed, prompt, flat(some)) if some else None
        if edit:
            what = name or called(some)
            yield Planned(edit, what, f"{what} deleted", "block", segments=tuple(flat(some)))


def _fine(findings: Findings) -> Iterator[Planned]:
    """Sentences in another order, and the most striking other words: capitals first, then the longest."""
    prompt, away = findings.prompt, findings.segments
    for run in sorted(sequences(findings.roots, "sentence"), key=lambda run: -len(run))[:1]:
        edit = attempted(reordered, prompt, run, "reversed")
        if edit:
            done = f"{len(run)} sentences put in reverse order"
            yield Planned(edit, "the order of sentences", done, "rival", segments=run, kind="reversed")
    free = outside(findings.roots, away)
    words = [one for one in leaves_of(free) if one.kind == "word" and not any(one.text in two.text for two in away)]
    striking = sorted(words, key=lambda one: (not one.text.isupper(), one.start - one.end))
    for unit in by_text(striking)[:2]:
        edit = attempted(replaced, prompt, list(unit), ELSE)
        if edit:
            what = called([unit])
            yield Planned(edit, what, f"{what} replaced", "rival", segments=unit, kind="replaced")
