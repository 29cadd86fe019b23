"""Yes/no answers: false alarms where there are rows without injection, and "yes" to a question whose answer is no."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked, marks_of
from firsthand.analysis.findings import ALPHA, Finding, Line, Number, Picture
from firsthand.analysis.imported_study import ImportedStudy, cell_name, column, flags
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import (
    bare,
    clusters_of,
    mean_of,
    number,
    plain_text,
    share_text,
    units_of,
    units_text,
)
from firsthand.analysis.signal_detection import signal_detection
from firsthand.vocabulary import Capability, Kind


def check_false_alarms(study: ImportedStudy) -> Checked:
    """The rate of false alarms, or that it cannot be known."""
    if study.capability is not Capability.DETECTION or study.control:
        return NOTHING
    table = study.table
    target, quiet = table[table["kind"].eq(Kind.TARGET.value)], table[table["kind"].eq(Kind.BASELINE.value)]
    contradicting = _contradiction(study, target)
    if quiet.empty or (study.has("answer") and _answered(quiet).empty):
        words = study.words
        # with settings of their own (an instruction), rows are not pooled: rates by setting stand in another finding
        rate = _said_yes(_answered(target), study) if study.has("answer") and not study.has("hinted") else None
        said = " How often it says yes" if rate is None else ""
        if rate is not None:
            said = f" It says {study.options[0]} in {share_text(rate)} of {words.affected}; how often it says so"
        finding = Finding(
            name=words.gap,
            tone="gap",
            sentence=f"There are no {words.quiet}.{said} when {words.nothing} is "
            "not known, so no rate here can be called a detection.",
            numbers=() if rate is None else (number(f"share of {study.options[0]} on {words.affected}", rate),),
            units=None if rate is None else units_of(rate)[0],
            cluster=None if rate is None else units_of(rate)[1],
        )
        return Checked((finding, *contradicting), missing=(f"no {words.quiet}: no false-alarm rate",))
    if not study.has("answer"):
        return Checked(contradicting)
    return Checked((_alarms(study, _answered(target), _answered(quiet)), *contradicting))


def _answered(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with an answer: where none came, neither "yes" nor "no" was said."""
    return rows[rows["answer"].notna()]


def _said_yes(rows: pd.DataFrame, study: ImportedStudy) -> Measured:
    return mean_of(flags(rows["answer"].eq(study.options[0])), rows, study.clusters)


def _alarms(study: ImportedStudy, target: pd.DataFrame, quiet: pd.DataFrame) -> Finding:
    hit, alarm = _said_yes(target, study), _said_yes(quiet, study)
    both = pd.concat([target, quiet])
    truth = flags(both["kind"].eq(Kind.TARGET.value))
    answer = flags(both["answer"].map({study.options[0]: 1.0, study.options[1]: 0.0}))
    found = signal_detection(truth, answer, clusters_of(both, study.clusters), ALPHA)
    sentence = (
        f"It says {study.options[0]} in {share_text(hit)} of {study.words.affected} and in {share_text(alarm)} of the "
        "others"
    )
    numbers = [number("hits", hit), number("false alarms", alarm)]
    if found is not None:
        sentence += f": d' {found.d_prime.value:.2f}, c {found.criterion.value:.2f}"
        numbers += [
            Number(name="d prime", value=found.d_prime.value, unit="number", estimate=found.d_prime),
            Number(name="criterion c", value=found.criterion.value, unit="number", estimate=found.criterion),
        ]
    units, cluster = units_of(hit)
    return Finding(
        name="false-alarms",
        tone="result",
        sentence=f"{sentence} ({units_text(hit)}).",
        numbers=tuple(numbers),
        units=units,
        cluster=cluster,
    )


def _contradiction(study: ImportedStudy, rows: pd.DataFrame) -> tuple[Finding, ...]:
    """Rows scored as a success that need a "yes", though the answer is marked as no "yes"."""
    if not study.has("answer", "correct"):
        return ()
    right = column(rows, "correct") == 1.0
    against = right & rows["answer"].ne(study.options[0]).to_numpy()
    if not against.any():
        return ()
    return (
        Finding(
            name="contradiction",
            tone="caution",
            sentence=f"{int(against.sum())} of {int(right.sum())} successes are marked as not having said "
            f"{study.options[0]}, though success means to say it and then to name what was injected: the judge "
            f"contradicts itself, and without them {int((right & ~against).sum())} successes remain.",
            numbers=(
                bare("successes", int(right.sum()), "count"),
                bare("successes without the answer that they need", int(against.sum()), "count"),
            ),
        ),
    )


def check_affirmative_shift(study: ImportedStudy) -> Checked:
    """Whether the same injections raise "yes" on a question that has nothing to do with them."""
    if not study.control or study.dose is None or len(study.options) != 2:
        return NOTHING
    table = study.table
    injected, quiet = table[table[study.dose] > 0], table[table[study.dose] == 0]
    if injected.empty or quiet.empty:
        return Checked(missing=("the control question lacks rows with or without injection",))
    findings = []
    picture = None
    if study.has("answer"):
        findings.append(_yes_rises(study, injected, quiet))
    if study.has("contrast"):
        injected, quiet = (rows[rows["contrast"].notna()] for rows in (injected, quiet))
        if injected.empty or quiet.empty:
            return Checked(tuple(findings))
        findings.append(_contrast_rises(study, injected, quiet))
        picture = _picture(study, injected, quiet)
    return Checked(tuple(findings), picture=picture)


