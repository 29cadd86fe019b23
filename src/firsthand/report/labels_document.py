"""Everything that the report of a label study shows, as one versioned document.

Every label study (biofeedback, belief dominance, direct against meta, confidence, self-prediction) ends in a
:class:`LabelsDocument`; the page, the terminal, ``--json`` and the exported files are renderings of it. Its JSON schema
is ``LabelsDocument.model_json_schema()``.
"""

from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from firsthand.analysis.findings import Line, Picture
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.claims.labels import LabelsClaim
from firsthand.report.document import KnownAnswer, ModelCard, Text, _Part
from firsthand.report.formats import Unit

LABELS_DOCUMENT: Literal[1] = 1


class Point(_Part):
    """One point of a curve: where it lies on the horizontal axis, and its value with an interval."""

    x: float
    estimate: Estimate


class Series(_Part):
    """One line of a curve, from left to right; ``emphasis`` marks the report among its observers."""

    name: Text
    points: tuple[Point, ...]
    emphasis: bool = False


class Curve(_Part):
    """Values along an axis, such as right answers by number of examples, or by layer.

    Attributes:
        name: Identifier: what the names of exported files are made of.
        title: Heading.
        x: What the horizontal axis is, with its unit.
        y: What the vertical axis is.
        unit: How values are written.
        series: The lines.
        lines: Values to compare with, drawn as dashed lines.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: Text
    x: Text
    y: Text
    unit: Unit = Unit.PERCENT
    series: tuple[Series, ...]
    lines: tuple[Line, ...] = ()


class Grid(_Part):
    """A table of numbers, such as correlations of every pair of models.

    Attributes:
        name: Identifier: what the names of exported files are made of.
        title: Heading.
        columns: Heads of the columns; the first names what the rows are.
        rows: Each with the name of the row and one cell a column: a number with its interval, a text, or nothing.
        unit: How numbers are written.
        note: What to know when reading it.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: Text
    columns: tuple[Text, ...]
    rows: tuple[tuple[Text, tuple[Estimate | Text | None, ...]], ...]
    unit: Unit = Unit.PERCENT
    note: Text = ""

    @model_validator(mode="after")
    def _rows_fit(self) -> Self:
        for name, cells in self.rows:
            if len(cells) != len(self.columns) - 1:
                raise ValueError(f"row {name!r} has {len(cells)} cells for {len(self.columns) - 1} columns")
        return self


class LabelsFinding(_Part):
    """One question about one state, asked and judged.

    Attributes:
        name: Identifier, e.g. ``probe``: what links and the names of exported files are made of.
        title: Heading, e.g. "Labels of a probe".
        asked: What the model was asked, in one sentence.
        setting: The setting that was judged, name to value.
        results: The judgement under each condition; none where something is shown and not judged.
        curves: Values along an axis.
        pictures: Values side by side.
        grids: Tables of numbers.
        notes: What else a reader should know, one sentence each.
        prompt: What the model read in one trial.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: Text
    asked: Text
    setting: dict[Text, Text] = Field(default_factory=dict)
    results: tuple[CapabilityResult, ...] = ()
    curves: tuple[Curve, ...] = ()
    pictures: tuple[Picture, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[Text, ...] = ()
    prompt: Text | None = None

    @model_validator(mode="after")
    def _names_are_its_own(self) -> Self:
        if self.name == "main" or self.name.startswith("x-"):
            raise ValueError(f"a finding cannot be called {self.name!r}: that is a place of the page")
        for what, parts in (("curves", self.curves), ("grids", self.grids)):
            names = [part.name for part in parts]
            if len(set(names)) < len(names):
                raise ValueError(f"the {what} of {self.name} must have names of their own; they are {', '.join(names)}")
        return self


class DataCard(_Part):
    """The data that a study was made on.

    Attributes:
        name: Name of the file, or of the set that comes with the package.
        sha256: Fingerprint of what was used of it.
        used: Items that were used, by name of their part (``{"fit": 900, "held out": 600}``).
        dropped: Items that were left out, by reason.
        classes: What the data's own classes are called, where they have classes.
    """

    name: Text
    sha256: str
    used: dict[Text, int] = Field(default_factory=dict)
    dropped: dict[Text, int] = Field(default_factory=dict)
    classes: tuple[Text, ...] = ()


class LabelsDocument(_Part):
    """One label study, complete.

    A document of an instrument that is out of order carries no verdict: its findings lose their results.

    Attributes:
        study: Which study: the claim's field of the same name.
        title: Heading of the page, e.g. "Biofeedback".
        claim: The claim as frozen.
        claim_hash: Its hash.
        models: The model that was judged, then every other model that took part.
        data: What it was made on.
        package_version: Version of this package.
        started: When the run began.
        finished: When it ended.
        findings: Every question.
        published: Published figures beside this run's, on the same axes.
        published_sources: Where they come from, one line each.
        known_answers: What the instrument said of reporters whose answer is known, on these very trials.
        instrument_ok: Whether every check of the instrument passed.
        instrument_failures: Failures beside the known answers, one sentence each.
        limits: What may not be concluded.
        reproduce: Commands that repeat the study, in order.
        notes: Anything else.
    """

    schema_version: Literal[1] = LABELS_DOCUMENT
    study: str
    title: Text
    claim: LabelsClaim
    claim_hash: str
    models: Annotated[tuple[ModelCard, ...], Field(min_length=1)]
    data: DataCard
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    findings: tuple[LabelsFinding, ...]
    published: tuple[Picture, ...] = ()
    published_sources: tuple[Text, ...] = ()
    known_answers: tuple[KnownAnswer, ...] = ()
    instrument_ok: bool
    instrument_failures: tuple[str, ...] = ()
    limits: tuple[Text, ...] = ()
    reproduce: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _no_verdict_from_a_broken_instrument(self) -> Self:
        if self.instrument_ok and self.failed_checks:
            raise ValueError("instrument_ok is true, but a check failed")
        names = [finding.name for finding in self.findings]
        if len(set(names)) < len(names):
            raise ValueError(f"findings must have names of their own; there are {', '.join(names)}")
        if self.study != self.claim.study:
            raise ValueError(f"study is {self.study}, the claim's is {self.claim.study}")
        if not self.instrument_ok:
            bare = tuple(finding.model_copy(update={"results": ()}) for finding in self.findings)
            object.__setattr__(self, "findings", bare)
        return self

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Every failed check of the instrument, one sentence each."""
        failed = [item.failure for item in self.known_answers if not item.passed]
        return (*dict.fromkeys(failed), *self.instrument_failures)
