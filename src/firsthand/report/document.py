"""Everything that a report shows, as one versioned document.

The page, the terminal table and ``--json`` are three renderings of an :class:`AuditDocument`. It holds results, not raw
traces; importing this module is quick and pulls in no chart or template library. The JSON schema is
``AuditDocument.model_json_schema()``.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from firsthand.analysis.results import CapabilityResult, Estimate, Profile
from firsthand.claims.claim import Claim
from firsthand.report.formats import Unit
from firsthand.vocabulary import Capability, Condition, Kind, Verdict

DOCUMENT_VERSION: Literal[1] = 1

Probability = Annotated[float, Field(ge=0.0, le=1.0)]
# Probabilities summed in float32 may exceed one by rounding; anything beyond that is a mistake of the caller.
Mass = Annotated[float, Field(ge=-1e-4, le=1.0 + 1e-4)]


def _encodable(text: str) -> str:
    """Spell out lone surrogates, the only characters that no file can hold."""
    if text.isascii():
        return text
    return "".join(f"⟨U+{ord(c):04X}⟩" if "\ud800" <= c <= "\udfff" else c for c in text)


Text = Annotated[str, AfterValidator(_encodable)]
"""Text that came from a model or a user, in a form that can always be written."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelCard(_Part):
    """Which model reported, and in what exact state.

    Attributes:
        name: The name that the claim gave.
        architecture: Class name of the model.
        layers: Number of blocks.
        parameters: Number of parameters.
        weights_sha256: Hash over the weights.
        tokenizer_sha256: Hash over the tokenizer.
        template_sha256: Hash over the chat template; ``None`` for a model that has none.
        dtype: Number format of the computation.
        device: Where it ran.
    """

    name: str
    architecture: str
    layers: Annotated[int, Field(ge=1)]
    parameters: Annotated[int, Field(ge=0)]
    weights_sha256: str
    tokenizer_sha256: str
    template_sha256: str | None = None
    dtype: str
    device: str


class Cell(_Part):
    """One setting of the edit: the layer (0 is the first block) and the dose in mean residual norms."""

    layer: Annotated[int, Field(ge=0)]
    dose: float


class SelectionRow(_Part):
    """One cell of the grid, scored on selection blocks only.

    Attributes:
        layer: Layer of the edit, counted from 0.
        dose: Dose of the edit, in mean residual norms.
        score: What the cell was chosen by; its meaning is in :attr:`Selection.criterion`.
        n_trials: Trials behind the score.
        estimate: The same score with its interval, where one was made.
        note: Why the cell could not be used, if so.
    """

    layer: Annotated[int, Field(ge=0)]
    dose: float
    score: float
    n_trials: Annotated[int, Field(ge=0)]
    estimate: Estimate | None = None
    note: str | None = None


class Selection(_Part):
    """How layer and dose were chosen, and what choosing would have flattered.

    Attributes:
        chosen: The cell that the confirmation blocks were run with.
        rows: The whole grid.
        criterion: What the selection score is, in a few words.
        unit: How the score is written.
        naive_best: The best of the grid as scored on the very blocks that chose it: what a report without held-out
            confirmation would have printed.
        confirmed: The same figure on confirmation blocks.
    """

    chosen: Cell
    rows: tuple[SelectionRow, ...] = ()
    criterion: str = "selection score"
    unit: Unit = Unit.PERCENT
    naive_best: Estimate | float | None = None
    confirmed: Estimate | None = None


class KnownAnswer(_Part):
    """One question that was put to the instrument itself, and what it answered.

    Attributes:
        reporter: Name of the reporter whose answer is known in advance.
        description: What it is, in one sentence.
        capability: What was judged.
        condition: Under which condition; ``None`` if under all.
        expected: The verdict that it must get.
        also_accepted: Other verdicts that would be as right.
        obtained: The verdict that it got; ``None`` if none was reached.
        passed: Whether the instrument answered as it must.
        reasons: Why the verdict came out so.
        result: The full result behind the verdict, if it is to be kept.
    """

    reporter: str
    description: str
    capability: Capability
    condition: Condition | None = None
    expected: Verdict
    also_accepted: tuple[Verdict, ...] = ()
    obtained: Verdict | None = None
    passed: bool
    reasons: tuple[str, ...] = ()
    result: CapabilityResult | None = None

    @model_validator(mode="after")
    def _pass_means_an_accepted_verdict(self) -> Self:
        if self.passed and self.obtained not in (self.expected, *self.also_accepted):
            raise ValueError(
                f"known answer of '{self.reporter}' ({self.capability}) is marked passed, but {self.expected} was "
                f"expected and {self.obtained} obtained"
            )
        return self

    @property
    def failure(self) -> str:
        """What was expected and what came instead, in one line."""
        got = self.obtained if self.obtained is not None else "no verdict"
        return f"{self.reporter}, {self.capability}: expected {self.expected}, got {got}"


