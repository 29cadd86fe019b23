"""Position bias: an answer that names a place is balanced over both orders, or it shows the bias."""

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.checks.base import NOTHING, Checked, Signal, marks_of
from firsthand.analysis.findings import ALPHA, Finding, Line, Number, Picture
from firsthand.analysis.imported_study import ImportedStudy, column, flags
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import (
    DIFFERENCE,
    SHARE,
    bare,
    clusters_of,
    mean_of,
    number,
    plain_text,
    points_text,
    share_text,
    statistic_of,
    units_of,
    units_text,
)
from firsthand.analysis.results import SignalDetection
from firsthand.analysis.signal_detection import signal_detection


def check_orders(study: ImportedStudy) -> Checked:
    """Take every pair in both orders; say how far the answer and the logits follow what was exchanged."""
    if not study.pair or len(study.options) != 2 or not study.has("truth", "answer", "correct"):
        return NOTHING
    rows = study.judged
    paired = _both_orders(rows, study)
    if paired.empty:
        return Checked(missing=("no pair was shown in both orders, so position bias cannot be taken out",))
    balanced = _balanced(paired, study)
    findings = [_bias(study, rows, paired, balanced)]
    found = signal_detection(
        flags(paired["truth"].eq(study.options[0])),
        flags(paired["answer"].eq(study.options[0])),
        clusters_of(paired, study.clusters),
        ALPHA,
    )
    findings += [] if found is None else [_sensitivity(study, found)]
    signal = Signal("accuracy balanced over both orders, beyond one half", balanced)
    if study.has("contrast"):
        logits = _contrast(study, paired)
        findings += [] if logits is None else [logits]
    plain = mean_of(column(rows, "correct"), rows, study.clusters)
    by_truth = {
        f"When {name} is right": mean_of(
            column(rows, "correct")[rows["truth"].eq(name)], rows[rows["truth"].eq(name)], study.clusters
        )
        for name in study.options
    }
    picture = Picture(
        title="Right answers by order",
        axis="Share right",
        unit="share",
        marks=marks_of({**by_truth, "Both orders": plain}, "Both orders"),
        lines=(Line(label="one half", value=0.5),),
    )
    return Checked(tuple(findings), signal, picture)


def _key(study: ImportedStudy) -> list[str]:
    return list(dict.fromkeys([*study.cells, *study.pair, *study.clusters]))


def _both_orders(rows: pd.DataFrame, study: ImportedStudy) -> pd.DataFrame:
    both = rows.groupby(_key(study), sort=False)["truth"].transform("nunique") == 2
    return rows[both & rows["truth"].isin(study.options)]


def _balanced(rows: pd.DataFrame, study: ImportedStudy) -> Measured:
    """Mean of the accuracies in the two orders, minus one half."""
    first, right = rows["truth"].eq(study.options[0]).to_numpy(), column(rows, "correct")
    sums: dict[str, FloatArray] = {
        "n1": first.astype(np.float64),
        "n0": (~first).astype(np.float64),
        "r1": np.where(first, right, 0.0),
        "r0": np.where(first, 0.0, right),
    }

    def balanced(t: Totals) -> FloatArray:
        return np.asarray((t["r1"] / t["n1"] + t["r0"] / t["n0"]) / 2.0 - 0.5, dtype=np.float64)

    return statistic_of(sums, rows, study.clusters, balanced, (-0.5, 0.5))


