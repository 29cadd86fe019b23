"""What the control task shows: how far a model moves its state when told to, as numbers without a verdict."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.findings import Line, Mark, Picture
from firsthand.analysis.means import mean_of
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.labels_document import LabelsFinding
from firsthand.studies.labels.biofeedback import REDRAWN, TARGET
from firsthand.studies.labels.regulation import REQUEST, SENTENCES

_SPAN = (-20.0, 20.0)  # standard deviations


def regulation_finding(table: pd.DataFrame, spec: AnalysisSpec, shots: int) -> LabelsFinding:
    """The control task as a finding.

    Args:
        table: Rows of :func:`~firsthand.studies.labels.regulation.regulation_rows`, of all conversations.
        spec: The rules; conversations are the independent units.
        shots: Labelled texts before the request.
    """
    table = table.assign(shift=table["up"] - table["down"], stem=table["referent"].str.partition(" at ")[0])
    own = (table["arm"] == TARGET) & (table["stem"] == table["axis"])
    pictures = []
    for axis in dict.fromkeys(table["axis"][own]):
        along = table["axis"] == axis
        parts = {
            "its own labels were shown": own & along,
            "another axis's labels were shown": (table["arm"] == TARGET) & ~own & along,
            "labels drawn by lot were shown": (table["arm"] == REDRAWN) & along,
        }
        marks = tuple(_mark(name, table[rows], spec, first=not i) for i, (name, rows) in enumerate(parts.items()))
        pictures.append(
            Picture(
                title=f"Shift of the state along {axis}",
                axis="standard deviations between asking for label 1 and for label 0",
                unit="number",
                marks=tuple(mark for mark in marks if mark is not None),
                lines=(Line(label="no shift", value=0.0),),
            )
        )
    return LabelsFinding(
        name="regulation",
        title="Moving the state when asked to",
        asked=f"After {shots} labelled texts: {REQUEST.format(label='(a label)', sentence='(a fixed sentence)')}",
        setting={"sentences": f"{len(SENTENCES)}, two a conversation", "labelled texts before": str(shots)},
        pictures=tuple(pictures),
        notes=(
            "No verdict: moving a state is not reporting it, and a request that is understood moves states by its "
            "meaning.",
            "The sentence is the same whatever was asked, and over pairs of conversations label names are exchanged, "
            "so neither its words nor the name can carry a shift; of an odd number one has no partner.",
            "A shift that labels drawn by lot, or another axis's labels, bring about too says nothing of this axis.",
        ),
    )


def _mark(name: str, rows: pd.DataFrame, spec: AnalysisSpec, *, first: bool) -> Mark | None:
    if rows.empty:
        return None
    clusters: Sequence[str] = ("experiment",)
    found = mean_of(rows["shift"].to_numpy(dtype=np.float64), rows.reset_index(drop=True), clusters, _SPAN)
    return Mark(label=name, estimate=found.estimate(spec.alpha, 0.0), emphasis=first)
