"""The whole file beside its best cell: what is shown, what would have been claimed, and what luck gives."""

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked, Signal, marks_of
from firsthand.analysis.findings import Finding, Line, Number, Picture
from firsthand.analysis.grid import BestCell, best_by_luck, best_cell, confirmed
from firsthand.analysis.imported_study import ImportedStudy, cell_name, column
from firsthand.analysis.inference import Measured
from firsthand.analysis.means import (
    bare,
    beyond,
    mean_of,
    number,
    pct,
    probability,
    share_text,
    units_of,
    units_text,
)
from firsthand.analysis.options import one_truth_cells

MINIMUM_LOSS = 0.02
"""A best cell that loses no more than this on units that did not choose it holds up."""


def check_grid(study: ImportedStudy) -> Checked:
    """Put the best cell beside the whole file, beside the best of null cells, and beside held-out units."""
    if not study.cells or not study.has("correct") or study.main_arm is not None or study.control or study.pair:
        return NOTHING
    rows = study.judged
    if rows.empty:
        return NOTHING
    whole = mean_of(column(rows, "correct"), rows, study.clusters)
    findings = [_whole(study, rows, whole)]
    best = best_cell(rows, study.cells)
    if best.cells < 2:
        return Checked(tuple(findings), _signal(study, whole))
    unit = study.clusters[0]
    held = confirmed(rows, study.cells, unit) if rows[unit].nunique() > 1 else None
    fair = None if held is None or np.isnan(held).all() else mean_of(held, rows, study.clusters)
    findings.append(_best(study, rows, best, fair))
    single = _one_truth(study, rows, best)
    findings += [] if single is None else [single]
    inside = rows[_in_cell(rows, best)]
    named = {
        "Whole file": whole,
        "Best cell (the claim)": mean_of(column(inside, "correct"), inside, study.clusters),
    }
    if fair is not None:
        named["Cell chosen on other units"] = fair
    picture = Picture(
        title="The whole file, its best cell, and a fair choice",
        axis="Share right",
        unit="share",
        marks=marks_of(named, "Cell chosen on other units" if fair is not None else "Whole file"),
        lines=_lines(study, rows, best),
    )
    return Checked(tuple(findings), _signal(study, fair or whole), picture)


def _binary(rows: pd.DataFrame) -> bool:
    return bool(np.isin(column(rows, "correct"), (0.0, 1.0)).all() and rows["identical"].all())


def _in_cell(rows: pd.DataFrame, best: BestCell) -> np.ndarray:
    inside = np.ones(len(rows), dtype=bool)
    for name, value in zip(best.names, best.values, strict=True):
        inside &= (rows[name] == value).to_numpy()
    return inside


def _whole(study: ImportedStudy, rows: pd.DataFrame, whole: Measured) -> Finding:
    units, cluster = units_of(whole)
    if _binary(rows):
        right = int(column(rows, "correct").sum())
        counts = f"{right:,} of {len(rows):,} measurements are right, {share_text(whole)}"
        numbers: tuple[Number, ...] = (
            bare("right", right, "count"),
            bare("measurements", len(rows), "count"),
            number("rate over the whole file", whole),
        )
    else:
        counts = f"the mean over {len(rows):,} measurements is {share_text(whole)}"
        numbers = (bare("measurements", len(rows), "count"), number("rate over the whole file", whole))
    return Finding(
        name="whole-file",
        tone="result",
        sentence=f"Over the whole file {counts} ({units_text(whole)}).",
        numbers=numbers,
        units=units,
        cluster=cluster,
    )


def _best(study: ImportedStudy, rows: pd.DataFrame, best: BestCell, fair: Measured | None) -> Finding:
    where = cell_name(best.names, best.values)
    sizes = rows.groupby(list(study.cells), sort=True).size().to_list()
    numbers = [bare("rate of the best cell", best.rate), bare("cells", best.cells, "count")]
    counted = f"{round(best.rate * best.rows)} of {best.rows} ({pct(best.rate)})" if _binary(rows) else pct(best.rate)
    sentence = f"The best of {best.cells} cells ({where}) has {counted}: that is what would have been claimed."
    if best.tied > 1:
        sentence += f" It shares first place with {best.tied - 1} other cell{'s' if best.tied > 2 else ''}."
    if _binary(rows):
        pooled = float(column(rows, "correct").mean())
        luck = best_by_luck(sizes, pooled, best.rate)
        sentence += (
            f" If all cells had the overall rate of {pct(pooled)}, the best of {best.cells} cells of this size would "
            f"show {pct(luck.expected)} on average, and {pct(best.rate)} or more with probability "
            f"{probability(luck.reaches)}."
        )
        numbers += [
            bare("best of equal cells, expected", luck.expected),
            bare("probability that the best of equal cells reaches it", luck.reaches),
        ]
    units, cluster = study.units(study.clusters[0]), study.clusters[0]
    if fair is not None:
        sentence += (
            f" Chosen on all other {cluster.replace('_', ' ')}s and judged on the one left out, the best cell gives "
            f"{share_text(fair)} ({units_text(fair)})."
        )
        if fair.value >= best.rate - MINIMUM_LOSS:
            sentence += " The choice holds up."
        numbers.append(number(f"rate in the cell chosen on the other {cluster}s", fair))
        units, cluster = units_of(fair)
    return Finding(
        name="best-of-grid", tone="caution", sentence=sentence, numbers=tuple(numbers), units=units, cluster=cluster
    )


def _one_truth(study: ImportedStudy, rows: pd.DataFrame, best: BestCell) -> Finding | None:
    if not study.has("truth"):
        return None
    single, cells = one_truth_cells(rows, study.cells)
    if single < cells:
        return None
    truth = str(rows.loc[_in_cell(rows, best), "truth"].dropna().iloc[0])
    sentence = (
        f"In each of the {cells} cells only one answer is ever right. A cell's rate is therefore how often that answer "
        f"is given there, and answering {truth!r} whatever the state would make the best cell 100%."
    )
    numbers = [bare("cells with one true answer", single, "count"), bare("cells", cells, "count")]
    if study.has("answer"):
        given = rows["answer"].dropna().astype(str)
        share = float((given == truth).mean()) if len(given) else 0.0
        sentence += f" {truth!r} is {pct(share)} of all valid answers in the file."
        numbers.append(bare(f"share of {truth!r} among valid answers", share))
    return Finding(
        name="one-truth-cells",
        tone="caution",
        sentence=sentence,
        numbers=tuple(numbers),
        units=study.units(study.clusters[0]),
        cluster=study.clusters[0],
    )


def _lines(study: ImportedStudy, rows: pd.DataFrame, best: BestCell) -> tuple[Line, ...]:
    if _binary(rows):
        sizes = rows.groupby(list(study.cells), sort=True).size().to_list()
        luck = best_by_luck(sizes, float(column(rows, "correct").mean()), best.rate)
        return (Line(label="best of equal cells", value=luck.expected),)
    return () if study.chance is None else (Line(label="chance", value=study.chance),)


def _signal(study: ImportedStudy, found: Measured) -> Signal | None:
    """How far a rate is above the stated chance, where the truth itself is not in the table to compute it from."""
    if study.chance is None or study.has("truth"):
        return None
    return Signal(f"rate beyond the stated chance of {pct(study.chance)}", beyond(found, study.chance))
