"""Controls and observers, where a table has them: rates by trial kind, and gaps over observers."""

import numpy as np

from firsthand.analysis.bootstrap import Totals
from firsthand.analysis.checks.base import NOTHING, Checked, Signal
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy, column, flags
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DIFFERENCE, mean_of, number, points_text, statistic_of, units_of, units_text
from firsthand.vocabulary import CONTROLS, Capability, Kind

PREFIX = "observer:"
QUIET = (Kind.BASELINE, Kind.SHAM)


def check_observers(study: ImportedStudy) -> Checked:
    """The report minus every observer, on the same rows."""
    names = [str(name) for name in study.table if str(name).startswith(PREFIX)]
    if not names or not study.has("correct"):
        return NOTHING
    rows = study.judged
    gaps: dict[str, Measured] = {}
    for name in names:
        lead = column(rows, "correct") - column(rows, name)
        gaps[name.removeprefix(PREFIX)] = mean_of(lead, rows, study.clusters, DIFFERENCE)
    words = "; ".join(f"{points_text(gap)} over {name}" for name, gap in gaps.items())
    weakest = min(gaps.values(), key=lambda gap: gap.value)
    units, cluster = units_of(weakest)
    finding = Finding(
        name="observers",
        tone="result",
        sentence=f"The report is ahead of the observers of the public evidence by {words} ({units_text(weakest)}).",
        numbers=tuple(number(f"lead over {name}", gap, "points", 0.0) for name, gap in gaps.items()),
        units=units,
        cluster=cluster,
    )
    return Checked((finding,), observers=gaps)


def check_margins(study: ImportedStudy) -> Checked:
    """Detection: how often "yes" on the target, beyond how often on each control kind."""
    if study.capability is not Capability.DETECTION or study.control or not study.has("answer"):
        return NOTHING
    answered = study.table.loc[study.table["answer"].notna(), "kind"]
    present = [kind for kind in CONTROLS if answered.eq(kind.value).any()]
    if not present or not answered.eq(Kind.TARGET.value).any():
        return NOTHING
    margins = {kind: _between(study, (Kind.TARGET,), (kind,)) for kind in present}
    quiet = tuple(kind for kind in QUIET if kind in present)
    loud = [kind for kind in present if kind not in QUIET]
    alarms = {kind: _between(study, (kind,), quiet) for kind in loud} if quiet else {}
    words = "; ".join(f"{points_text(margin)} over {kind.value}" for kind, margin in margins.items())
    smallest = min(margins, key=lambda kind: margins[kind].value)
    units, cluster = units_of(margins[smallest])
    finding = Finding(
        name="margins",
        tone="result",
        sentence=f"It says {study.options[0]} more often on the target by {words} ({units_text(margins[smallest])}).",
        numbers=tuple(number(f"margin over {kind.value}", found, "points", 0.0) for kind, found in margins.items()),
        units=units,
        cluster=cluster,
    )
    signal = Signal(f"rate of {study.options[0]} on the target beyond {smallest.value}", margins[smallest])
    return Checked((finding,), signal, alarms=alarms, margins=margins)


def _between(study: ImportedStudy, some: tuple[Kind, ...], others: tuple[Kind, ...]) -> Measured:
    kinds = study.table["kind"]
    left, right = (flags(kinds.isin([kind.value for kind in group])) for group in (some, others))
    used = ((left + right) > 0) & study.table["answer"].notna().to_numpy()  # no answer is neither yes nor no
    rows = study.table[used]
    yes = flags(rows["answer"].eq(study.options[0]))
    left, right = left[used], right[used]
    sums: dict[str, FloatArray] = {"y1": yes * left, "n1": left, "y0": yes * right, "n0": right}
    return statistic_of(sums, rows, study.clusters, _lead, DIFFERENCE)


def _lead(t: Totals) -> FloatArray:
    return np.asarray(t["y1"] / t["n1"] - t["y0"] / t["n0"], dtype=np.float64)
