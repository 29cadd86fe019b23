"""One investigation in progress: edits are made and measured, and a report is taken, or refused with a reason."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from firsthand.counterfactual.behaviours import Verdict
from firsthand.counterfactual.deciding import change_interval, decided
from firsthand.counterfactual.edits import Edit, Operation, edited
from firsthand.counterfactual.inspecting.stages.batches import Classified, classify, rate_of, respond, shown
from firsthand.counterfactual.inspecting.stages.calling import Calls
from firsthand.counterfactual.investigation import Cause, Experiment, Report, Screened
from firsthand.counterfactual.part import Part
from firsthand.counterfactual.prompts import Prompt
from firsthand.counterfactual.quoting import as_meant
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request, Response
from firsthand.errors import CounterfactualError

PartT = TypeVar("PartT", bound=Part)

_Text = Annotated[str, Field(min_length=1, max_length=8_000)]

QUOTES = 2
"""Responses that are quoted to the investigator of each verdict."""

LONGEST = 100_000
"""Characters that an edited prompt may have."""


class Resample(Part):
    """Arguments of the tool ``resample``."""

    hypothesis: _Text
    operations: Annotated[tuple[Operation, ...], Field(min_length=1, max_length=40)]


class Bearing(Part):
    """A hypothesis in a report."""

    hypothesis: _Text
    experiments: Annotated[tuple[int, ...], Field(min_length=1)]


class Line(Part):
    """What was changed in one experiment, in the investigator's words."""

    experiment: int
    edit: _Text


class Filed(Part):
    """Arguments of the tool ``report``."""

    observed: _Text
    causes: tuple[Bearing, ...]
    refuted: tuple[Bearing, ...]
    answer: _Text
    lines: tuple[Line, ...]


class Refused(Exception):  # noqa: N818 - no error of the program: the investigator is told, and goes on
    """A tool call that is not carried out, and why."""


