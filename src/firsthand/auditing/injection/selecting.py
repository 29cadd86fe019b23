"""Choosing layer, dose and framing, on concepts that are not judged; and what choosing would have flattered.

Cells are compared by how far the injection moves the right answer's log-odds on one and the same prompt, in whatever
direction, beyond what concepts differ by: the end nearer to zero of the interval of its mean. A signed choice would
prefer cells that merely push towards one answer; a choice by how often it moves them would prefer the faintest dose.
Cells in which answers are mostly invalid, or in which the output hardly changed, are not chosen while there are others.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from firsthand.analysis.affirmation import affirmation
from firsthand.analysis.means import DIFFERENCE, mean_of
from firsthand.auditing.injection.columns import POSITIVE, contrast, yes_no
from firsthand.auditing.injection.plan import TARGETS
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.document import Cell as ShownCell
from firsthand.report.formats import Unit
from firsthand.report.injection_document import Grid, GridRow, Selection
from firsthand.studies.cells import Cell
from firsthand.studies.injection.drafts import Task

SCORE = "mean rise of the right answer's log-odds, in nats"
LEAST_CHANGE = 1e-4
"""Least mean KL divergence from the clean distribution, in nats, of a cell that may be chosen."""
RISES = {
    "detection": "rise of 'injected'",
    "localisation": "rise of the right sentence",
    "strength": "rise of the right copy",
    "identification": "rise of the right concept",
}


def grid(table: pd.DataFrame, setting: str, kind: str, spec: AnalysisSpec) -> Grid:
    """What every cell of a table gave, with intervals over concepts.

    Args:
        table: Clean and target trials of one setting in every cell.
        setting: Its name.
        kind: ``detection``, ``localisation``, ``strength`` or ``identification``.
        spec: The rules.
    """
    asked = _with_truth(table[~table["task"].isin([str(Task.UNRELATED)])])
    unrelated = yes_no(table) if (table["task"] == str(Task.UNRELATED)).any() else None
    rows = []
    for layer, dose in sorted(
        {(int(n), float(d)) for n, d in zip(table["layer"], table["dose"], strict=True) if n >= 0}
    ):
        here = asked[(asked["layer"] == layer) & (asked["dose"] == dose)]
        rises = None
        if unrelated is not None:
            cell = (unrelated["layer"] == layer) & (unrelated["dose"] == dose)
            rises = affirmation(unrelated[cell | (unrelated["layer"] < 0)], spec).unrelated.estimate(spec.alpha)
        moved = (here["contrast"] - here["before"]).to_numpy(dtype=np.float64)
        reach = float(np.nanmax(np.abs(moved), initial=1e-9))
        rows.append(
            GridRow(
                layer=layer,
                dose=dose,
                score=mean_of(moved, here, spec.clusters, (-reach, reach)).estimate(spec.alpha, 0.0),
                rise=mean_of(_rise(here), here, spec.clusters, DIFFERENCE).estimate(spec.alpha),
                unrelated=rises,
                mean_kl=float(here["impact_kl"].mean()),
                mean_entropy=float(here["entropy"].mean()),
                coverage=float(here["coverage"].mean()),
            )
        )
    return Grid(
        setting=setting,
        score_name=SCORE,
        rise_name=RISES[kind],
        rows=tuple(rows),
        score_unit=Unit.NUMBER,
        score_chance=0.0,
    )


def choose(grids: Mapping[str, Grid], spec: AnalysisSpec) -> Selection:
    """The cell and setting whose score is surely furthest from zero; of equals that with the larger score."""
    every = [(name, row) for name, found in grids.items() for row in found.rows]
    able = [item for item in every if item[1].coverage >= spec.minimum_coverage and item[1].mean_kl >= LEAST_CHANGE]
    setting, best = max(able or every, key=lambda item: (_surely(item[1]), abs(item[1].score.value), -item[1].layer))
    naive_setting, naive = max(every, key=lambda item: np.nan_to_num(item[1].rise.value, nan=-1.0))
    return Selection(
        grids=tuple(grids.values()),
        chosen=ShownCell(layer=best.layer, dose=best.dose),
        chosen_setting=setting,
        naive=naive.rise,
        naive_cell=ShownCell(layer=naive.layer, dose=naive.dose),
        naive_setting=naive_setting,
        found=best.rise,
    )


def _surely(row: GridRow) -> float:
    """How far the score is from zero at the nearer end of its interval; negative where the interval holds zero."""
    return max(row.score.low, -row.score.high)


def chosen_cell(selection: Selection) -> Cell:
    """The chosen cell as the study knows it."""
    return Cell(selection.chosen.layer, selection.chosen.dose)


def movement(table: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Target rows, and for each whether the right answer's log-odds rose over the clean trial (1, ties 0.5, or 0)."""
    here = _with_truth(table)
    return here, _higher(here)


def _with_truth(table: pd.DataFrame) -> pd.DataFrame:
    """Target rows with the log-odds of their right answer, and the same on the clean trial of their prompt."""
    target = table[table["arm"] == TARGETS[1]].reset_index(drop=True)
    truth = target["truth"].where(target["truth"] != "", target["task"].map(POSITIVE))
    clean = table[table["arm"] == TARGETS[0]].drop_duplicates("text").set_index("text")
    before = clean.loc[target["text"]].reset_index(drop=True)
    return target.assign(
        truth=truth,
        contrast=contrast(target, truth),
        before=contrast(before, truth),
        said_before=before["answer"],
    )


def _higher(here: pd.DataFrame) -> np.ndarray:
    moved = (here["contrast"] - here["before"]).to_numpy(dtype=np.float64)
    return np.asarray(np.heaviside(moved, 0.5), dtype=np.float64)


def _rise(here: pd.DataFrame) -> np.ndarray:
    """How the rate of the right answer changed, on prompts whose answer was valid with and without the injection."""
    now, then = (here["answer"] == here["truth"]), (here["said_before"] == here["truth"])
    valid = here["answer"].notna() & here["said_before"].notna()
    return np.where(valid, now.astype(float) - then.astype(float), np.nan)
