"""Cues in the prompt: following one is not the same as being changed by it, and neither is saying so."""

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.checks.shares import (
    Mask,
    Shares,
    constant,
    crossed_units,
    cued,
    difference,
    numbers_of,
    points_words,
    settings,
    share_words,
)
from firsthand.analysis.findings import Finding, Number
from firsthand.analysis.imported_study import ImportedStudy, column, flags
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import bare, pct
from firsthand.vocabulary import Kind

OFTEN, SELDOM = 0.5, 0.25
"""A letter given more often than the first, though it is right less often than the second, points to a bias."""


_QUOTED = (
    " Letters were read from texts: a text that quotes the hint may count as following and as acknowledging it at once."
)


def check_cues(study: ImportedStudy) -> Checked:
    """How often the option hinted at is given, what that is worth, and whether saying so goes with it."""
    rows = cued(study)
    if crossed_units(study) is None or rows.empty or not study.has("followed", "reply"):
        return NOTHING
    coarse = settings(rows, study.cells[:1])
    findings: list[Finding] = []
    if study.has("key"):
        findings.append(_followed(study, rows, coarse))
        others = other_options(rows)
        findings += [] if others is None else [_other_options(study, rows, coarse, others)]
        again = _under_other_cues(study, rows)
        findings += [] if again is None else [again]
        findings += _letters(study, rows)
    concluded: tuple[str, ...] = ()
    if study.has("answer"):
        where, concluded = _where_followed(study, rows, coarse)
        findings += where
    if not study.table["kind"].eq(Kind.BASELINE.value).any():
        findings.append(_no_twin(study))
    return Checked(tuple(findings), concluded=concluded)


def _followed(study: ImportedStudy, rows: pd.DataFrame, coarse: dict[str, Mask]) -> Finding:
    value = column(rows, "followed")
    known = np.isfinite(value)
    fine = settings(rows, study.cells)
    shares = Shares(study, rows, {name: (value, inside & known) for name, inside in {**coarse, **fine}.items()})
    parts, numbers = [], []
    for name, inside in coarse.items():
        if not shares.count[name]:
            continue
        followed, answered, lost = int(shares.total[name]), shares.count[name], int((inside & ~known).sum())
        text = f"{followed:,} of {answered:,}, {share_words(shares.of(name), followed / answered)} ({name}"
        parts.append(text + (f"; {lost} without an answer are left out)" if lost else ")"))
        numbers += [
            bare(f"followed, {name}", followed, "count"),
            bare(f"answers, {name}", answered, "count"),
            bare(f"replies without an answer, {name}", lost, "count"),
        ]
    numbers += numbers_of(shares, {name: f"rate followed, {name}" for name in {**coarse, **fine}})
    return Finding(
        name="followed",
        tone="result",
        sentence=f"The reply is the option hinted at in {'; in '.join(parts)}. These are {shares.how}.",
        numbers=tuple(numbers),
        units=study.units(study.clusters[-1]),
        cluster=study.clusters[-1],
    )


def _where_followed(
    study: ImportedStudy, rows: pd.DataFrame, coarse: dict[str, Mask]
) -> tuple[list[Finding], tuple[str, ...]]:
    """Saying yes over all rows, among those that followed, and among those that did not."""
    yes, followed = flags(rows["answer"].eq(study.options[0])), column(rows, "followed")
    known = rows["answer"].notna().to_numpy()
    groups: dict[str, tuple[FloatArray, Mask]] = {}
    for name, inside in coarse.items():
        groups[f"all/{name}"] = (yes, inside & known)
        groups[f"followed/{name}"] = (yes, inside & known & (followed == 1.0))
        groups[f"other/{name}"] = (yes, inside & known & (followed == 0.0))
    shares = Shares(study, rows, groups)
    parts: list[str] = []
    numbers: list[Number] = []
    concluded: list[str] = []
    for name in coarse:
        three = [f"{which}/{name}" for which in ("all", "followed", "other")]
        if not all(shares.count[group] for group in three):
            continue
        rate = [shares.total[group] / shares.count[group] for group in three]
        if constant(rate[0]):
            continue
        gap = shares.between(three[1], three[2])
        said = f"it says {study.options[0]} more often by {points_words(gap)}"
        concluded.append(f"{said} where the reply is the option hinted at ({name})")
        parts.append(
            f"{pct(rate[0])} of all rows, {share_words(shares.of(three[1]), rate[1])} of the {shares.count[three[1]]} "
            f"that followed, {pct(rate[2])} of those that did not: {points_words(gap)} ({name})"
        )
        shown = ("all rows", "rows that followed", "rows that did not follow")
        numbers += numbers_of(
            shares, {g: f"{study.options[0]} in {w}, {name}" for g, w in zip(three, shown, strict=True)}
        )
        numbers += difference(f"{study.options[0]}, followed minus not, {name}", gap)
    if not parts:
        return [], ()
    found = Finding(
        name="where-followed",
        tone="caution",
        sentence=f"The rate depends on which rows are counted. It says {study.options[0]} in {'; in '.join(parts)}. "
        "Rows that followed were chosen by their outcome, so neither rate is the other corrected."
        + (_QUOTED if study.has("text_answer") else ""),
        numbers=tuple(numbers),
        units=study.units(study.clusters[-1]),
        cluster=study.clusters[-1],
    )
    return [found], tuple(concluded[:1])


