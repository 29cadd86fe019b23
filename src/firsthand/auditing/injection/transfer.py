"""What carries over: the report and a probe, each met with something that was new to it.

The probe is fitted once, on the choosing concepts in the chosen setting, and reads the stream where the report is made.
The report has nothing to be fitted; its row says how consistently the injection moves it there.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.means import mean_of
from firsthand.auditing.injection.columns import residuals
from firsthand.auditing.injection.plan import TARGETS, Pick
from firsthand.auditing.injection.selecting import movement
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.injection_document import TransferRow
from firsthand.states.probe import LinearProbe, cross_fitted_reading, fit_probe
from firsthand.studies.injection.drafts import Task

EXPLAINED: Final[Mapping[str, tuple[str, str]]] = {
    "layer-below": ("the layer below", "The vector is added at the next lower layer of the grid, in the same dose."),
    "layer-above": ("the layer above", "The vector is added at the next higher layer of the grid, in the same dose."),
    "half-dose": ("half the dose", "The vector is half as long."),
    "double-dose": ("double the dose", "The vector is twice as long."),
    "recipe": ("vectors of the other recipe", "The concept's vector is made in the other published way."),
    "labels": ("other labels", "Answers are letters and not digits."),
    "framing": ("the other framing", "The rules are conveyed in the other framing."),
    "voice": ("another voice", "The question is put in words that this concept was not asked in."),
}
"""What is new in each step of the plan, beside the concepts."""


def transfer_rows(tables: Mapping[str, pd.DataFrame], pick: Pick, spec: AnalysisSpec) -> tuple[TransferRow, ...]:
    """One row for everything that was new.

    Args:
        tables: Trials by step: ``training``, ``detection-2`` and the steps ``transfer-...``.
        pick: The chosen setting.
        spec: The rules.
    """
    training = _asked(tables["training"])
    probe = fit_probe(residuals(training), _truth(training), training["concept"].tolist())
    here = residuals(training)
    held_out = cross_fitted_reading(here, _truth(training), training["concept"].tolist())
    rows = [
        _row("nothing", "The choosing concepts themselves; the probe reads each with others.", training, held_out, spec)
    ]
    told = "Concepts on which nothing was chosen and no probe fitted."
    rows.append(_tested("other concepts", told, tables["detection-2"], probe, spec))
    for name, (new, told) in EXPLAINED.items():
        table = tables.get(f"transfer-{name}")
        if table is None or (name.startswith("layer-") and set(table["layer"]) == {-1, pick.cell.layer}):
            continue
        rows.append(_tested(f"other concepts and {new}", told, table, probe, spec))
    return tuple(rows)


def _tested(new: str, told: str, table: pd.DataFrame, probe: LinearProbe, spec: AnalysisSpec) -> TransferRow:
    here = _asked(table)
    return _row(new, told, here, probe.scores(residuals(here)), spec)


def _row(new: str, told: str, here: pd.DataFrame, scores: np.ndarray, spec: AnalysisSpec) -> TransferRow:
    target, moved = movement(here)
    right = ((scores > 0) == _truth(here).astype(bool)).astype(float)
    return TransferRow(
        new=new,
        explained=told,
        report=mean_of(moved, target, spec.clusters).estimate(spec.alpha, 0.5),
        probe=mean_of(right, here, spec.clusters).estimate(spec.alpha, 0.5),
    )


def _asked(table: pd.DataFrame) -> pd.DataFrame:
    """Clean and target trials of the injection question: one of each for every prompt."""
    return table[(table["task"] == str(Task.DETECTION)) & table["arm"].isin(TARGETS)].reset_index(drop=True)


def _truth(table: pd.DataFrame) -> np.ndarray:
    return (table["arm"] == TARGETS[1]).to_numpy(dtype=np.int64)