@dataclass
class Bench:
    """One investigation in progress.

    Attributes:
        calls: The sample's calls.
        screened: What is investigated.
        baseline: Counts on the prompt as it is, drawn after screening.
        experiments: What was measured.
        report: What was filed.
        lines: The investigator's line for each experiment.
        refusals: Why tool calls were refused, in order.
    """

    calls: Calls
    screened: Screened
    baseline: Rate
    experiments: list[Experiment] = field(default_factory=list)
    report: Report | None = None
    lines: dict[int, str] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Experiments that may still be run."""
        return self.calls.settings.spending.experiments - len(self.experiments)

    async def do(self, tool: str, arguments: dict[str, Any], parse_error: str | None) -> tuple[str, bool]:
        """Carry out a tool call; returns what the investigator is told, and whether it was carried out."""
        try:
            if parse_error is not None:
                raise Refused("The arguments could not be read as JSON.")
            if tool == "resample":
                return await self._resample(_parsed(arguments, Resample)), True
            if tool == "report":
                return self._file(_parsed(arguments, Filed)), True
            raise Refused("There is no such tool. Use resample or report.")
        except Refused as refused:
            self.calls.count("investigator", "refused tool call")
            self.refusals.append(str(refused))
            return f"Not carried out: {refused}", False

    async def _resample(self, wanted: Resample) -> str:
        if self.left <= 0:
            raise Refused("No experiments are left. File the report now.")
        edit = meant(wanted.operations, self.screened.prompt)
        after = self._after(edit)
        number = len(self.experiments) + 1
        batch = f"explore.{number}"
        responses = await respond(
            self.calls, Request(prompt=after, batch=batch, samples=self.calls.settings.sampling.samples)
        )
        found = await classify(self.calls, self.screened.behaviour, responses, batch)
        rate = rate_of(found)
        self.experiments.append(
            Experiment(
                number=number,
                edit=edit,
                purpose=wanted.hypothesis,
                stage="explored",
                batch=batch,
                rate=rate,
                decision=decided(self.baseline, rate),
                error=None if rate.valid else "no response could be judged",
            )
        )
        return self._told(number, rate, responses, found)

    def _after(self, edit: Edit) -> Prompt:
        try:
            after = edited(self.screened.prompt, edit)
        except CounterfactualError as error:
            raise Refused(str(error)) from None
        if after.characters > LONGEST:
            raise Refused(f"The edited prompt has {after.characters:,} characters; at most {LONGEST:,} are allowed.")
        for earlier in self.experiments:
            if edited(self.screened.prompt, earlier.edit).id == after.id:
                raise Refused(f"Experiment {earlier.number} measured the same prompt. Make another edit.")
        return after

    def _told(self, number: int, rate: Rate, responses: list[Response], found: list[Classified]) -> str:
        low, high = change_interval(self.baseline, rate)
        lines = [
            f"Experiment {number}. {described(rate)} On the prompt as it is: {described(self.baseline)}",
            f"The change lies between {100 * low:+.0f} and {100 * high:+.0f} points (95% interval).",
            f"{self.left} experiments are left.",
        ]
        limit = self.calls.settings.lengths.quote
        for verdict in (Verdict.YES, Verdict.NO):
            of_it = [index for index, one in enumerate(found) if one.verdict == verdict][:QUOTES]
            lines += [
                shown(responses[index], self.calls, f"response {index + 1}, judged {verdict.value}", limit)
                for index in of_it
            ]
        return "\n".join(lines)

    def _file(self, filed: Filed) -> str:
        run = {one.number for one in self.experiments}
        lines = {one.experiment: one.edit for one in filed.lines}
        if set(lines) != run or len(lines) != len(filed.lines):
            wanted = ", ".join(map(str, sorted(run))) or "none"
            raise Refused(f"`lines` needs exactly one line for each experiment that was run ({wanted}).")
        for bearing in (*filed.causes, *filed.refuted):
            unknown = sorted(set(bearing.experiments) - run)
            if unknown:
                raise Refused(f"Experiment {unknown[0]} was not run, and is named under {bearing.hypothesis[:80]!r}.")
        self.lines = lines
        self.report = Report(
            observed=filed.observed,
            causes=tuple(self._cause(one) for one in filed.causes),
            refuted=tuple(self._cause(one) for one in filed.refuted),
            answer=filed.answer,
        )
        return "The report is filed."

    def _cause(self, bearing: Bearing) -> Cause:
        numbers = tuple(sorted(set(bearing.experiments)))
        rates = {one.number: one.rate for one in self.experiments}
        evidence = tuple(evidence_of(n, self.lines[n], self.baseline, rates[n]) for n in numbers)
        return Cause(hypothesis=bearing.hypothesis, evidence=evidence, experiments=numbers)


def meant(operations: tuple[Operation, ...], prompt: Prompt) -> Edit:
    """An edit by somebody who was shown the prompt quoted, where some brackets are others."""
    original = "\n".join(turn.content for turn in prompt.turns)
    names = ("find", "text", "content")
    return Edit(
        operations=tuple(
            one.model_copy(update={n: as_meant(getattr(one, n), original) for n in names if hasattr(one, n)})
            for one in operations
        )
    )


def evidence_of(number: int, line: str, before: Rate, after: Rate) -> str:
    """One line for an experiment, with the rates that were measured and not those that somebody remembers."""
    return f"Experiment {number}: {' '.join(line.split())} ({_percent(before)} → {_percent(after)})"


def described(rate: Rate) -> str:
    """A rate in a sentence."""
    low, high = rate.interval()
    invalid = f" {rate.invalid} more could not be judged." if rate.invalid else ""
    return (
        f"The behaviour occurs in {rate.yes} of {rate.valid} responses "
        f"({_percent(rate)}, 95% interval {100 * low:.0f}-{100 * high:.0f}%).{invalid}"
    )


def _percent(rate: Rate) -> str:
    return "unknown" if rate.share is None else f"{round(100 * rate.share)}%"


def _parsed(arguments: dict[str, Any], form: type[PartT]) -> PartT:
    try:
        return form.model_validate_json(json.dumps(_without_nulls(arguments)), strict=True)
    except ValidationError as error:
        told = [
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"
            for one in error.errors(include_input=False, include_url=False)[:4]
        ]
        raise Refused(f"The arguments do not fit. {'; '.join(told)}.") from None


def _without_nulls(value: Any) -> Any:
    """Fields that a provider fills in with null are left out, as the model meant them to be."""
    if isinstance(value, dict):
        return {name: _without_nulls(one) for name, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value
