"""Arms: chance for an arm is what its controls score, and units that were crossed are resampled crossed."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from firsthand.analysis.bootstrap import Statistic, Totals
from firsthand.analysis.checks.base import NOTHING, Checked, Signal
from firsthand.analysis.crossed import Crossed, crossed
from firsthand.analysis.findings import ALPHA, Finding, Line, Mark, Number, Picture
from firsthand.analysis.imported_study import ImportedStudy, column
from firsthand.analysis.inference import FloatArray, Measured
from firsthand.analysis.means import DIFFERENCE, SHARE, bare, pct, plural, points_text, statistic_of, units_text
from firsthand.analysis.results import Estimate


def check_arms(study: ImportedStudy) -> Checked:
    """Compare the main arm with every other arm on the same units, by the crossed bootstrap."""
    if study.main_arm is None or study.crossed is None or not study.has("arm", "correct"):
        return NOTHING
    rows = _on_main_units(study)
    arms = [str(arm) for arm in dict.fromkeys(rows["arm"])]
    if study.main_arm not in arms:
        return Checked(missing=(f"the arm {study.main_arm!r} has no scored rows",))
    sums = _crossed(study, rows, arms)
    scores = {arm: sums.estimate(_mean(arm), ALPHA) for arm in arms}
    fixed = _fixed(study)
    others = [arm for arm in arms if arm != study.main_arm and arm not in fixed]
    findings = [_scores(study, sums, scores, fixed, _elsewhere(study, arms, fixed))]
    signal = None
    if others:
        leads = {arm: sums.estimate(_lead(study.main_arm, arm), ALPHA, 0.0) for arm in others}
        strongest = max(others, key=lambda arm: scores[arm].value)
        cautious = _cautious(study, rows, strongest)
        findings.append(_against(study, scores, leads, strongest, cautious))
        signal = Signal(f"accuracy of {study.main_arm} beyond its strongest control, {strongest}", cautious)
    marks = tuple(
        Mark(label=f"{arm} (fixed by the design)" if arm in fixed else arm, estimate=scores[arm], emphasis=arm == main)
        for main in (study.main_arm,)
        for arm in sorted(arms, key=lambda arm: (arm != main, -scores[arm].value))
    )
    picture = Picture(
        title="Every arm, with crossed intervals",
        axis="Share right",
        unit="share",
        marks=marks[:9],
        lines=(Line(label="one half", value=0.5),),
    )
    missing = () if others else ("no control arm that could have scored otherwise",)
    return Checked(tuple(findings), signal, picture, missing)


def _fixed(study: ImportedStudy) -> dict[str, float]:
    """Arms that score one half by arithmetic, with their score."""
    scored = study.table[study.table["correct"].notna() & study.table["arm"].notna()]
    groups = {str(arm): rows for arm, rows in scored.groupby("arm", sort=False) if arm != study.main_arm}
    return {
        arm: float(np.average(column(rows, "correct"), weights=column(rows, "repeats")))
        for arm, rows in groups.items()
        if cannot_vary(rows)
    }


def _elsewhere(study: ImportedStudy, arms: Sequence[str], fixed: Mapping[str, float]) -> dict[str, float]:
    """Scores of arms on units that the main arm does not have, which it cannot be compared with."""
    scored = study.table[study.table["correct"].notna() & study.table["arm"].notna()]
    scored = scored[~scored["arm"].isin([*arms, *fixed])]
    return {str(arm): float(column(rows, "correct").mean()) for arm, rows in scored.groupby("arm", sort=False)}


def _on_main_units(study: ImportedStudy) -> pd.DataFrame:
    """Scored rows of every arm on the units that the main arm has; other units cannot be compared."""
    assert study.crossed is not None
    scored = study.table[study.table["correct"].notna() & study.table["arm"].notna()]
    main = scored[scored["arm"].eq(str(study.main_arm))]
    for name in study.crossed:
        scored = scored[scored[name].isin(set(main[name]))]
    return scored


def _crossed(study: ImportedStudy, rows: pd.DataFrame, arms: Sequence[str], value: str = "correct") -> Crossed:
    assert study.crossed is not None
    first, second = (pd.factorize(rows[name])[0].astype(np.int64) for name in study.crossed)
    columns: dict[str, FloatArray] = {}
    for arm in arms:
        inside = rows["arm"].eq(arm).to_numpy()
        columns[f"{arm}/sum"] = np.where(inside, column(rows, value), 0.0)
        columns[f"{arm}/n"] = inside.astype(np.float64)
    return crossed(columns, first, second, study.crossed)


def _mean(arm: str) -> Statistic:
    return lambda t: np.asarray(t[f"{arm}/sum"] / t[f"{arm}/n"], dtype=np.float64)


def _lead(main: str, other: str) -> Statistic:
    return lambda t: _mean(main)(t) - _mean(other)(t)


def cannot_vary(rows: pd.DataFrame) -> bool:
    """Whether every input of an arm is scored equally often against each of two truths.

    Such an arm is right in one half of its rows whatever it answers: arithmetic, not evidence.
    """
    if "input_hash" not in rows or "truth" not in rows or rows["input_hash"].isna().any() or rows.empty:
        return False
    counts = rows.groupby(["input_hash", "truth"], sort=False)["repeats"].sum().unstack()
    return bool(
        counts.shape[1] == 2 and counts.notna().all(axis=None) and (counts.iloc[:, 0] == counts.iloc[:, 1]).all()
    )


def _cautious(study: ImportedStudy, rows: pd.DataFrame, other: str) -> Measured:
    """The same lead seen through each kind of unit alone, with Student's t; the widest speaks."""
    main = rows["arm"].eq(str(study.main_arm)).to_numpy()
    control = rows["arm"].eq(other).to_numpy()
    right = column(rows, "correct")
    both = main | control
    sums: dict[str, FloatArray] = {
        "s1": np.where(main, right, 0.0)[both],
        "n1": main[both].astype(np.float64),
        "s0": np.where(control, right, 0.0)[both],
        "n0": control[both].astype(np.float64),
    }

    def lead(t: Totals) -> FloatArray:
        return np.asarray(t["s1"] / t["n1"] - t["s0"] / t["n0"], dtype=np.float64)

    assert study.crossed is not None
    return statistic_of(sums, rows[both], study.crossed, lead, DIFFERENCE)


