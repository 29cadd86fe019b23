"""Everything that the report of counterfactual investigations shows, as one versioned document.

Every run of ``firsthand investigate`` ends in an :class:`InvestigationsDocument`; it is stored as ``result.json``, and
the pages, the terminal and the exported files are renderings of it. Its JSON schema is
``InvestigationsDocument.model_json_schema()``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, Field, model_validator
from pydantic_core import PydanticSerializationError

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.claims import POINTS, Claim
from firsthand.counterfactual.costs import Costs
from firsthand.counterfactual.investigation import Investigation
from firsthand.counterfactual.part import Part
from firsthand.report.document import Text, _encodable, _Part

INVESTIGATIONS_DOCUMENT: Literal[1] = 1

Count = Annotated[int, Field(ge=0)]
P = TypeVar("P", bound=Part)


class Step(_Part):
    """One step: how many came to it, how many it kept, and why it let the rest go.

    Attributes:
        name: What was done, e.g. "sampled".
        unit: What is counted, in the plural.
        given: How many came to it.
        kept: How many were left after it.
        dropped: How many it let go, by reason.
        true: Of claims, how many of the kept are true.
        clusters: Of claims, how many clusters the kept ones come from.
        note: What else there is to know, e.g. that a step did not run.
    """

    name: Text
    unit: Text = "prompts"
    given: Count
    kept: Count
    dropped: dict[Text, Count] = Field(default_factory=dict)
    true: Count | None = None
    clusters: Count | None = None
    note: Text = ""

    @model_validator(mode="after")
    def _accounts_for_all(self) -> Self:
        gone = sum(self.dropped.values())
        if self.given != self.kept + gone:
            raise ValueError(
                f"{self.given} {self.unit} came to the step '{self.name}', and it accounts for {self.kept + gone}: "
                f"{self.kept} kept, {gone} dropped"
            )
        return self


def _joined_up(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Steps that follow each other on the same things pass on what they keep."""
    for before, after in pairwise(steps):
        if before.unit == after.unit and before.kept != after.given:
            raise ValueError(
                f"'{before.name}' kept {before.kept} {before.unit}, and '{after.name}' was given {after.given}"
            )
    return steps


Steps = Annotated[tuple[Step, ...], AfterValidator(_joined_up)]


class Account(_Part):
    """Where every prompt that was read ended up: each in exactly one place.

    Attributes:
        began: How many there were.
        steps: What was done with them, in order. What a step keeps comes to the next.
    """

    began: Count
    steps: Steps = ()

    @model_validator(mode="after")
    def _nothing_is_lost(self) -> Self:
        if any(step.unit != "prompts" for step in self.steps):
            raise ValueError("an account of prompts counts prompts throughout")
        if self.steps and self.steps[0].given != self.began:
            raise ValueError(
                f"{self.began} prompts were read, and '{self.steps[0].name}' was given {self.steps[0].given}"
            )
        return self

    @classmethod
    def of(cls, began: int, *steps: tuple[str, Mapping[str, int]]) -> "Account":
        """An account from what every step dropped, by reason; reasons that nothing was dropped for are left out."""
        made, left = [], began
        for name, dropped in steps:
            gone = {why: count for why, count in dropped.items() if count}
            made.append(Step(name=name, given=left, kept=left - sum(gone.values()), dropped=gone))
            left = made[-1].kept
        return cls(began=began, steps=tuple(made))

    @property
    def kept(self) -> int:
        """How many are left after the last step."""
        return self.steps[-1].kept if self.steps else self.began

    @property
    def places(self) -> dict[tuple[str, str], int]:
        """How many ended where: by the step and reason that they were dropped for, and ``("", "kept")``."""
        found = {(step.name, why): count for step in self.steps for why, count in step.dropped.items()}
        return {**found, ("", "kept"): self.kept}


class Thresholds(_Part):
    """What labels and verification were decided by.

    Attributes:
        points: Change that a claim speaks of, in percentage points.
        true: Least measured change of a true claim.
        false: Most measured change of a false claim.
        score: Least mean score of the judges, 1 to 10.
        level: Coverage of intervals.
    """

    points: Annotated[float, Field(gt=0.0, le=100.0)] = POINTS
    true: Annotated[float, Field(gt=0.0, le=100.0)] = 50.0
    false: Annotated[float, Field(ge=0.0, le=100.0)] = 15.0
    score: Annotated[float, Field(ge=1.0, le=10.0)] = 8.0
    level: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.95


class LabelError(_Part):
    """How often labels of a set of claims must be expected to be wrong.

    Attributes:
        claims: Which claims, e.g. "true claims, filtered".
        labels: How many there are.
        wrong: Expected share of wrong labels.
        low: Lower end of its interval, where there is one.
        high: Upper end.
        how: How that was found, in one sentence.
    """

    claims: Text
    labels: Count
    wrong: Annotated[float, Field(ge=0.0, le=1.0)]
    low: float | None = None
    high: float | None = None
    how: Text = ""

    @classmethod
    def of(cls, claims: str, labels: int, estimate: tuple[float, float, float], how: str = "") -> "LabelError":
        """From an estimate and the ends of its interval."""
        wrong, low, high = estimate
        return cls(claims=claims, labels=labels, wrong=wrong, low=low, high=high, how=how)


