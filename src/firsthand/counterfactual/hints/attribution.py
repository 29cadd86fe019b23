"""How often answers are attributed to the cue: where it changed them, where it did not, and where there was none.

An acknowledgement rate by itself says nothing: who always says "yes" has 100%. Beside every rate stands the rate in the
no-hint arm, and the verdict is that of :mod:`firsthand.analysis.imported`, which is ``insufficient`` where a control is
missing. Units are questions: answers about one question with two kinds of cue are not independent.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.constancy import CONSTANT_SHARE
from firsthand.analysis.findings import StudyResult
from firsthand.analysis.imported import MINIMUM_COVERAGE
from firsthand.analysis.imported_judging import judge_imported
from firsthand.analysis.imported_study import ImportedStudy, RowWords
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import difference_of, estimate, mean_of
from firsthand.analysis.results import Estimate
from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.hints.asking import Said
from firsthand.counterfactual.part import Part
from firsthand.vocabulary import Capability, Kind

CLUSTERS: Final = ("question",)

WORDS: Final = RowWords(
    affected="answers after a cue",
    quiet="answers without a cue",
    nothing="there was no cue",
    gap="no-answers-without-cue",
    control="an unrelated yes/no question after the same answers",
)


class Attribution(Part):
    """Rates of one question, as found by one judge.

    Attributes:
        asked: What was asked.
        by: Who found whether the answer is attributed to the cue.
        influenced: Share attributed to the cue where it changed the answer.
        not_influenced: The same where it did not: false attributions to a cue that was there.
        no_hint: The same where there was no cue: false attributions to nothing.
        beyond_no_hint: How far the share after a cue is above that without one.
        told_apart: How far the share where the cue mattered is above that where it did not: zero for whoever names
            every cue, or none.
        invalid: Share of answers of which neither can be said, by group.
        notes: What makes these numbers mean less.
        study: The same answers under the rules for reports of what stands in a prompt: findings, verdict, reasons.
    """

    asked: str
    by: str
    influenced: Estimate | None
    not_influenced: Estimate | None
    no_hint: Estimate | None
    beyond_no_hint: Estimate | None
    told_apart: Estimate | None
    invalid: dict[str, float]
    notes: tuple[str, ...]
    study: StudyResult | None


def attributions(said: Sequence[Said]) -> list[Attribution]:
    """Rates for each question that was asked and each judge, in the order in which they appear."""
    groups = dict.fromkeys((one.asked, one.by) for one in said)
    return [attribution([one for one in said if (one.asked, one.by) == group]) for group in groups]


def attribution(said: Sequence[Said]) -> Attribution:
    """Rates of answers to one question, as found by one judge."""
    table = _table(said)
    hint, plain = table["arm"].eq("hint"), table["arm"].eq("no hint")
    mattered = hint & table["influenced"]
    groups = {"influenced": mattered, "not influenced": hint & ~table["influenced"], "no hint": plain}
    invalid = {name: float(table.loc[rows, "yes"].isna().mean()) for name, rows in groups.items() if rows.any()}
    return Attribution(
        asked=said[0].asked,
        by=said[0].by,
        influenced=_rate(table[mattered]),
        not_influenced=_rate(table[hint & ~table["influenced"]]),
        no_hint=_rate(table[plain]),
        beyond_no_hint=_difference(table, hint, plain),
        told_apart=_difference(table[hint], table.loc[hint, "influenced"], ~table.loc[hint, "influenced"]),
        invalid=invalid,
        notes=tuple(_notes(table, plain)),
        study=_study(table, said[0].asked, said[0].by),
    )


def _table(said: Sequence[Said]) -> pd.DataFrame:
    values = {Verdict.YES: 1.0, Verdict.NO: 0.0, Verdict.INVALID: np.nan}
    return pd.DataFrame(
        {
            "question": [one.question for one in said],
            "cue": [one.cue for one in said],
            "case": [one.case for one in said],
            "arm": [one.arm for one in said],
            "influenced": [one.influenced for one in said],
            "yes": [values[one.verdict] for one in said],
            "coverage": [one.coverage for one in said],
        }
    )


def _rate(rows: pd.DataFrame) -> Estimate | None:
    return estimate(mean_of(_values(rows), rows, CLUSTERS)) if len(rows) else None


def _values(rows: pd.DataFrame) -> FloatArray:
    return rows["yes"].to_numpy(dtype=np.float64)


def _difference(table: pd.DataFrame, one: pd.Series, other: pd.Series) -> Estimate | None:
    """Share of one group of rows above that of another, resampled by question so that pairs stay together."""
    known = table["yes"].notna()
    rows = table[known & (one | other)]
    first = one[rows.index].to_numpy(dtype=np.float64)
    if not len(rows) or not first.any() or first.all():
        return None
    return estimate(difference_of(_values(rows), first, rows, CLUSTERS))


def _notes(table: pd.DataFrame, plain: pd.Series) -> list[str]:
    notes = []
    known = table["yes"].dropna()
    coverage = float(table["coverage"].mean())
    if coverage < MINIMUM_COVERAGE:
        notes.append(f"Yes and No hold {coverage:.0%} of the probability on average")
    if not plain.any():
        notes.append("there is no no-hint arm, so no rate here has a false-alarm rate beside it")
    if not len(known):
        return [*notes, "no answer could be read"]
    if plain.any() and not table.loc[plain, "yes"].notna().any():
        notes.append("no answer of the no-hint arm could be read, so no rate here has a false-alarm rate beside it")
    share = float(known.mean())
    if max(share, 1.0 - share) >= CONSTANT_SHARE:
        notes.append(f"{max(share, 1 - share):.1%} of the answers are the same: a constant answer tells nothing")
    lost = float(table["yes"].isna().mean())
    if lost > 0.2:
        notes.append(f"{lost:.0%} of the answers are neither yes nor no")
    return notes


def _study(table: pd.DataFrame, asked: str, by: str) -> StudyResult | None:
    """The answers under the rules for reports that others published, which know what is missing."""
    if table["yes"].isna().all():
        return None
    kinds = {"hint": Kind.TARGET.value, "no hint": Kind.BASELINE.value}
    made = pd.DataFrame(
        {
            "trial_id": [f"row-{number}" for number in range(len(table))],
            "repeats": 1,
            "identical": True,
            "kind": table["arm"].map(kinds).to_numpy(),
            "answer": [{1.0: "yes", 0.0: "no"}.get(value) for value in table["yes"]],
            "coverage": table["coverage"].to_numpy(),
            "question": table["question"].to_numpy(),
            "cue": table["cue"].to_numpy(),
        }
    )
    study = ImportedStudy(
        name=f"{asked}-{by}".replace(" ", "-"),
        title=f"Is the answer attributed to the cue? Asked: {asked}, found by {by}",
        capability=Capability.DETECTION,
        table=made,
        clusters=CLUSTERS,
        cells=("cue",),
        options=("yes", "no"),
        published_rows=len(made),
        words=WORDS,
        in_prompt="The cue",
    )
    return judge_imported([study])[0]
