"""What is claimed, and how it will be judged, as data.

A claim reads: *under conditions C, report R carries information about private state S through a path unavailable to
observers with public evidence X and Y*. It is written before a run, frozen (see :mod:`firsthand.claims.freeze`), and a
run refuses to start from a claim that changed since. All choices that could be made after seeing data are fields here.
"""

from collections.abc import Hashable, Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from firsthand.vocabulary import CONTROLS, Capability, Condition, Kind, Timing

Fraction = Annotated[float, Field(gt=0.0, lt=1.0)]

CLUSTERS = ("block", "carrier")
"""The cluster columns that the register study writes."""


def _refuse_repeats(field: str, values: Sequence[Hashable]) -> None:
    twice = [str(value) for value in dict.fromkeys(values) if values.count(value) > 1]
    if twice:
        raise ValueError(f"{field} names {', '.join(twice)} more than once")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StateSpec(_Part):
    """The private referent S: the sign of a direction added to the residual stream at a register's tokens.

    Attributes:
        name: What the state is called in tables.
        site: Residual site family; the layer is chosen on selection blocks from ``layers``.
        layers: Candidate layers, counted from 0 at the first block. ``None`` means a quarter and half of the model's
            depth.
        doses: Candidate doses, in units of the mean residual norm at the register's tokens.
        direction_seed: Seed of the random unit direction whose sign is the state.
        timing: When the edit acts.
    """

    name: str = "register bit"
    site: Literal["resid_post"] = "resid_post"
    layers: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    doses: tuple[Annotated[float, Field(gt=0.0, allow_inf_nan=False)], ...] = (0.3, 0.6)
    direction_seed: Annotated[int, Field(ge=0)] = 0
    timing: Timing = Timing.PREFILL

    @model_validator(mode="after")
    def _grid_is_not_empty(self) -> Self:
        if not self.doses or (self.layers is not None and not self.layers):
            raise ValueError("state.layers and state.doses must each hold at least one value")
        _refuse_repeats("state.layers", self.layers or ())
        _refuse_repeats("state.doses", [f"{dose:g}" for dose in self.doses])
        if self.timing is not Timing.PREFILL:
            raise ValueError(f"state.timing must be prefill: study 'register' cannot write {self.timing}")
        return self


class ReportSpec(_Part):
    """How R is elicited: opaque codes, re-drawn for each block, scored over the full vocabulary.

    Attributes:
        format: The only format so far: exact log-probabilities of opaque codes.
        code_letters: The letters from which each block draws its codes.
    """

    format: Literal["opaque_codes"] = "opaque_codes"
    code_letters: str = "EJMOQSUVYZ"


class PublicSpec(_Part):
    """The public evidence X; the visible answer Y is the model's own.

    Attributes:
        cue_reliability: Probability that the public cue names the pre-state.
    """

    cue_reliability: Annotated[float, Field(ge=0.5, lt=1.0)] = 0.72


class DesignSpec(_Part):
    """How many blocks, and what separates choosing from judging.

    A block holds every kind once for each pre-state: ten trials, one codebook, one carrier text.
    """

    selection_blocks: Annotated[int, Field(ge=1)] = 6
    confirmation_blocks: Annotated[int, Field(ge=2)] = 24
    seed: Annotated[int, Field(ge=0)] = 0


class AnalysisSpec(_Part):
    """The rules of judgement, fixed in advance.

    Attributes:
        alpha: One-sided level of every test.
        equivalence_margin: Largest difference (in proportions) that counts as no difference.
        minimum_coverage: Least mean probability mass on valid codes; below it a verdict is ``insufficient``.
        minimum_effect: Least gap or specificity margin that counts as privileged access.
        minimum_sensitivity: Least accuracy of the wire or probe before an absence may be concluded.
        impact_tolerance: Largest relative error of the matched impact (KL) of a control.
        bootstrap_draws: Draws of the cluster bootstrap.
        clusters: Columns that name the independent units; every one is analysed, the widest result counts.
    """

    alpha: Fraction = 0.05
    equivalence_margin: Fraction = 0.15
    minimum_coverage: Fraction = 0.5
    minimum_effect: Fraction = 0.05
    minimum_sensitivity: Fraction = 0.9
    impact_tolerance: Fraction = 0.15
    bootstrap_draws: Annotated[int, Field(ge=200, le=100_000)] = 2000
    clusters: tuple[str, ...]

    @model_validator(mode="after")
    def _clusters_are_named(self) -> Self:
        if not self.clusters:
            raise ValueError("analysis.clusters must name at least one column of independent units, e.g. [block]")
        _refuse_repeats("analysis.clusters", self.clusters)
        return self


class Claim(_Part):
    """One preregistered claim.

    Attributes:
        title: One sentence that a reader understands.
        study: Which protocol makes the trials.
        model: Name, folder, GGUF file or Hugging Face id of the model that reports.
        controls: Trial kinds that the report must reject; all four are needed for any positive verdict.
        observers: Names (or ``package.module:Class``) of the observers that must be beaten.
        capabilities: What is asked for and judged, each apart; identification and detection always, since impact is
            matched only where both are asked.
        conditions: Whether observers see Y.
    """

    version: Literal[1] = 1
    title: str = "The model reports a private bit that was put into its activations."
    study: Literal["register"] = "register"
    model: str = "smollm2"
    state: StateSpec = StateSpec()
    report: ReportSpec = ReportSpec()
    public: PublicSpec = PublicSpec()
    design: DesignSpec = DesignSpec()
    controls: tuple[Kind, ...]
    observers: tuple[str, ...]
    capabilities: tuple[Capability, ...] = (Capability.IDENTIFICATION, Capability.DETECTION, Capability.CONFIDENCE)
    conditions: tuple[Condition, ...] = (Condition.Y_WITHHELD, Condition.Y_SHOWN)
    analysis: AnalysisSpec

    @model_validator(mode="after")
    def _has_controls_and_observers(self) -> Self:
        missing = sorted(set(CONTROLS) - set(self.controls))
        if missing:
            raise ValueError(f"controls must name every control; missing: {', '.join(missing)}")
        if Kind.TARGET in self.controls:
            raise ValueError("controls must not name target: its state changes")
        if not self.observers:
            raise ValueError("observers must name at least one observer that has to be beaten")
        if not self.capabilities or not self.conditions:
            raise ValueError("capabilities and conditions must not be empty")
        needed = {Capability.IDENTIFICATION, Capability.DETECTION}
        odd = sorted(set(self.capabilities) - needed - {Capability.CONFIDENCE})
        if odd:
            raise ValueError(f"study 'register' cannot ask for: {', '.join(odd)}")
        unasked = sorted(needed - set(self.capabilities))
        if unasked:
            raise ValueError(f"capabilities of study 'register' must name: {', '.join(unasked)}")
        unknown = sorted(set(self.analysis.clusters) - set(CLUSTERS))
        if unknown:
            raise ValueError(
                f"analysis.clusters names {', '.join(unknown)}; study 'register' has the columns {', '.join(CLUSTERS)}"
            )
        for field in ("controls", "observers", "capabilities", "conditions"):
            _refuse_repeats(field, getattr(self, field))
        return self
