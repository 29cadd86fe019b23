"""What is explored, in which order: first whether the text matters at all, then which parts, then rivals of them.

1. Everything that is said is deleted. If that leaves the rate where it is, a part is hardly its cause by being there;
   the system's turn, earlier exchanges and either half are deleted anyway. Else parts have to do nearly half as much.
2. The smallest set of parts without which the rate moves (:mod:`.necessary`).
3. Other text of as much length is deleted. If that moves the rate too, and text about nothing instead of what was found
   does not, it may be length, and no more is looked for.
4. Everything but what was found is deleted. While that moves the rate, more is needed, and is looked for in the rest.
5. If nothing was found that is enough by itself, lists are reordered, and all other names, numbers, quoted texts and
   identifiers replaced. What moves is followed up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from firsthand.counterfactual.edits import Edit
from firsthand.counterfactual.investigating.without_model.elsewhere import less_text
from firsthand.counterfactual.investigating.without_model.exploring import UNMOVED, Explorer, Steps
from firsthand.counterfactual.investigating.without_model.findings import (
    REPLACED_TOGETHER,
    Findings,
    Found,
    How,
    attempted,
    by_text,
    deleting,
    lists_of,
    others_of,
    replacing,
    top_units,
)
from firsthand.counterfactual.investigating.without_model.necessary import Necessary, Unit, flat
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.wording import called
from firsthand.counterfactual.segments import Segment, kept, outside, removed, reordered, replaced

_PART_OF_WHOLE: Final = 0.45
_MOST_OF_WHOLE: Final = 0.7


def look(explorer: Explorer, settings: SearchSettings, findings: Findings) -> Steps[None]:
    """Explores, and notes in ``findings`` what is found as soon as it is.

    Raises:
        BudgetSpentError: If the allowance is spent.
    """
    prompt, roots = findings.prompt, findings.roots
    everything = attempted(removed, prompt, roots)
    if everything:
        purpose = "everything that is said deleted: does the rate depend on it at all?"
        findings.whole = (yield from explorer.moves([(everything, purpose)], 2 * settings.batch))[0]
    if everything and findings.whole:
        sign = findings.whole
        whole = abs(explorer.change(everything))
        explorer.threshold = max(settings.least_change, _PART_OF_WHOLE * whole)
        yield from _follow(explorer, settings, findings, top_units(prompt, roots), "removed", sign)
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
        yield from _look_at_rivals(explorer, settings, findings)


def _follow(
    explorer: Explorer,
    settings: SearchSettings,
    findings: Findings,
    units: Sequence[Unit],
    how: How,
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
        best = set(flat(search.best))
        smaller = how == "replaced" or len(units) == 1 or best != set(flat(units))
        if best and smaller and best != all_:
            findings.found.append(Found(tuple(search.best), how))
    return len(findings.found) > known


def _is_length(explorer: Explorer, findings: Findings, sign: int) -> Steps[bool]:
    """Whether less text moves the rate, and as much text about nothing in place of what was found does not."""
    less = less_text(findings)
    same = attempted(replaced, findings.prompt, findings.found[0].segments) if findings.found else None
    if less is None or same is None:
        return False
    if (yield from explorer.moves([(less[0], f"{less[1]}: is it the length?")]))[0] != sign:
        return False
    purpose = f"{called(findings.found[0].units)} replaced: is it what is said there?"
    return (yield from explorer.moves([(same, purpose)]))[0] in (UNMOVED, -sign)


def _is_enough(explorer: Explorer, findings: Findings, sign: int) -> Steps[bool]:
    edit = attempted(kept, findings.prompt, findings.segments)
    if edit is None:
        return False
    purpose = f"{called(findings.units)} alone: is it enough?"
    return (yield from explorer.moves([(edit, purpose)]))[0] in (UNMOVED, -sign)


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


@dataclass(frozen=True)
class _Rival:
    """An edit that is tried beside what was found.

    Attributes:
        edit: The edit.
        purpose: What is to be learnt.
        how: What is done with the parts.
        units: The parts that are changed, and looked into if that moves the rate.
        run: The list that is reordered instead.
    """

    edit: Edit
    purpose: str
    how: How = "removed"
    units: tuple[Unit, ...] = ()
    run: tuple[Segment, ...] = ()


def _look_at_rivals(explorer: Explorer, settings: SearchSettings, findings: Findings) -> Steps[None]:
    """Orders, other names and the like; coarse parts too if deleting everything left the rate where it was."""
    rivals = [*_orders(findings), *_kinds(findings)]
    if not findings.whole:
        rivals += _coarse(findings)
    moved = yield from explorer.moves([(one.edit, one.purpose) for one in rivals])
    for one, sign in zip(rivals, moved, strict=True):
        if not sign or one.run or len(findings.found) >= settings.causes:
            continue
        if not any(part.overlaps(other) for part in flat(one.units) for other in findings.segments):
            yield from _follow(explorer, settings, findings, one.units, one.how, sign)


def _orders(findings: Findings) -> Iterator[_Rival]:
    for run in lists_of(findings.roots):
        edit = attempted(reordered, findings.prompt, run, "first to last")
        if edit:
            yield _Rival(edit, f"the first of {len(run)} list items put last: does the order matter?", run=run)


def _kinds(findings: Findings) -> Iterator[_Rival]:
    for kind in REPLACED_TOGETHER:
        some = others_of(findings, kind)
        edit = attempted(replaced, findings.prompt, some) if some else None
        if edit:
            units = tuple(by_text(some))
            yield _Rival(edit, f"{called(units)} replaced: does this {kind} matter?", "replaced", units)


def _coarse(findings: Findings) -> Iterator[_Rival]:
    """Each turn or exchange before the last, and both halves of the parts."""
    units = top_units(findings.prompt, findings.roots)
    half = len(units) // 2
    turns = [[unit] for unit in units if unit[0].kind == "turn"]
    for some in [*turns, units[:half], units[half:]]:
        edit = attempted(removed, findings.prompt, flat(some)) if some else None
        if edit:
            yield _Rival(edit, f"{called(some)} deleted: does it matter?", units=tuple(some))