def _text(found: Estimate) -> str:
    return f"{pct(found.value)} [{pct(found.low)}, {pct(found.high)}]"


def _how(sums: Crossed) -> str:
    (first, second), (many, few) = sums.names, sums.sizes
    listed = f"all {sums.resamples:,} listed" if sums.method == "exact" else f"{sums.resamples:,} simulated"
    return f"crossed bootstrap over {plural(many, first)} and {plural(few, second)}, {listed}"


def _scores(
    study: ImportedStudy,
    sums: Crossed,
    scores: dict[str, Estimate],
    fixed: Mapping[str, float],
    elsewhere: Mapping[str, float],
) -> Finding:
    assert study.main_arm is not None
    main = scores[study.main_arm]
    rest = "; ".join(
        f"{arm} {_text(found)}" for arm, found in scores.items() if arm != study.main_arm and arm not in fixed
    )
    sentence = f"Arm {study.main_arm}: {_text(main)} right ({_how(sums)})."
    sentence += f" The others: {rest}." if rest else ""
    if fixed:
        rates = ", ".join(f"{arm} ({value:.3f})" for arm, value in fixed.items())
        sentence += (
            " Fixed by the design, because every input is scored against both answers equally often, and so no "
            f"evidence: {rates}."
        )
    if elsewhere:
        rates = ", ".join(f"{arm} {pct(value)}" for arm, value in elsewhere.items())
        sentence += f" On other {study.clusters[0]}s, and so not to be compared: {rates}."
    return Finding(
        name="arms",
        tone="result",
        sentence=sentence,
        numbers=tuple(
            Number(name=f"accuracy, {arm}", value=found.value, estimate=found) for arm, found in scores.items()
        ),
        units=main.units,
        cluster=main.cluster,
    )


def _against(
    study: ImportedStudy,
    scores: dict[str, Estimate],
    leads: dict[str, Estimate],
    strongest: str,
    cautious: Measured,
) -> Finding:
    words = "; ".join(
        f"{100 * found.value:+.1f} points [{100 * found.low:+.1f}, {100 * found.high:+.1f}] over {arm}"
        for arm, found in leads.items()
    )
    numbers = [Number(name=f"lead over {arm}", value=f.value, unit="points", estimate=f) for arm, f in leads.items()]
    numbers.append(
        Number(
            name=f"lead over {strongest}, by the more cautious unit",
            value=cautious.value,
            unit="points",
            estimate=None if cautious.unknown else cautious.estimate(ALPHA, 0.0),
        )
    )
    lead = leads[strongest]
    return Finding(
        name="against-controls",
        tone="result",
        sentence=f"Chance for {study.main_arm} is what its controls score, not one half: the strongest, {strongest}, "
        f"scores {pct(scores[strongest].value)}. On the same units {study.main_arm} is ahead by {words}. Seen through "
        f"the unit with the widest interval alone, with Student's t, the lead over {strongest} is "
        f"{points_text(cautious)} ({units_text(cautious)}).",
        numbers=tuple(numbers),
        units=lead.units,
        cluster=lead.cluster,
    )


