"""Published rates beside a run's, on the same axes.

A table of rates is a CSV with one row a rate: ``source``, ``model``, ``question`` (``detection-2`` or ``detection-3``),
``arm`` (as in :class:`~firsthand.studies.injection.arms.Arm`), ``answer`` (``injected``, ``manipulated`` or
``nothing``), ``rate`` (0 to 1) and ``n`` (independent trials that it rests on, as published).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from statsmodels.stats.proportion import proportion_confint

from firsthand.analysis.findings import Mark, Picture
from firsthand.analysis.results import Estimate
from firsthand.auditing.injection.showing import LABELS
from firsthand.errors import AnalysisError
from firsthand.report.injection_document import FindingResult
from firsthand.studies.injection.arms import Arm

COLUMNS = ("source", "model", "question", "arm", "answer", "rate", "n")


class PublishedRate(BaseModel):
    """One published rate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    source: Annotated[str, Field(min_length=1)]
    model: Annotated[str, Field(min_length=1)]
    question: Literal["detection-2", "detection-3"]
    arm: Arm
    answer: Literal["injected", "manipulated", "nothing"]
    rate: Annotated[float, Field(ge=0.0, le=1.0)]
    n: Annotated[int, Field(ge=1)]

    def estimate(self, alpha: float) -> Estimate:
        """The rate with a Wilson interval over the published number of trials."""
        low, high = proportion_confint(self.rate * self.n, self.n, alpha=2 * alpha, method="wilson")
        return Estimate(
            value=self.rate,
            low=float(low),
            high=float(high),
            level=1 - 2 * alpha,
            n_trials=self.n,
            units=self.n,
            cluster="published_trial",
        )


def read_published(path: Path) -> tuple[PublishedRate, ...]:
    """Read a table of published rates.

    Raises:
        AnalysisError: If it cannot be read, lacks a column, or a value does not fit; each with its line.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False, skip_blank_lines=False, index_col=False)
    except (OSError, ValueError) as error:
        raise AnalysisError(f"{path} cannot be read: {error}.", "Give a CSV file.") from error
    if sorted(table.columns) != sorted(COLUMNS) or not len(table):
        raise AnalysisError(
            f"{path} has the columns {', '.join(map(str, table.columns))} and {len(table)} rows.",
            f"Give at least one row, and exactly the columns {', '.join(COLUMNS)}.",
        )
    found, problems = [], []
    for number, row in enumerate(table.to_dict("records"), start=2):
        if not any(row.values()):
            continue
        try:
            found.append(PublishedRate.model_validate(row))
        except ValidationError as error:
            problems += [f"line {number}, {'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    if problems:
        raise AnalysisError(f"{path} does not fit: {'; '.join(problems[:5])}.", "Correct these values.")
    return tuple(found)


def compare(
    findings: Sequence[FindingResult], rates: Sequence[PublishedRate], model: str, alpha: float
) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    """Charts with this run's rate above the published ones, one for each question, arm and answer.

    Returns:
        The charts, and one line for each source.
    """
    pictures = []
    for question, arm, answer in dict.fromkeys((rate.question, rate.arm, rate.answer) for rate in rates):
        own = _own(findings, question, arm, answer)
        marks = [Mark(label=f"{model}, this run", estimate=own, emphasis=True)] if own is not None else []
        same = [rate for rate in rates if (rate.question, rate.arm, rate.answer) == (question, arm, answer)]
        marks += [Mark(label=f"{rate.model} ({rate.source})", estimate=rate.estimate(alpha)) for rate in same]
        title = f"{question}, {LABELS[arm]}: '{answer}'"
        pictures.append(Picture(title=title, axis=f"rate of '{answer}'", unit="share", marks=tuple(marks)))
    return tuple(pictures), tuple(dict.fromkeys(rate.source for rate in rates))


def _own(findings: Sequence[FindingResult], question: str, arm: Arm, answer: str) -> Estimate | None:
    for finding in findings:
        for matrix in finding.matrices if finding.name == question else ():
            for row in matrix.rows:
                if row.arm == arm and answer in matrix.answers:
                    return row.shares[matrix.answers.index(answer)]
    return None
