"""The hidden coin on a real model: can it report a bit that was put into its activations after public evidence was
frozen?

The protocol of the introspection triangle, carried over point by point (seed: "A report needs a private referent"): a
private bit with a 72% public cue and a visible answer that may leak it, covert flips, sham, input and impact controls,
opaque codes re-drawn for each block. Selection blocks choose layer and dose; confirmation blocks, with other texts,
codes and states, judge. Adding a study means writing a file like this one: it builds units and a trace, and nothing
else.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from firsthand.progress import Progress, tracked
from firsthand.studies.cells import Cell
from firsthand.studies.register_bench import Bench
from firsthand.studies.register_unit import run_unit
from firsthand.trials.design import BlockPlan, plan_block
from firsthand.trials.trace import Trace
from firsthand.vocabulary import Capability, Kind, Subset

SELECTION_KINDS = (Kind.BASELINE, Kind.TARGET)


@dataclass(frozen=True)
class CellScore:
    """How a cell did on selection blocks.

    Attributes:
        cell: The cell.
        accuracy: Share of trials whose identification answer was valid and right.
        concordance: Share of pairs of one block (state one, state zero) in which the logit contrast is higher for one.
        n_trials: Trials behind it.
    """

    cell: Cell
    accuracy: float
    concordance: float
    n_trials: int


def run_selection(bench: Bench, folder: Path, progress: Progress) -> list[CellScore]:
    """Run every cell of the grid on the selection blocks, or take up what is there.

    A grid of one cell needs no choosing and is not run.

    Args:
        bench: What is fixed for the run.
        folder: Folder of the selection trace.
        progress: Who is told.

    Returns:
        One score a cell, in the grid's order.
    """
    cells = bench.cells()
    if len(cells) == 1:
        return []
    design, trace = bench.claim.design, Trace(folder)
    jobs = [
        (cell, plan_block(design.seed, Subset.SELECTION, index, SELECTION_KINDS))
        for cell in cells
        for index in range(design.selection_blocks)
    ]
    units = [
        _run(bench, trace, plan, cell, f"{plan.name}.{cell.name}", (Capability.IDENTIFICATION,))
        for cell, plan in tracked(jobs, "choosing layer and dose", len(jobs), progress)
    ]
    trace.finish(units, {"subset": "selection"})
    return [
        _score(trace, cell, [unit for unit, (c, _) in zip(units, jobs, strict=True) if c == cell]) for cell in cells
    ]


def choose(bench: Bench, scores: Sequence[CellScore]) -> Cell:
    """The cell at which the report depends most on the state on selection blocks; the smaller dose and layer on ties.

    The sign of the dependence is left out of the choice: to choose a cell because its sign happens to be right would
    turn an arbitrary effect of the direction into a reading of it, and would hide an inverted one.
    """
    if not scores:
        return bench.cells()[0]
    best = max(scores, key=lambda s: (abs(s.concordance - 0.5), -s.cell.dose, -s.cell.layer))
    return best.cell


def run_confirmation(bench: Bench, cell: Cell, folder: Path, progress: Progress, stage: str) -> Trace:
    """Run the confirmation blocks at the chosen cell, or take up what is there.

    Args:
        bench: What is fixed for the run.
        cell: The chosen cell.
        folder: Folder of the confirmation trace.
        progress: Who is told.
        stage: What the stage is called.

    Returns:
        The finished trace.
    """
    design, trace = bench.claim.design, Trace(folder)
    plans = [plan_block(design.seed, Subset.CONFIRMATION, index) for index in range(design.confirmation_blocks)]
    units = [
        _run(bench, trace, plan, cell, f"{plan.name}.{cell.name}", bench.claim.capabilities)
        for plan in tracked(plans, stage, len(plans), progress)
    ]
    trace.finish(units, {"subset": "confirmation", "layer": cell.layer, "dose": cell.dose})
    return trace


def _run(bench: Bench, trace: Trace, plan: BlockPlan, cell: Cell, unit: str, capabilities: Sequence[Capability]) -> str:
    if not trace.unit_done(unit):
        tables = run_unit(bench, plan, cell, unit, trace.folder, capabilities)
        trace.write_unit(unit, tables.parts, tables.frozen)
    return unit


def _score(trace: Trace, cell: Cell, units: list[str]) -> CellScore:
    reports = trace.read_units("reports", units)
    sealed = trace.read_units("sealed", units)[["trial_id", "unit", "post_state"]]
    table = reports.merge(sealed, on="trial_id", validate="one_to_one")
    right = table["answer"].eq(table["post_state"])
    return CellScore(cell, float(right.mean()), _concordance(table), len(table))


def _concordance(table: pd.DataFrame) -> float:
    pairs: list[NDArray[np.float64]] = []
    for _, block in table.groupby("unit"):
        one = block.loc[block["post_state"] == 1, "contrast"].to_numpy()
        zero = block.loc[block["post_state"] == 0, "contrast"].to_numpy()
        difference = one[:, None] - zero[None, :]
        pairs.append(((difference > 0) + 0.5 * (difference == 0)).ravel())
    return float(np.concatenate(pairs).mean())
