"""Copies: fifty identical answers are one, and forty rows without injection may be one too."""

import numpy as np

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy, column
from firsthand.analysis.means import bare, mean_of, plural, probability
from firsthand.analysis.repeats import chance_of_unanimity, unanimous
from firsthand.vocabulary import Kind

RARE = 0.01
"""Unanimity that independent answers would show less often than this is taken for copying."""


def check_repeats(study: ImportedStudy) -> Checked:
    """Say how many distinct measurements the published answers are."""
    table = study.table
    answers, rows = int(table["repeats"].sum()), len(table)
    if answers == rows:
        return NOTHING
    repeated = table["repeats"].to_numpy(dtype=np.int64) > 1
    copies = repeated & table["identical"].to_numpy(dtype=bool)
    found = []
    if copies.all():
        found.append(_all_copies(study, answers))
    elif copies.any():
        found.append(_some_copies(study, copies))
    if (repeated & ~copies).any():
        found.append(_averages(study, repeated & ~copies))
    return Checked(tuple(found))


def _units(study: ImportedStudy) -> tuple[int, str]:
    name = study.clusters[0]
    return study.units(name), name


def _all_copies(study: ImportedStudy, answers: int) -> Finding:
    table = study.table
    sizes = table["repeats"].to_numpy(dtype=np.int64)
    each = f"{sizes[0]}" if (sizes == sizes[0]).all() else f"{sizes.min()} to {sizes.max()}"
    numbers = [bare("published answers", answers, "count"), bare("distinct measurements", len(table), "count")]
    sentence = f"Every one of the {len(table):,} rows stands for {each} answers, and "
    if study.has("correct") and unanimous(column(table, "correct")).all():
        correct = column(table, "correct")
        right, wrong = int((correct == 1.0).sum()), int((correct == 0.0).sum())
        rate = float(correct.mean())
        luck = chance_of_unanimity(rate, int(sizes.min()))
        sentence += f"all are unanimous: {wrong} rows all wrong, {right} all right"
        if luck < RARE:
            sentence += (
                f". Independent answers at the overall rate would be unanimous in a row with probability "
                f"{probability(luck)}, so they are copies of one deterministic answer"
            )
        numbers += [
            bare("rows all wrong", wrong, "count"),
            bare("rows all right", right, "count"),
            bare("probability that a row of independent answers is unanimous", luck),
        ]
        clustered = mean_of(correct, table, study.clusters)
        naive = float(np.sqrt(rate * (1 - rate) / answers))
        real = max(part.se for part in clustered.parts)
        if naive > 0 and np.isfinite(real):
            numbers.append(bare("times too narrow an interval over all answers would be", real / naive, "number"))
    else:
        sentence += "all of a row are the same: copies of one deterministic answer"
    units, name = _units(study)
    sentence += (
        f". {answers:,} published answers are {len(table):,} measurements of {plural(units, name)}, and the "
        f"{name.replace('_', ' ')} is the unit."
    )
    if len(numbers) > 5:
        sentence += f" An interval over all answers would be {numbers[-1].value:.0f} times too narrow."
    return Finding(name="repeats", tone="caution", sentence=sentence, numbers=tuple(numbers), units=units, cluster=name)


def _some_copies(study: ImportedStudy, copies: np.ndarray) -> Finding:
    table = study.table
    answers, rows = int(table.loc[copies, "repeats"].sum()), int(copies.sum())
    arms = table.loc[copies, "arm"].dropna().unique() if study.has("arm") else []
    of = f" (arm {', '.join(map(str, arms))})" if 0 < len(arms) <= 4 else ""
    baseline = table.loc[copies, "kind"].eq(Kind.BASELINE.value).all()
    what = "rows in which no state was set" if baseline else "rows"
    copy = "one measurement" if rows == 1 else f"{rows:,} distinct measurements"
    units, name = _units(study)
    return Finding(
        name="repeats",
        tone="caution",
        sentence=f"{answers:,} {what}{of} have the same input and the same output as another: they are {copy}, and "
        f"count as such. In all, {int(table['repeats'].sum()):,} published answers are {len(table):,} measurements.",
        numbers=(
            bare("published rows that are copies", answers, "count"),
            bare("distinct measurements among them", rows, "count"),
            bare("distinct measurements in all", len(table), "count"),
        ),
        units=units,
        cluster=name,
    )


def _averages(study: ImportedStudy, averaged: np.ndarray) -> Finding:
    table = study.table[averaged]
    units, name = _units(study)
    correct = column(table, "correct") if study.has("correct") else np.array([])
    spread = mean_of(correct, table, study.clusters) if len(correct) else None
    size = int(table["repeats"].median())
    rows = len(table)
    sentence = (
        f"Each of {rows:,} rows is the mean of {size} answers under one vector at one setting. The rows of one "
        f"{name.replace('_', ' ')} share its vector, so the {plural(units, name)} are the unit, not the "
        f"{rows * size:,} answers."
    )
    numbers = [bare("answers averaged in a row", size, "count"), bare("rows", rows, "count")]
    if spread is not None and not spread.unknown:
        between = float(table.assign(_v=correct).groupby(name)["_v"].mean().std(ddof=1))
        sentence += (
            f" Means of single {name.replace('_', ' ')}s have a standard deviation of {100 * between:.1f} points."
        )
        numbers.append(bare(f"standard deviation between {name}s", between))
    return Finding(
        name="averages", tone="caution", sentence=sentence, numbers=tuple(numbers), units=units, cluster=name
    )