def _yes_rises(study: ImportedStudy, injected: pd.DataFrame, quiet: pd.DataFrame) -> Finding:
    yes, no = study.options
    assert study.dose is not None
    said = injected["answer"].eq(yes)
    by_cell = said.groupby([injected[name] for name in study.cells], sort=True).agg(["sum", "size"])
    most = int(by_cell["sum"].max())
    top = by_cell[by_cell["sum"] == most]
    where = "; ".join(cell_name(study.cells, index) for index in top.index[:4])
    rate = _said_yes(injected, study)
    neither = mean_of(flags(~injected["answer"].isin([yes, no])), injected, study.clusters)
    before, published = int(quiet["answer"].eq(yes).sum()), int(quiet["repeats"].sum())
    lone = "one measurement" if len(quiet) == 1 else f"{len(quiet)} measurements"
    size = int(top["size"].iloc[0])
    units, cluster = units_of(rate)
    return Finding(
        name="yes-on-control-question",
        tone="caution",
        sentence=f'The same injections under a question whose answer is "no": without injection {yes!r} is given '
        f"{before} times in {published} rows ({lone}); with injection it rises to {most} of {size} ({where}), and to "
        f"{share_text(rate)} over all {len(injected)} injected rows ({units_text(rate)}). {share_text(neither)} of "
        f"them answer neither {yes} nor {no}: they are invalid, and not counted as {no!r}.",
        numbers=(
            bare(f"{yes} without injection", before, "count"),
            bare("published rows without injection", published, "count"),
            bare("measurements without injection", len(quiet), "count"),
            bare(f"{yes} in the cell with most", most, "count"),
            bare("rows of that cell", size, "count"),
            number(f"share of {yes} over injected rows", rate),
            number("share of invalid answers over injected rows", neither),
        ),
        units=units,
        cluster=cluster,
    )


def shift_of(study: ImportedStudy, injected: pd.DataFrame, quiet: pd.DataFrame) -> Measured:
    """Mean contrast of injected rows minus that without injection, which is one number where it is deterministic."""
    base = float(column(quiet, "contrast").mean())
    moved = column(injected, "contrast") - base
    reach = float(np.nanmax(np.abs(moved))) or 1.0
    return mean_of(moved, injected, study.clusters, (-reach, reach))


def _contrast_rises(study: ImportedStudy, injected: pd.DataFrame, quiet: pd.DataFrame) -> Finding:
    yes, no = study.options
    base = float(column(quiet, "contrast").mean())
    by_cell = injected.groupby(list(study.cells), sort=True)["contrast"].mean()
    highest = by_cell.idxmax()
    rows = injected[_matches(injected, study.cells, highest)]
    at = mean_of(column(rows, "contrast"), rows, study.clusters, (-1e3, 1e3))
    shift = shift_of(study, injected, quiet)
    above = int((by_cell > base).sum())
    shown = shift.p_above(0.0) <= ALPHA
    conclusion = (
        f"the injections push the answer towards {yes!r} whatever is asked (an affirmative shift), so a {yes}/{no} "
        "answer of this model under them is no sign of detection"
        if shown
        else f"no shift towards {yes!r} is shown"
    )
    units, cluster = units_of(shift)
    return Finding(
        name="affirmative-shift",
        tone="caution" if shown else "result",
        sentence=f"The mean {yes}-minus-{no} logit goes from {base:.1f} without injection to {plain_text(at)} "
        f"({cell_name(study.cells, highest)}), and is above its uninjected value in {above} of {len(by_cell)} cells; "
        f"over all injected rows it rises by {plain_text(shift)} ({units_text(shift)}): {conclusion}.",
        numbers=(
            bare("mean contrast without injection", base, "number"),
            number("highest mean contrast of a cell", at, "number"),
            number("rise of the contrast over injected rows", shift, "number", 0.0),
            bare("cells above the uninjected value", above, "count"),
            bare("cells", len(by_cell), "count"),
        ),
        units=units,
        cluster=cluster,
    )


def _matches(rows: pd.DataFrame, names: Sequence[str], values: object) -> FloatArray:
    inside = np.ones(len(rows), dtype=bool)
    for name, value in zip(names, values if isinstance(values, tuple) else (values,), strict=True):
        inside &= rows[name].eq(value).to_numpy()
    return np.asarray(inside)


def _picture(study: ImportedStudy, injected: pd.DataFrame, quiet: pd.DataFrame) -> Picture:
    yes, no = study.options
    assert study.dose is not None
    base = float(column(quiet, "contrast").mean())
    named = {}
    for dose in sorted(injected[study.dose].unique()):
        rows = injected[injected[study.dose].eq(dose)]
        named[f"{study.dose} {dose:g}"] = mean_of(column(rows, "contrast"), rows, study.clusters, (-1e3, 1e3))
    return Picture(
        title=f"{yes.capitalize()} minus {no} on a question whose answer is no",
        axis=f"Logit of {yes} minus logit of {no}",
        unit="number",
        marks=marks_of(named, list(named)[-1]),
        lines=(Line(label="not injected", value=base),),
    )