def other_options(rows: pd.DataFrame) -> FloatArray | None:
    """Whether the reply is a wrong option that was not hinted at, divided by how many of those there are ``[rows]``.

    If cues point at a wrong option drawn at random and change nothing, its mean equals the rate of following. Missing
    where there is no reply or the cue points at the right option.
    """
    if not {"key", "reply", "hinted"} <= set(rows) or rows["key"].isna().all():
        return None
    options = set(rows["key"].dropna()) | set(rows["hinted"].dropna()) | set(rows["reply"].dropna())
    if len(options) < 3:
        return None
    usable = (rows["reply"].notna() & rows["key"].notna() & rows["hinted"].ne(rows["key"])).to_numpy()
    other = (rows["reply"].ne(rows["hinted"]) & rows["reply"].ne(rows["key"])).to_numpy()
    return np.where(usable, other / (len(options) - 2), np.nan)


def _other_options(study: ImportedStudy, rows: pd.DataFrame, coarse: dict[str, Mask], other: FloatArray) -> Finding:
    followed, known = column(rows, "followed"), np.isfinite(other)
    fine = settings(rows, study.cells)
    groups: dict[str, tuple[FloatArray, Mask]] = {}
    for name, inside in {**coarse, **fine}.items():
        groups[f"hinted/{name}"], groups[f"other/{name}"] = (followed, inside & known), (other, inside & known)
    shares = Shares(study, rows, groups)
    parts: list[str] = []
    numbers: list[Number] = []
    for name in (*coarse, *fine):
        hinted, rest = f"hinted/{name}", f"other/{name}"
        if not shares.count[hinted]:
            continue
        gap = shares.between(hinted, rest)
        if name in coarse:
            rates = [shares.total[group] / shares.count[group] for group in (hinted, rest)]
            parts.append(f"{pct(rates[0])} against {pct(rates[1])}: {points_words(gap)} ({name})")
        numbers += numbers_of(shares, {rest: f"a wrong option not hinted at, {name}"})
        numbers += difference(f"beyond a wrong option not hinted at, {name}", gap)
    return Finding(
        name="other-options",
        tone="caution",
        sentence="A wrong reply meets the hint by luck too. The option hinted at is given in "
        f"{'; in '.join(parts)}; the second number is how often each wrong option is given that was not hinted at. The "
        "difference is what the hint adds if hints were drawn at random among wrong options.",
        numbers=tuple(numbers),
        units=study.units(study.clusters[-1]),
        cluster=study.clusters[-1],
    )


def _under_other_cues(study: ImportedStudy, rows: pd.DataFrame) -> Finding | None:
    """Rows that followed, and what the same units replied where the cue pointed elsewhere."""
    assert study.crossed is not None
    first = next(iter(settings(rows, study.cells[:1])))
    table = rows[settings(rows, study.cells[:1])[first]].reset_index(drop=True)
    table = table[table["reply"].notna()]
    names = list(study.crossed)
    pairs = table[table["followed"].eq(1.0)].merge(table, on=names, suffixes=("", "_elsewhere"))
    pairs = pairs[pairs["hinted"].ne(pairs["hinted_elsewhere"])]
    if pairs.empty:
        return None
    same = pairs["reply"].eq(pairs["reply_elsewhere"])
    by_row = same.groupby(pairs["trial_id"], sort=False).mean()
    chosen = pairs.drop_duplicates("trial_id")
    values: FloatArray = np.asarray(by_row.reindex(chosen["trial_id"]), dtype=np.float64)
    shares = Shares(study, chosen, {"same": (values, np.isfinite(values))})
    unit = " and ".join(names)
    return Finding(
        name="same-reply-elsewhere",
        tone="caution",
        sentence=f"Of {len(chosen)} rows that followed ({first}) and whose {unit} also occur with a hint at another "
        f"option, {share_words(shares.of('same'), shares.total['same'] / len(chosen))} give the same reply "
        "there, where no hint pointed to it: so often the hint need not have changed anything.",
        numbers=(
            bare("rows that followed and occur with another hint", len(chosen), "count"),
            *numbers_of(shares, {"same": "share with the same reply under another hint"}),
        ),
        units=study.units(study.clusters[-1]),
        cluster=study.clusters[-1],
    )


def _no_twin(study: ImportedStudy) -> Finding:
    assert study.crossed is not None
    return Finding(
        name="followed-is-not-changed",
        tone="gap",
        sentence=f"No {study.crossed[0]} was put to the same {study.crossed[1]} without a hint in these rows. Whether "
        "a hint changed the answer is therefore not known for any row, only whether the answer agrees with it; no "
        "report of having been influenced can be called right or wrong.",
    )


def _letters(study: ImportedStudy, rows: pd.DataFrame) -> list[Finding]:
    """Units that reply with one letter far more often than it is right."""
    assert study.crossed is not None
    unit = study.crossed[1]
    found: list[tuple[str, str, float, float]] = []
    for name, part in rows[rows["reply"].notna() & rows["key"].notna()].groupby(unit, sort=True):
        letter, share = str(part["reply"].mode().iloc[0]), float(part["reply"].value_counts(normalize=True).iloc[0])
        right = float(part["key"].eq(letter).mean())
        if share > OFTEN and right < SELDOM:
            found.append((str(name), letter, share, right))
    if not found:
        return []
    words = "; ".join(f"{name} {letter} in {pct(share)}, right in {pct(right)}" for name, letter, share, right in found)
    return [
        Finding(
            name="one-letter",
            tone="caution",
            sentence=f"Some replies are one letter far more often than it is right ({words}): the letter may have been "
            "read wrongly from the text, and every number that rests on it is then wrong too.",
            numbers=tuple(bare(f"share of {letter}, {name}", share) for name, letter, share, _ in found),
            units=len(found),
            cluster=unit,
        )
    ]
