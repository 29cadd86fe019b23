"""The control task is told as shifts with intervals over conversations, and bears no verdict."""

import numpy as np
import pandas as pd
import pytest

from firsthand.auditing.labels.regulating import regulation_finding
from firsthand.claims.claim import AnalysisSpec

SPEC = AnalysisSpec(clusters=("group", "experiment"))


def rows(shift: float) -> pd.DataFrame:
    """Twenty conversations of two axes, in which the own labels move the state by ``shift``."""
    rng = np.random.default_rng(0)
    made = []
    for experiment in range(20):
        for arm, shown in (("target", "probe at 1"), ("target", "pc1 at 1"), ("redrawn", "none")):
            for axis in ("probe", "pc1"):
                moved = shift if shown.startswith(axis) else 0.0
                made.append(
                    {"arm": arm, "referent": shown, "axis": axis, "experiment": experiment, "down": 0.0}
                    | {"up": moved + rng.normal(0, 0.1)}
                )
    return pd.DataFrame(made)


def test_a_shift_along_the_own_axis_stands_beside_what_lots_and_other_axes_bring_about() -> None:
    finding = regulation_finding(rows(0.5), SPEC, 30)
    assert finding.results == ()
    for picture in finding.pictures:
        own, other, lot = picture.marks
        assert own.emphasis
        assert own.estimate.value == pytest.approx(0.5, abs=0.06)
        assert own.estimate.low > 0.3
        assert own.estimate.units == 20
        for control in (other, lot):
            assert abs(control.estimate.value) < 0.08


def test_with_one_axis_there_is_no_other_to_compare_with() -> None:
    table = rows(0.0)
    finding = regulation_finding(table[(table["axis"] == "pc1") & (table["referent"] != "probe at 1")], SPEC, 30)
    assert [mark.label for mark in finding.pictures[0].marks] == [
        "its own labels were shown",
        "labels drawn by lot were shown",
    ]
