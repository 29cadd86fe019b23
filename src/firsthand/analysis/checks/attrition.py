"""Trials that a crossed design has and the file has not."""

from math import prod

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.checks.shares import crossed_units, cued, settings
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.means import bare, pct


def check_attrition(study: ImportedStudy) -> Checked:
    """Count combinations of units and settings that are not there, by the second crossed unit."""
    crossed = crossed_units(study)
    rows = cued(study)
    if crossed is None or rows.empty:
        return NOTHING
    design = 0
    there: dict[str, int] = {}
    wanted: dict[str, int] = {}
    for inside in settings(rows, study.cells[:1]).values():
        part = rows[inside].drop_duplicates([*crossed, *study.cells])
        columns = [*crossed, *study.cells[1:]]
        each = prod(int(part[name].nunique()) for name in columns)
        design += each
        for unit, chosen in part.groupby(crossed[1], sort=True):
            there[str(unit)] = there.get(str(unit), 0) + len(chosen)
            wanted[str(unit)] = wanted.get(str(unit), 0) + each // int(part[crossed[1]].nunique())
    held = sum(there.values())
    if held >= design:
        return NOTHING
    short = sorted((unit for unit in there if there[unit] < wanted[unit]), key=lambda unit: there[unit] / wanted[unit])
    worst = ", ".join(f"{unit} {there[unit]:,} of {wanted[unit]:,}" for unit in short[:6])
    more = f" and {len(short) - 6} more" if len(short) > 6 else ""
    return Checked(
        (
            Finding(
                name="missing-trials",
                tone="gap",
                sentence=f"{held:,} of {design:,} combinations of {', '.join([*crossed, *study.cells])} are in the "
                f"file: {design - held:,} ({pct(1 - held / design)}) are not, and nothing says why ({worst}{more}). "
                f"Rates are those of the trials that are there, and weigh a {crossed[1]} by how many it kept.",
                numbers=(
                    bare("combinations in the file", held, "count"),
                    bare("combinations of the design", design, "count"),
                    *(bare(f"share there, {unit}", there[unit] / wanted[unit]) for unit in short),
                ),
                units=len(there),
                cluster=crossed[1],
            ),
        )
    )
