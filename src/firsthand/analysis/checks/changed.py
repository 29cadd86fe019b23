"""With and without a cue on the same units: what it changed in the reply, and in what was said about it."""

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.checks.shares import (
    Mask,
    Shares,
    crossed_units,
    cued,
    difference,
    numbers_of,
    points_words,
    settings,
)
from firsthand.analysis.findings import Finding, Number
from firsthand.analysis.imported_study import ImportedStudy, column, flags
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import bare, pct
from firsthand.vocabulary import Kind


def check_changed(study: ImportedStudy) -> Checked:
    """Compare rows with a cue with rows without one, where question and model are the same."""
    crossed = crossed_units(study)
    if crossed is None or not study.has("hinted", "reply", "followed"):
        return NOTHING
    quiet = study.table[study.table["kind"].eq(Kind.BASELINE.value)]
    rows = cued(study)
    if quiet.empty or rows.empty:
        return NOTHING
    first = study.cells[:1]
    same = {name for name in settings(rows, first) if name in settings(quiet, first)}
    replies = paired(rows, quiet, crossed, "reply")
    changed = replies["hinted"].eq(replies["reply_quiet"])
    findings = []
    if not replies.empty:
        findings.append(_finding(study, replies, column(replies, "followed"), flags(changed), same, "changed-reply"))
    if study.has("text_answer"):
        shown = paired(rows, quiet, crossed, "text_answer")
        if not shown.empty:
            after, before = (flags(shown["hinted"].eq(shown[name])) for name in ("text_answer", "text_answer_quiet"))
            findings.append(_finding(study, shown, after, before, same, "changed-reply-by-text"))
    if study.has("answer"):
        said = paired(rows, quiet, crossed, "answer")
        if not said.empty:
            yes, before = (flags(said[name].eq(study.options[0])) for name in ("answer", "answer_quiet"))
            findings.append(_finding(study, said, yes, before, same, "said-on-same-units"))
    return Checked(tuple(findings))


def paired(rows: pd.DataFrame, quiet: pd.DataFrame, names: tuple[str, str], what: str) -> pd.DataFrame:
    """Rows with a cue beside what the same units gave without one (``WHAT_quiet``), where both gave something."""
    kept = quiet[quiet[what].notna()].drop_duplicates(list(names))[[*names, what]]
    return rows[rows[what].notna()].merge(kept, on=list(names), suffixes=("", "_quiet")).reset_index(drop=True)


_WORDS = {
    "changed-reply": (
        "the option hinted at is the reply in",
        "it would have been the reply in",
        "replies are the option hinted at",
    ),
    "changed-reply-by-text": (
        "the option set in bold is the one hinted at in",
        "the same option is in bold in",
        "options in bold are the one hinted at",
    ),
    "said-on-same-units": ("it says {yes} in", "in", "answers are {yes}"),
}


def _finding(
    study: ImportedStudy, rows: pd.DataFrame, after: FloatArray, before: FloatArray, same: set[str], name: str
) -> Finding:
    crossed = study.crossed
    assert crossed is not None
    groups: dict[str, tuple[FloatArray, Mask]] = {}
    coarse = settings(rows, study.cells[:1])
    known = np.isfinite(after) & np.isfinite(before)
    for setting, inside in coarse.items():
        groups[f"with/{setting}"] = (after, inside & known)
        groups[f"without/{setting}"] = (before, inside & known)
    shares = Shares(study, rows, groups)
    with_it, without, named = (text.format(yes=study.options[0]) for text in _WORDS[name])
    parts: list[str] = []
    numbers: list[Number] = []
    for setting in sorted(coarse, key=lambda one: one not in same):
        one, two = f"with/{setting}", f"without/{setting}"
        if not shares.count[one]:
            continue
        gap = shares.between(one, two)
        rates = [shares.total[group] / shares.count[group] for group in (one, two)]
        text = f"{with_it} {pct(rates[0])} of {shares.count[one]} rows with a hint, {without} {pct(rates[1])} without "
        text += f"one: {points_words(gap)} ({setting}"
        text += "" if setting in same else ", which the rows without a hint were not asked under: two things changed"
        parts.append(f"{text})")
        numbers += [
            bare(f"pairs, {setting}", shares.count[one], "count"),
            *numbers_of(shares, {one: f"{named} with a hint, {setting}", two: f"{named} without, {setting}"}),
            *difference(f"difference, {setting}", gap),
        ]
    units = len(set(rows[crossed[0]]))
    return Finding(
        name=name,
        tone="result",
        sentence=f"Where {crossed[0]} and {crossed[1]} are the same, {'; '.join(parts)}. These are {shares.how}.",
        numbers=tuple(numbers),
        units=units,
        cluster=crossed[0],
    )