def _bias(study: ImportedStudy, rows: pd.DataFrame, paired: pd.DataFrame, balanced: Measured) -> Finding:
    given = rows["answer"].dropna().astype(str)
    favourite = str(given.mode().iloc[0])
    share = mean_of(flags(rows["answer"].eq(favourite)), rows, study.clusters)
    whole = mean_of(column(rows, "correct"), rows, study.clusters)
    cells = list(dict.fromkeys([*study.cells, *study.pair[:1]]))
    by_order = paired.groupby([*cells, "truth"], sort=False)["correct"].mean()
    perfect, ordered = int((by_order == 1.0).sum()), len(by_order)
    by_cell = by_order.groupby(level=list(range(len(cells))), sort=False).mean()
    best = float(by_cell.max())
    right = int(column(rows, "correct").sum())
    sentence = (
        f"{right:,} of {len(rows):,} answers are right, {share_text(whole)}, and the answer is {favourite} in "
        f"{share_text(share)} of them, whatever was done. That makes {perfect} of {ordered} cells of one order "
        f"perfect; balanced over both orders none of {len(by_cell)} cells exceeds {best:.3f}, and all together differ "
        f"from one half by {points_text(balanced)} ({units_text(balanced)})."
    )
    units, cluster = units_of(balanced)
    return Finding(
        name="order",
        tone="caution",
        sentence=sentence,
        numbers=(
            bare("right", right, "count"),
            bare("answers", len(rows), "count"),
            number("accuracy", whole),
            number(f"share of {favourite}", share),
            bare("cells of one order that are perfect", perfect, "count"),
            bare("cells of one order", ordered, "count"),
            bare("best cell, balanced over order", best),
            number("balanced accuracy beyond one half", balanced, "points", 0.0),
        ),
        units=units,
        cluster=cluster,
    )


def _sensitivity(study: ImportedStudy, found: SignalDetection) -> Finding:
    d, c = found.d_prime, found.criterion
    leaning = "reluctance" if c.value > 0 else "readiness"
    return Finding(
        name="signal-detection",
        tone="result",
        sentence=f"Sensitivity d' is {d.value:.2f} [{d.low:.2f}, {d.high:.2f}] and the criterion c is {c.value:.2f} "
        f"[{c.low:.2f}, {c.high:.2f}]: {leaning} to say {study.options[0]} ({d.units} {d.cluster}s).",
        numbers=(
            Number(name="d prime", value=d.value, unit="number", estimate=d),
            Number(name="criterion c", value=c.value, unit="number", estimate=c),
        ),
        units=d.units,
        cluster=d.cluster,
    )


def _contrast(study: ImportedStudy, paired: pd.DataFrame) -> Finding | None:
    """How the logit contrast moves when only the order is exchanged: bias cancels, a signal stays."""
    wide = paired.pivot_table(index=_key(study), columns="truth", values="contrast", aggfunc="mean").reset_index()
    moved = column(wide, study.options[0]) - column(wide, study.options[1])
    keep = np.isfinite(moved)
    if not keep.any():
        return None
    wide, moved = wide[keep], moved[keep]
    reach = float(np.abs(moved).max()) or 1.0
    half = mean_of(moved / 2.0, wide, study.clusters, (-reach / 2, reach / 2))
    follows = mean_of(np.heaviside(moved, 0.5), wide, study.clusters, SHARE)
    beyond = mean_of(np.heaviside(moved, 0.5) - 0.5, wide, study.clusters, DIFFERENCE)
    direction = "in neither direction beyond chance"
    if half.p_above(0.0) <= ALPHA:
        direction = "with what was done"
    elif half.p_below(0.0) <= ALPHA:
        direction = "against what was done: a consistent signal of the wrong sign"
    units, cluster = units_of(half)
    return Finding(
        name="signed-contrast",
        tone="result",
        sentence=f"Over {len(wide):,} pairs in both orders the logit contrast, with position bias cancelled, moves by "
        f"{plain_text(half)} logits towards the right answer, and goes the right way in {share_text(follows)} of pairs "
        f"(ties count half): it moves {direction} ({units_text(half)}).",
        numbers=(
            number("signed logit contrast", half, "number", 0.0),
            number("pairs in which the contrast goes the right way", follows),
            number("the same beyond one half", beyond, "points", 0.0),
        ),
        units=units,
        cluster=cluster,
    )