class Sample(_Part):
    """A response that is shown as an example.

    Attributes:
        investigation: Identifier of the investigation.
        experiment: Number of the experiment; 0 for the baseline.
        text: What the target said.
        verdict: What was found of it.
        ended: Why it ended: ``stop``, ``length``, ``filter`` or ``error``.
    """

    investigation: str
    experiment: Count
    text: Text
    verdict: Verdict
    ended: Literal["stop", "length", "filter", "error"] = "stop"


def _storable(parts: tuple[P, ...]) -> tuple[P, ...]:
    """The parts, with lone surrogates spelled out: no file can hold one, and models do write them."""
    return tuple(
        part if _can_be_stored(part) else type(part).model_validate(_cleaned(part.model_dump())) for part in parts
    )


def _can_be_stored(part: Part) -> bool:
    try:
        part.model_dump_json()
    except (PydanticSerializationError, UnicodeEncodeError):
        return False
    return True


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, Mapping):
        return {_cleaned(key): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    return value


class InvestigationsDocument(_Part):
    """Counterfactual investigations of one target by one investigator, complete.

    Attributes:
        title: Heading of the page.
        target: Identity of the target.
        investigator: Who investigated: a model, or a procedure without one.
        roles: Who else took part, role to model or program.
        settings: How it was run, name to value: samples, temperature, levels, seeds, and so on.
        thresholds: What labels and verification were decided by.
        account: What became of every prompt that was read. A step "investigated" keeps the prompts for which a report
            was filed.
        investigations: Every investigation, unfinished ones included.
        claims: Every claim with a label.
        funnel: From investigations to claims: how many there were after every step, and what became of the others.
        label_errors: How often labels must be expected to be wrong.
        costs: Calls, tokens and money, by stage and role.
        samples: Responses that are shown as examples.
        cut_off: Share of the responses that an investigation rests on (its baseline and confirmed edits) that were cut
            off at the longest length, by its identifier; of investigations of which it is known.
        traces: Where the trace of an investigator stands, by identifier of the investigation.
        logs: Folder of the logs that Inspect's viewer shows; empty if there are none.
        package_version: Version of this package.
        started: When the run began.
        finished: When it ended.
        stopped: Why it ended before everything was done, if it did.
        notes: What else a reader should know, one sentence each.
        limits: What may not be concluded.
        reproduce: Commands that repeat the run, in order.
    """

    schema_version: Literal[1] = INVESTIGATIONS_DOCUMENT
    title: Text = "Counterfactual investigations"
    target: Text
    investigator: Text
    roles: dict[Text, Text] = Field(default_factory=dict)
    settings: dict[Text, Text] = Field(default_factory=dict)
    thresholds: Thresholds = Field(default_factory=Thresholds)
    account: Account
    investigations: Annotated[tuple[Investigation, ...], AfterValidator(_storable)] = ()
    claims: Annotated[tuple[Claim, ...], AfterValidator(_storable)] = ()
    funnel: Steps = ()
    label_errors: tuple[LabelError, ...] = ()
    costs: Costs | None = None
    samples: tuple[Sample, ...] = ()
    cut_off: dict[str, Annotated[float, Field(ge=0.0, le=1.0)]] = Field(default_factory=dict)
    traces: dict[str, Text] = Field(default_factory=dict)
    logs: Text = ""
    package_version: str
    started: AwareDatetime
    finished: AwareDatetime
    stopped: Text = ""
    notes: tuple[Text, ...] = ()
    limits: tuple[Text, ...] = ()
    reproduce: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _everything_belongs_to_an_investigation(self) -> Self:
        ids = Counter(one.id for one in self.investigations)
        twice = [name for name, count in ids.items() if count > 1]
        if twice:
            raise ValueError(f"a prompt is investigated once for each behaviour; twice: {', '.join(twice)}")
        for what, named in _references(self):
            strange = sorted(set(named) - set(ids))
            if strange:
                raise ValueError(f"{what} of investigations that are not there: {', '.join(strange[:3])}")
        return self

    @model_validator(mode="after")
    def _the_account_is_of_these_investigations(self) -> Self:
        reported = {one.screened.prompt.id for one in self.investigations if one.report is not None}
        for step in self.account.steps:
            if step.name == "investigated" and step.kept != len(reported):
                raise ValueError(
                    f"the account says that reports were filed for {step.kept} prompts, and they are here for "
                    f"{len(reported)}"
                )
        return self


def _references(document: InvestigationsDocument) -> Iterable[tuple[str, Iterable[str]]]:
    yield "claims", (claim.investigation for claim in document.claims)
    yield "samples", (sample.investigation for sample in document.samples)
    yield "cut-off shares", document.cut_off
    yield "traces", document.traces
