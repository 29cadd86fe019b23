"""What was there to be seen, and what is missing: prompts, labels, invalid answers, coverage."""

import numpy as np
import pandas as pd

from firsthand.analysis.checks.base import NOTHING, Checked
from firsthand.analysis.findings import ALPHA, Finding
from firsthand.analysis.imported_study import ImportedStudy, column, flags
from firsthand.analysis.means import bare, beyond, mean_of, number, pct, plural, share_text, units_of


def check_prompts(study: ImportedStudy) -> Checked:
    """How well any observer of the visible prompt could do: a bound, reached by the best one in hindsight."""
    if not study.has("prompt_hash", "truth", "correct"):
        return NOTHING
    rows = study.judged
    if rows.empty or rows["prompt_hash"].isna().any():
        return NOTHING
    counts = rows.groupby(["prompt_hash", "truth"], sort=False).size().unstack(fill_value=0)
    bound = float(counts.max(axis=1).sum() / counts.to_numpy().sum())
    labels = counts.shape[1]
    balanced = bound <= 1.0 / labels + 1e-9
    sentence = (
        f"There are {plural(len(counts), 'visible prompt')}; an observer that sees the prompt alone, however strong, "
        f"can be right in at most {pct(bound)} of these rows"
        + (", because each prompt occurs equally often with each answer." if balanced else ".")
    )
    finding = Finding(
        name="prompt-bound",
        tone="result",
        sentence=sentence,
        numbers=(bare("best score of any observer of the prompt", bound), bare("prompts", len(counts), "count")),
        units=len(counts),
        cluster="prompt",
    )
    accuracy = mean_of(column(rows, "correct"), rows, study.clusters)
    observers = {"any observer of the prompt, at best": beyond(accuracy, bound)}
    if accuracy.unknown or accuracy.low(ALPHA) <= bound:
        return Checked((finding,), observers=observers)
    words = f"accuracy {share_text(accuracy)} is more than the {pct(bound)} that any observer of the prompt could reach"
    return Checked((finding,), observers=observers, concluded=(words,))


def check_labels(study: ImportedStudy) -> Checked:
    """Whether labels were exchanged between states; if not, a direction that promotes a letter scores as well."""
    if not study.has("state", "truth"):
        return NOTHING
    rows = study.judged.dropna(subset=["state", "truth"])
    each = rows.groupby("state", sort=False)["truth"].nunique()
    if len(each) < 2 or (each > 1).any():
        return NOTHING
    pairs = rows.drop_duplicates(["state", "truth"])
    named = ", ".join(f"{state} is always {truth}" for state, truth in zip(pairs["state"], pairs["truth"], strict=True))
    return Checked(
        (
            Finding(
                name="fixed-labels",
                tone="caution",
                sentence=f"The labels are never exchanged ({named}): a direction that simply promotes one of the "
                "letters would score as well as a report of the state.",
                numbers=(bare("states with one label", len(each), "count"),),
                units=len(each),
                cluster="state",
            ),
        ),
        missing=("labels were never exchanged between states",),
    )


def check_unscored(study: ImportedStudy) -> Checked:
    """Answers that are missing by design, and answers that are invalid: neither is a wrong one."""
    table, findings = study.table, []
    if "scorable" in table and (~table["scorable"].astype(bool)).any():
        rows = table[~table["scorable"].astype(bool)]
        published = int(rows["repeats"].sum())
        arms = ", ".join(map(str, rows["arm"].dropna().unique())) if study.has("arm") else ""
        findings.append(
            Finding(
                name="unscored-by-design",
                tone="gap",
                sentence=f"{published} published rows{f' ({arms})' if arms else ''} have no right answer by design, "
                "since no state was set: they are left out of every accuracy, and not counted as wrong.",
                numbers=(
                    bare("published rows without a right answer", published, "count"),
                    bare("measurements", len(rows), "count"),
                ),
            )
        )
    invalid = _invalid(study)
    findings += [] if invalid is None else [invalid]
    if study.has("coherent"):
        rows = study.judged
        broken = mean_of(flags(~rows["coherent"].astype(bool)), rows, study.clusters)
        units, cluster = units_of(broken)
        findings.append(
            Finding(
                name="incoherent",
                tone="caution",
                sentence=f"{share_text(broken)} of the injected answers are not coherent text; a rate over coherent "
                "answers alone would be one over a selection made after the fact.",
                numbers=(number("share of incoherent answers", broken),),
                units=units,
                cluster=cluster,
            )
        )
    return Checked(tuple(findings))


def _invalid(study: ImportedStudy) -> Finding | None:
    """Answers that name none of the options; the control question says this of itself."""
    if not study.has("answer") or study.control:
        return None
    rows = study.judged
    lost = rows["answer"].isna().to_numpy()
    if not lost.any():
        return None
    rate = mean_of(lost.astype(np.float64), rows, study.clusters)
    units, cluster = units_of(rate)
    return Finding(
        name="invalid-answers",
        tone="caution",
        sentence=f"{int(lost.sum())} of {len(rows)} answers ({share_text(rate)}) give none of the options. They earn "
        "nothing, and are not counted as any other answer.",
        numbers=(bare("invalid answers", int(lost.sum()), "count"), number("share of invalid answers", rate)),
        units=units,
        cluster=cluster,
    )


def coverage_of(rows: pd.DataFrame) -> float | None:
    """Mean probability mass on the valid answers, where it was recorded."""
    if "coverage" not in rows or not rows["coverage"].notna().any():
        return None
    return float(np.nanmean(column(rows, "coverage")))