class TrialAnswer(_Part):
    """What the report answered to one question of one trial.

    Attributes:
        capability: What was asked for.
        condition: Under which condition the report was taken; ``None`` if it is the same under all.
        question: The question as the model read it, if it is to be shown.
        code: The answer as given (an opaque code); ``None`` if no valid answer was reached.
        meaning: What the code stands for in this block.
        probability: Probability of that answer; for confidence, the confidence itself.
        coverage: Probability mass on all valid answers together.
        truth: What would have been right; ``None`` where nothing is right or wrong.
        correct: Whether the answer was right; ``None`` where that has no meaning.
    """

    capability: Capability
    condition: Condition | None = None
    question: Text | None = None
    code: Text | None
    meaning: Text | None = None
    probability: Mass
    coverage: Mass
    truth: Text | None = None
    correct: bool | None = None


class TrialSample(_Part):
    """One trial as a reader may browse it. All text is shown, never interpreted.

    Attributes:
        trial_id: Identifier in the trace.
        block: Block that the trial belongs to.
        kind: What was done after the public evidence was frozen.
        prompt: The public text X.
        visible_answer: The visible answer Y; ``None`` if there was none.
        truth: The hidden facts by name, e.g. ``{"pre-state": "one", "post-state": "zero"}``.
        codes: Opaque code to meaning, in this block.
        answers: What was reported.
    """

    trial_id: str
    block: str | int
    kind: Kind
    prompt: Text
    visible_answer: Text | None = None
    truth: dict[Text, Text] = Field(default_factory=dict)
    codes: dict[Text, Text] = Field(default_factory=dict)
    answers: tuple[TrialAnswer, ...] = ()


class FreezeEntry(_Part):
    """Proof of order for one block: the public evidence was hashed before the hidden assignment was drawn."""

    block: str | int
    public_sha256: str
    frozen_at: AwareDatetime
    assigned_at: AwareDatetime


class ObserverNotRun(_Part):
    """An observer that took no part, and why."""

    name: str
    reason: str


class AuditDocument(_Part):
    """One audit, complete: what was claimed, what was found, how far to trust it and how to repeat it.

    A document of an instrument that is out of order carries no verdict: on construction with ``instrument_ok`` false
    its ``profile`` becomes ``None``, so that neither page nor table nor JSON can give one.

    Attributes:
        claim: The claim as frozen.
        claim_hash: Its hash.
        model: The model that was judged.
        package_version: Version of this package.
        started: When the run began.
        finished: When it ended.
        profile: The verdicts with all their numbers; ``None`` if the instrument failed.
        selection: How layer and dose were chosen.
        known_answers: What the instrument said of reporters whose answer is known.
        instrument_ok: Whether every check of the instrument passed.
        instrument_failures: Failures beside the known answers, one sentence each.
        trials: Trials to browse.
        freeze_log: Excerpts of the log that shows the order of events.
        observers_not_run: Observers that took no part.
        limits: What may not be concluded, one sentence each.
        reproduce: Commands that repeat the audit, in order.
        notes: Anything else a reader should know, one sentence each.
    """

    schema_version: Literal[1] = DOCUMENT_VERSION
    claim: Claim
    claim_hash: str
    model: ModelCard
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    profile: Profile | None = None
    selection: Selection | None = None
    known_answers: tuple[KnownAnswer, ...] = ()
    instrument_ok: bool
    instrument_failures: tuple[str, ...] = ()
    trials: tuple[TrialSample, ...] = ()
    freeze_log: tuple[FreezeEntry, ...] = ()
    observers_not_run: tuple[ObserverNotRun, ...] = ()
    limits: tuple[str, ...] = ()
    reproduce: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _no_verdict_from_a_broken_instrument(cls, data: Any) -> Any:
        if isinstance(data, dict) and data.get("instrument_ok") is False and data.get("profile") is not None:
            return {**data, "profile": None}
        return data

    @model_validator(mode="after")
    def _instrument_and_profile_agree(self) -> Self:
        failed = self.failed_checks
        if self.instrument_ok and failed:
            raise ValueError(f"instrument_ok is true, but these checks failed: {'; '.join(failed)}")
        if not self.instrument_ok and not failed:
            raise ValueError("instrument_ok is false, but no failed check is named; add one to instrument_failures")
        if self.instrument_ok and self.profile is None:
            raise ValueError("profile is missing, though the instrument is in order")
        return self

    @property
    def failed_checks(self) -> tuple[str, ...]:
        """Every failed check of the instrument, one sentence each."""
        failed = [item.failure for item in self.known_answers if not item.passed]
        return (*dict.fromkeys(failed), *self.instrument_failures)
