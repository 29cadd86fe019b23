"""Everything that the report of an injection study shows, as one versioned document.

The page, the terminal, ``--json`` and the exported files are renderings of an :class:`InjectionDocument`. Its JSON
schema is ``InjectionDocument.model_json_schema()``.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from firsthand.analysis.findings import Picture
from firsthand.analysis.results import CapabilityResult, Estimate
from firsthand.claims.injection import InjectionClaim
from firsthand.report.document import Cell, KnownAnswer, ModelCard, Text, _Part
from firsthand.report.formats import Unit
from firsthand.vocabulary import Kind

INJECTION_DOCUMENT: Literal[1] = 1


class GridRow(_Part):
    """One cell of the grid, on the selection concepts.

    Attributes:
        layer: Layer of the edit, counted from 0.
        dose: Dose, in mean residual norms.
        score: What cells are chosen by.
        rise: What would be claimed of it, e.g. the rise of "injected".
        unrelated: The rise of "yes" under the unrelated question, where that was asked.
        mean_kl: Mean KL divergence from the clean distribution, in nats.
        mean_entropy: Mean entropy of the next-token distribution, in nats.
        coverage: Mean mass on valid answers.
    """

    layer: Annotated[int, Field(ge=0)]
    dose: float
    score: Estimate
    rise: Estimate
    unrelated: Estimate | None = None
    mean_kl: float
    mean_entropy: float
    coverage: float


class Grid(_Part):
    """How a setting was chosen, and what choosing would have flattered.

    Attributes:
        setting: What the rows share, e.g. the framing.
        score_name: What ``score`` is, in a few words.
        rise_name: What ``rise`` is.
        rows: Every cell.
        score_unit: How ``score`` is written.
        rise_unit: How ``rise`` is written, and with it the figures of the selection.
        score_chance: The score of a cell in which nothing is shown.
        rise_chance: The same of the rise.
    """

    setting: str
    score_name: str
    rise_name: str
    score_unit: Unit = Unit.PERCENT
    rise_unit: Unit = Unit.POINTS
    score_chance: float = 0.5
    rise_chance: float = 0.0
    rows: tuple[GridRow, ...]


class Selection(_Part):
    """The choice among the cells of all grids.

    Attributes:
        grids: One a setting.
        chosen: The cell that was judged.
        chosen_setting: The setting that was judged.
        naive: The largest rise of all grids, on the very concepts that it was found on: what would have been claimed.
        naive_cell: Where it was found.
        naive_setting: In which setting.
        found: The rise in the chosen cell on the concepts that it was chosen on.
        confirmed: The rise in the chosen cell on the confirmation concepts.
    """

    grids: tuple[Grid, ...]
    chosen: Cell
    chosen_setting: str
    naive: Estimate
    naive_cell: Cell
    naive_setting: str
    found: Estimate | None = None
    confirmed: Estimate | None = None


class MatrixRow(_Part):
    """One condition of a response matrix.

    Attributes:
        arm: Name of the arm.
        label: What was done, in a few words.
        kind: Its trial kind, where it has one.
        shares: Rate of each answer among all trials of the arm, in the order of the matrix's answers.
        spread: Standard deviation of each rate over concepts.
        invalid: Rate of invalid answers.
        coverage: Mean mass on valid answers.
        mean_kl: Mean KL divergence from the clean distribution, in nats.
        mean_entropy: Mean entropy, in nats.
    """

    arm: str
    label: str
    kind: Kind | None = None
    shares: tuple[Estimate, ...]
    spread: tuple[float, ...]
    invalid: float
    coverage: float
    mean_kl: float
    mean_entropy: float


class ResponseMatrix(_Part):
    """What was answered in every condition: rows are conditions, columns answers."""

    title: str
    answers: tuple[str, ...]
    rows: tuple[MatrixRow, ...]
    note: str = ""


class FindingResult(_Part):
    """One question, asked and judged.

    Attributes:
        name: Identifier, e.g. ``detection-3``: what links and the names of exported files are made of.
        title: Heading, e.g. "Detection, three answers".
        asked: What the model was asked, in one sentence.
        setting: The setting that was judged, name to value.
        results: The judgement under each condition; none where something is shown and not judged.
        selection: How layer, dose and framing were chosen, where this question chose its own.
        matrices: Response matrices.
        pictures: Charts: rates by concept, arms, timings.
        notes: What else a reader should know, one sentence each.
        prompt: The prompt of one target trial, as the model read it.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]*$")]
    title: str
    asked: str
    setting: dict[str, str] = Field(default_factory=dict)
    results: tuple[CapabilityResult, ...] = ()
    selection: Selection | None = None
    matrices: tuple[ResponseMatrix, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    prompt: Text | None = None


class TransferRow(_Part):
    """One thing that was new to the report and to the probe.

    Attributes:
        new: What is new, e.g. "other concepts".
        explained: In one sentence.
        report: Share of prompts on which the injection moves the answer towards "injected".
        probe: Balanced accuracy of a probe fitted on the selection concepts in the chosen cell.
    """

    new: str
    explained: str
    report: Estimate
    probe: Estimate | None = None


class InjectionDocument(_Part):
    """One injection study, complete.

    A document of an instrument that is out of order carries no verdict: its findings lose their results.

    Attributes:
        claim: The claim as frozen.
        claim_hash: Its hash.
        model: The model that was judged.
        package_version: Version of this package.
        started: When the run began.
        finished: When it ended.
        concepts_choosing: Concepts on which settings were chosen.
        concepts_judging: Concepts on which verdicts rest.
        findings: Every question.
        transfer: What carries over to what was new.
        published: Published rates beside this run's, on the same axes.
        published_sources: Where they come from, one line each.
        known_answers: What the instrument said of reporters whose answer is known, on these very trials.
        instrument_ok: Whether every check of the instrument passed.
        instrument_failures: Failures beside the known answers, one sentence each.
        limits: What may not be concluded.
        reproduce: Commands that repeat the study, in order.
        notes: Anything else.
    """

    schema_version: Literal[1] = INJECTION_DOCUMENT
    claim: InjectionClaim
    claim_hash: str
    model: ModelCard
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    concepts_choosing: tuple[str, ...]
    concepts_judging: tuple[str, ...]
    findings: tuple[FindingResult, ...]
    transfer: tuple[TransferRow, ...] = ()
    published: tuple[Picture, ...] = ()
    published_sources: tuple[Text, ...] = ()
    known_answers: tuple[KnownAnswer, ...] = ()
    instrument_ok: bool
    instrument_failures: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _no_verdict_from_a_broken_instrument(self) -> Self:
        failed = [item for item in self.known_answers if not item.passed]
        if self.instrument_ok and (failed or self.instrument_failures):
            raise ValueError("instrument_ok is true, but a check failed")
        names = [finding.name for finding in self.findings]
        if len(set(names)) < len(names):
            raise ValueError(f"findings must have names of their own; there are {', '.join(names)}")
        if not self.instrument_ok:
            bare = tuple(finding.model_copy(update={"results": ()}) for finding in self.findings)
            object.__setattr__(self, "findings", bare)
        return self

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Every failed check of the instrument, one sentence each."""
        failed = [item.failure for item in self.known_answers if not item.passed]
        return (*dict.fromkeys(failed), *self.instrument_failures)

    def finding(self, name: str) -> FindingResult:
        """A finding by name.

        Raises:
            KeyError: If there is none.
        """
        found: dict[str, Any] = {finding.name: finding for finding in self.findings}
        return found[name]  # type: ignore[no-any-return]