def check_twins(study: ImportedStudy) -> Checked:
    """Pairs that differ in the state only: both have to be right, which a constant or a prompt reader never is."""
    if study.main_arm is None or study.crossed is None or not study.has("twin", "arm", "correct", "truth"):
        return NOTHING
    pairs = twin_pairs(study)
    arms = [str(arm) for arm in dict.fromkeys(pairs["arm"])]
    if study.main_arm not in arms:
        return NOTHING
    main = pairs[pairs["arm"].eq(study.main_arm)]
    for name in study.crossed:
        pairs = pairs[pairs[name].isin(set(main[name]))]
    arms = [arm for arm in arms if pairs["arm"].eq(arm).any()]
    sums = _crossed(study, pairs, arms, "both")
    found = {arm: sums.estimate(_mean(arm), ALPHA) for arm in arms}
    rest = "; ".join(f"{arm} {_text(value)}" for arm, value in found.items() if arm != study.main_arm)
    sentence = (
        f"In pairs that differ in the state only, both answers are right in {_text(found[study.main_arm])} of pairs in "
        f"arm {study.main_arm} ({_how(sums)}); {rest}. {_floor(study)}"
    )
    numbers = [Number(name=f"pairs right, {arm}", value=value.value, estimate=value) for arm, value in found.items()]
    findings = [
        Finding(
            name="twin-pairs",
            tone="result",
            sentence=sentence,
            numbers=tuple(numbers),
            units=found[study.main_arm].units,
            cluster=found[study.main_arm].cluster,
        )
    ]
    if study.within is not None and main[study.within].nunique() > 1:
        findings.append(_by_run(study, main))
    return Checked(tuple(findings))


def _floor(study: ImportedStudy) -> str:
    """What needs no state, in words: pairs of one prompt are never both right by reading the prompt."""
    if study.has("prompt_hash"):
        scored = study.table[study.table["correct"].notna() & study.table["twin"].notna()]
        if (scored.groupby(["arm", "twin"], sort=False)["prompt_hash"].nunique() == 1).all():
            return "Both of a pair have one prompt: reading it alone gets no pair right, and a coin gets one in four."
    return "A coin gets one pair in four."


def twin_pairs(study: ImportedStudy) -> pd.DataFrame:
    """One row a pair whose two members have different true answers, with ``both`` 1.0 where both are right."""
    scored = study.table[study.table["correct"].notna() & study.table["twin"].notna()]
    grouped = scored.groupby(["arm", "twin"], sort=False)
    whole = (grouped["truth"].transform("nunique") == 2) & (grouped["truth"].transform("size") == 2)
    scored = scored[whole]
    pairs = scored.drop_duplicates(["arm", "twin"]).copy()
    both = scored.groupby(["arm", "twin"], sort=False)["correct"].min()
    pairs["both"] = both.reindex(pd.MultiIndex.from_frame(pairs[["arm", "twin"]])).to_numpy(dtype=np.float64)
    return pairs


def _by_run(study: ImportedStudy, main: pd.DataFrame) -> Finding:
    assert study.within is not None
    by_run = main.groupby(study.within, sort=True)["both"].mean()
    sums: dict[str, FloatArray] = {"sum": column(main, "both"), "n": np.ones(len(main))}
    mean = statistic_of(sums, main, study.clusters, lambda t: np.asarray(t["sum"] / t["n"], dtype=np.float64), SHARE)
    rows = study.judged
    plain = float(column(rows, "correct").mean())
    runs = plural(len(by_run), study.within)
    listed = ", ".join(f"{study.within} {run}: {value:.3f}" for run, value in by_run.items())
    made = None if mean.unknown else mean.estimate(ALPHA)
    interval = "" if made is None else f" [{made.low:.3f}, {made.high:.3f}]"
    return Finding(
        name="training-runs",
        tone="result",
        sentence=f"Both of a pair right, by {study.within}: {listed}; mean {mean.value:.3f}{interval} over {runs}, the "
        f"widest interval over {', '.join(study.clusters)}. Single rows are right in {pct(plain)}: a row counts half a "
        f"pair as a success. {runs} are a range, not a population.",
        numbers=(
            *(bare(f"pairs right, {study.within} {run}", float(value)) for run, value in by_run.items()),
            Number(name="pairs right, mean", value=mean.value, estimate=made),
            bare("rows right", plain),
        ),
        units=len(by_run),
        cluster=study.within,
    )
