"""Derived columns of a published file, computed anew from the columns that they rest on."""

import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.means import bare

STATED, DERIVED = "stated:", "derived:"


def check_recomputed(study: ImportedStudy) -> Checked:
    """List every disagreement between a derived column and what its own sources give."""
    names = [str(name).removeprefix(STATED) for name in study.table if str(name).startswith(STATED)]
    names = [name for name in names if f"{DERIVED}{name}" in study.table]
    if not names:
        return NOTHING
    parts, numbers, agreeing = [], [], []
    for name in names:
        kinds = disagreements(study.table[f"{STATED}{name}"], study.table[f"{DERIVED}{name}"])
        total = sum(kinds.values())
        numbers.append(bare(f"rows that disagree, {name}", total, "count"))
        if not total:
            agreeing.append(name)
            continue
        listed = ", ".join(f"{count} say {left} where it is {right}" for (left, right), count in kinds.items())
        parts.append(f"{name}: {listed}")
        numbers += [bare(f"{name} {left}, anew {right}", n, "count") for (left, right), n in kinds.items()]
    rows = len(study.table)
    if not parts:
        words = f"Derived columns computed anew agree in all {rows:,} rows: {', '.join(names)}."
    else:
        words = f"Derived columns computed anew disagree in some of {rows:,} rows. {'; '.join(parts)}."
        words += f" In agreement: {', '.join(agreeing)}." if agreeing else ""
        words += " Nothing here rests on them."
    return Checked(
        (
            Finding(
                name="derived-columns",
                tone="caution" if parts else "result",
                sentence=words,
                numbers=tuple(numbers),
            ),
        )
    )


def disagreements(stated: pd.Series, derived: pd.Series) -> dict[tuple[str, str], int]:
    """How often a stated value meets another one computed anew, the most frequent first.

    What cannot be computed is "unknown", and agrees with a value that is missing.
    """
    pairs = pd.DataFrame({"stated": stated.astype(object), "derived": derived.astype(object)})
    pairs = pairs.where(pairs.notna(), "unknown").astype(str)
    different = pairs[pairs["stated"].ne(pairs["derived"])]
    counts = different.value_counts(["stated", "derived"]).sort_index()
    ordered = sorted(counts.items(), key=lambda item: (-int(item[1]), str(item[0])))
    return {(str(index[0]), str(index[1])): int(count) for index, count in ordered if isinstance(index, tuple)}
