"""What published texts say by plain rules, held against what was made of them."""

import pandas as pd

from firsthand.analysis.checks.base import Checked
from firsthand.analysis.findings import Finding
from firsthand.analysis.imported_study import ImportedStudy
from firsthand.analysis.means import bare, pct
from firsthand.vocabulary import Kind


def check_texts(study: ImportedStudy) -> Checked:
    """Texts that are cut short, replies that the text contradicts, denials scored as yes, answers about nothing."""
    found = [_cut(study), _named(study), _denials(study), _orphans(study)]
    return Checked(tuple(finding for finding in found if finding is not None))


def _cut(study: ImportedStudy) -> Finding | None:
    if not study.has("text_cut"):
        return None
    known = study.table["text_cut"].dropna()
    cut = int(known.astype(bool).sum())
    if not cut:
        return None
    return Finding(
        name="cut-texts",
        tone="gap",
        sentence=f"{cut:,} of {len(known):,} published texts ({pct(cut / len(known))}) are cut short, so what was said "
        "later in them cannot be read again: what follows is what the texts show as far as they go.",
        numbers=(bare("texts cut short", cut, "count"), bare("texts", len(known), "count")),
    )


def _named(study: ImportedStudy) -> Finding | None:
    """Replies held against the option that the text itself sets apart."""
    if not study.has("text_answer", "reply"):
        return None
    table = study.table
    rows = table[table["text_answer"].notna() & table["reply"].notna()]
    other = rows[rows["reply"].ne(rows["text_answer"])]
    if other.empty:
        return None
    right = int(other["text_answer"].eq(other["key"]).sum()) if "key" in other else 0
    sentence = (
        f"{len(rows):,} texts set exactly one option in bold. The letter that the file takes for the reply is another "
        f"in {len(other)} of them ({pct(len(other) / len(rows))}); the one in bold is right in {right} of these."
    )
    numbers = [
        bare("texts with one option in bold", len(rows), "count"),
        bare("replies that are another option", len(other), "count"),
        bare("of these, the option in bold is right", right, "count"),
    ]
    followed = rows[rows["followed"].eq(1.0)] if "followed" in rows else rows.iloc[:0]
    if len(followed):
        not_hint = int(followed["text_answer"].ne(followed["hinted"]).sum())
        parts = []
        for name, part in _by_setting(study, followed):
            wrong = int(part["text_answer"].ne(part["hinted"]).sum())
            parts.append(f"{wrong} of {len(part)} ({name})")
            numbers.append(bare(f"followed by the file, not by the text, {name}", wrong, "count"))
            numbers.append(bare(f"followed by the file, with one option in bold, {name}", len(part), "count"))
        sentence += (
            f" Of {len(followed)} such replies counted as following the hint, {not_hint} name another option than the "
            f"hint: {', '.join(parts)}. The file's reply is then the hint's letter, in a text that answers otherwise."
        )
    return Finding(name="reply-against-text", tone="caution", sentence=sentence, numbers=tuple(numbers))


def _by_setting(study: ImportedStudy, rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    if not study.cells:
        return [("all rows", rows)]
    first = study.cells[0]
    return [(f"{first.replace('_', ' ')} {name}", part) for name, part in rows.groupby(first, sort=True)]


def _denials(study: ImportedStudy) -> Finding | None:
    """Texts scored as "there is a cue" that say there is none."""
    if not study.has("denies", "answer"):
        return None
    table = study.table
    yes = study.options[0]
    quiet = table[table["kind"].eq(Kind.BASELINE.value) & table["answer"].notna()]
    loud = table[table["kind"].ne(Kind.BASELINE.value) & table["answer"].notna()]
    parts, numbers = [], []
    for rows, words in ((quiet, study.words.quiet), (loud, study.words.affected)):
        said = rows[rows["answer"].eq(yes)]
        denied = int(said["denies"].fillna(0.0).astype(bool).sum())
        if said.empty:
            continue
        parts.append(f"{denied} of {len(said)} {words} that are scored {yes}")
        numbers += [
            bare(f"scored {yes}, {words}", len(said), "count"),
            bare(f"of these, the text says that there is none, {words}", denied, "count"),
        ]
    if not parts or not numbers[1].value:
        return None
    sentence = (
        f"By a plain rule, the text says that there is no hint in {' and in '.join(parts)}: naming the thing in order "
        "to deny it counts as acknowledging it."
    )
    if len(quiet):
        scored = quiet["answer"].eq(yes)
        kept = scored & ~quiet["denies"].fillna(0.0).astype(bool)
        rates = float(scored.mean()), float(kept.mean())
        sentence += f" The rate on {study.words.quiet} is {pct(rates[0])} as scored, {pct(rates[1])} without denials."
        numbers += [
            bare(f"rate as scored, {study.words.quiet}", rates[0]),
            bare(f"rate without denials, {study.words.quiet}", rates[1]),
        ]
    return Finding(name="denials", tone="caution", sentence=sentence, numbers=tuple(numbers))


def _orphans(study: ImportedStudy) -> Finding | None:
    if not study.has("orphan"):
        return None
    given = study.table["orphan"].dropna()
    yes = int(given.eq(study.options[0]).sum())
    return Finding(
        name="asked-about-nothing",
        tone="caution",
        sentence=f"{len(given)} rows were asked about a response that never came (a time-out or an empty one); "
        f"{yes} of them say {study.options[0]} all the same.",
        numbers=(
            bare("rows asked about a response that never came", len(given), "count"),
            bare(f"of these, {study.options[0]}", yes, "count"),
        ),
    )
