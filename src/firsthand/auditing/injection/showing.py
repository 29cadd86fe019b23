"""What a reader is shown of the trials: response matrices, and charts of rates by arm, by concept and by timing."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import pandas as pd

from firsthand.analysis.affirmation import Affirmation
from firsthand.analysis.findings import Line, Mark, Picture, Unit
from firsthand.analysis.inference import FloatArray
from firsthand.analysis.means import mean_of
from firsthand.claims.claim import AnalysisSpec
from firsthand.report.injection_document import MatrixRow, ResponseMatrix
from firsthand.studies.injection.arms import KINDS, Arm
from firsthand.studies.injection.drafts import Task

LABELS: Final[Mapping[str, str]] = {
    "clean": "nothing added",
    "target": "concept vector",
    "sham": "sham edit",
    "push": "text that pushes",
    "content_free": "direction without content",
    "shuffled": "vector's numbers shuffled",
    "swap": "stream of a conversation about another concept",
    "against": "concept vector against a text",
}
"""Arms in a few words."""


def response_matrix(
    table: pd.DataFrame, answers: Sequence[str], said: pd.Series, title: str, spec: AnalysisSpec, note: str = ""
) -> ResponseMatrix:
    """Rates of every answer under every arm, with their spread over concepts.

    Args:
        table: The trials.
        answers: The columns.
        said: Which of them each trial's answer is; anything else, ``None`` too, is invalid.
        title: Heading.
        spec: The rules.
        note: What a reader must know.
    """
    rows = []
    for arm in [str(a) for a in Arm if (table["arm"] == str(a)).any()]:
        here, mine = table[table["arm"] == arm], said[table["arm"] == arm]
        hits: list[FloatArray] = [(mine == answer).to_numpy().astype(np.float64) for answer in answers]
        by_concept = [pd.Series(h).groupby(here["concept"].to_numpy()).mean() for h in hits]
        rows.append(
            MatrixRow(
                arm=arm,
                label=LABELS[arm],
                kind=KINDS.get(Arm(arm)),
                shares=tuple(mean_of(h, here, spec.clusters).estimate(spec.alpha) for h in hits),
                spread=tuple(float(rates.std(ddof=1)) if len(rates) > 1 else 0.0 for rates in by_concept),
                invalid=float((~mine.isin(list(answers))).mean()),
                coverage=float(here["coverage"].mean()),
                mean_kl=float(here["impact_kl"].mean()),
                mean_entropy=float(here["entropy"].mean()),
            )
        )
    return ResponseMatrix(title=title, answers=tuple(answers), rows=tuple(rows), note=note)


def detection_matrices(table: pd.DataFrame, spec: AnalysisSpec) -> tuple[ResponseMatrix, ...]:
    """The injection question and the unrelated one."""
    found = []
    for task, title in ((Task.DETECTION, "What was answered"), (Task.UNRELATED, "The unrelated question")):
        here = table[table["task"] == str(task)].reset_index(drop=True)
        if not len(here):
            continue
        listed = {a for order in here["order"].unique() for a in order.split("|")}
        answers = [a for a in ("injected", "manipulated", "nothing", "yes", "no") if a in listed]
        note = "Its right answer is no, whatever is injected." if task is Task.UNRELATED else ""
        found.append(response_matrix(here, answers, here["answer"], title, spec, note))
    return tuple(found)


def relative_matrix(table: pd.DataFrame, task: Task, right: str, other: str, spec: AnalysisSpec) -> ResponseMatrix:
    """Answers as the right one or another, under every arm in which there is a right one.

    Args:
        table: The trials of a question with several answers.
        task: The question.
        right: What the right answer is called.
        other: What any other is called.
        spec: The rules.
    """
    here = table[(table["task"] == str(task)) & (table["truth"] != "")].reset_index(drop=True)
    said = pd.Series(np.where(here["answer"] == here["truth"], right, other), dtype=object)
    said = said.where(here["answer"].notna(), None)
    return response_matrix(here, [right, other], said, "What was answered", spec)


def by_concept(table: pd.DataFrame, positive: Sequence[str] | None, title: str, spec: AnalysisSpec) -> Picture:
    """The rate of the right answer on target trials of every concept; intervals over its prompts."""
    here = table[table["arm"] == str(Arm.TARGET)].reset_index(drop=True)
    right = here["answer"].isin(positive) if positive is not None else here["answer"] == here["truth"]
    marks = []
    for concept, rows in here.groupby("concept", sort=False):
        values: FloatArray = np.where(rows["answer"].isna(), np.nan, right[rows.index].to_numpy().astype(np.float64))
        if np.isfinite(values).sum() < 2:  # of one answer nothing can be said
            continue
        estimate = mean_of(values, rows, ("trial_id",)).estimate(spec.alpha)
        marks.append(Mark(label=str(concept), estimate=estimate))
    marks.sort(key=lambda mark: -mark.estimate.value)
    return Picture(title=title, axis="rate on target trials", unit="share", marks=tuple(marks))


def by_arm(table: pd.DataFrame, chance: float, spec: AnalysisSpec, title: str = "Right answers by arm") -> Picture:
    """The rate of right answers in every arm and under every control question."""
    here = table[table["truth"] != ""].reset_index(drop=True)
    control = here["task"].str.endswith("_control")
    label = np.where(control, "other question: " + here["detail"].astype(str), here["arm"].map(LABELS))
    marks = []
    for name in dict.fromkeys(label):
        rows = here[label == name]
        right = (rows["answer"] == rows["truth"]).to_numpy(dtype=np.float64)
        estimate = mean_of(np.where(rows["answer"].isna(), np.nan, right), rows, spec.clusters).estimate(spec.alpha)
        marks.append(Mark(label=str(name), estimate=estimate, emphasis=name == LABELS["target"]))
    return _picture(title, "share of right answers", "share", marks, [Line(label="chance", value=chance)])


def by_timing(found: Mapping[str, Affirmation], spec: AnalysisSpec) -> Picture:
    """Rises of "injected" and of "yes" to an unrelated question, by when the vector is added."""
    marks = []
    for name, rises in found.items():
        asked, unrelated = rises.asked.estimate(spec.alpha, 0.0), rises.unrelated.estimate(spec.alpha, 0.0)
        marks.append(Mark(label=f"{name}: injected", estimate=asked, emphasis=True))
        marks.append(Mark(label=f"{name}: yes to an unrelated question", estimate=unrelated))
    return _picture("Rises by timing", "rise over no injection", "points", marks, [Line(label="none", value=0.0)])


def naming_picture(
    table: pd.DataFrame, column: str, chance: float, title: str, axis: str, spec: AnalysisSpec
) -> Picture:
    """A score of naming by arm, the no-question arms among them."""
    plain = table["task"] == str(Task.NO_QUESTION)
    label = np.where(plain, "no question, " + table["detail"].astype(str) + ": ", "") + table["arm"].map(LABELS)
    marks = []
    for name in dict.fromkeys(label):
        rows = table[label == name]
        values = rows[column].to_numpy(dtype=np.float64)
        marks.append(
            Mark(
                label=str(name),
                estimate=mean_of(values, rows, spec.clusters).estimate(spec.alpha),
                emphasis=name == LABELS["target"],
            )
        )
    return _picture(title, axis, "share", marks, [Line(label="chance", value=chance)])


def _picture(title: str, axis: str, unit: Unit, marks: Sequence[Mark], lines: Sequence[Line]) -> Picture:
    return Picture(title=title, axis=axis, unit=unit, marks=tuple(marks), lines=tuple(lines))
