"""The shape of an imported profile: findings, verdicts, and what was left out.

These models are the documented, versioned schema of ``firsthand import --json``. A finding is one sentence made from
numbers; the numbers stand beside it as data, with their intervals and the independent units that they rest on.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from firsthand.analysis.results import Estimate
from firsthand.vocabulary import Capability, Verdict

IMPORT_SCHEMA: Literal[1] = 1

ALPHA = 0.025
"""One-sided level of every test and interval end of an imported study: 95% intervals, as published work quotes them."""

Unit = Literal["share", "points", "number", "count"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Number(_Model):
    """One number of a finding.

    Attributes:
        name: What it is, in words.
        value: The number; shares as fractions of one.
        unit: How it is written.
        estimate: The same with its interval and units, where it has one; an expectation or a count has none.
    """

    name: str
    value: float
    unit: Unit = "share"
    estimate: Estimate | None = None


class Finding(_Model):
    """One thing that the data say, as a sentence and as numbers.

    Attributes:
        name: What was looked at, in the words of ``docs/importing.md``, e.g. ``best-of-grid``.
        tone: ``caution`` (a number means less than it seems to), ``result``, or ``gap`` (something is not in the data).
        sentence: The finding in one or a few sentences.
        numbers: Every number that it rests on.
        units: Number of independent units of the column that decides its interval.
        cluster: Name of that column.
    """

    name: str
    tone: Literal["caution", "result", "gap"]
    sentence: str
    numbers: tuple[Number, ...] = ()
    units: int | None = None
    cluster: str | None = None


class Mark(_Model):
    """One line of a study's chart."""

    label: str
    estimate: Estimate
    emphasis: bool = False


class Line(_Model):
    """A value to compare with, drawn as a dashed line."""

    label: str
    value: float


class Picture(_Model):
    """What a study's chart shows."""

    title: str
    axis: str
    unit: Unit
    marks: tuple[Mark, ...]
    lines: tuple[Line, ...] = ()


class StudyResult(_Model):
    """One published table, read anew.

    Attributes:
        name: Name of the study, and of its file in the trace.
        title: What was asked, in words.
        capability: What a report was asked for.
        role: ``claim``, or ``control`` (a question that a report of the state would leave alone).
        published_rows: Rows in the published files.
        published_answers: Answers that they stand for.
        measurements: Distinct ones among them, which is what counts.
        verdict: Compiled by rule; ``None`` for a control.
        reasons: The rules that led to it.
        concluded: What can be concluded nevertheless.
        findings: What the data say.
        picture: What the chart shows.
        notes: What was left out while reading, and why.
    """

    name: str
    title: str
    capability: Capability
    role: Literal["claim", "control"]
    published_rows: int
    published_answers: int
    measurements: int
    clusters: dict[str, int]
    verdict: Verdict | None
    reasons: tuple[str, ...]
    concluded: tuple[str, ...]
    findings: tuple[Finding, ...]
    picture: Picture | None = None
    notes: tuple[str, ...] = ()


class Source(_Model):
    """A file that was read."""

    file: str
    sha256: str
    rows: int


class ImportedProfile(_Model):
    """Everything that ``firsthand import`` found. Verdicts are never pooled."""

    schema_version: Literal[1] = IMPORT_SCHEMA
    importer: str
    title: str
    level: float
    sources: tuple[Source, ...]
    trace_digest: str
    studies: tuple[StudyResult, ...]
    notes: tuple[str, ...] = ()
