"""The investigation without a language model, from a screened prompt to a report, as a generator.

It asks for batches and is sent the rate of each; whoever drives it draws and judges responses, and may drive many
searches side by side. Exploring proves nothing: every edit that is reported is fixed first, and is then measured on a
fresh batch of full size, against a baseline that is drawn with it. The batch that was screened chose the behaviour, and
the baseline that exploring began with chose the edits; neither judges them. Edits that change the rate get a control,
which was fixed by the prompt and the edit alone and is drawn last (:mod:`.specificity`).
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

from firsthand.counterfactual.deciding import decided
from firsthand.counterfactual.edits import edited
from firsthand.counterfactual.investigating.without_model.exploring import BudgetSpentError, Explorer, Steps
from firsthand.counterfactual.investigating.without_model.findings import Findings
from firsthand.counterfactual.investigating.without_model.hypotheses import Planned, planned
from firsthand.counterfactual.investigating.without_model.looking import look
from firsthand.counterfactual.investigating.without_model.reporting import reported
from firsthand.counterfactual.investigating.without_model.settings import SearchSettings
from firsthand.counterfactual.investigating.without_model.specificity import Tested, with_controls
from firsthand.counterfactual.investigation import Experiment, Investigation, Screened
from firsthand.counterfactual.rates import Rate
from firsthand.counterfactual.responses import Request

Search = Steps[Investigation]
"""Asks for batches, is sent the rate of each, and returns the investigation."""

INVESTIGATOR: Final = "without a model, version 2"
"""Who investigated. The number goes up when the same responses could lead to another report."""


def search(screened: Screened, target: str, settings: SearchSettings) -> Search:
    """Looks for the smallest edits of a prompt that change how often a behaviour occurs.

    Yields:
        Batches that are wanted, named ``explore.baseline``, ``explore.N.I`` (batch I of experiment N), ``baseline.I``
        and ``confirm.N``; is to be sent one rate for each, in the same order.

    Returns:
        The investigation, with what was explored, what was confirmed, and a report.
    """
    prompt = screened.prompt
    baseline = (yield [Request(prompt=prompt, batch="explore.baseline", samples=settings.samples)])[0]
    findings = Findings.of(prompt)
    explorer = Explorer(prompt, baseline, settings, _allowance(settings))
    plan: list[Planned] = []
    held = 0
    if can_fall(baseline, settings):
        try:
            yield from look(explorer, settings, findings)
        except BudgetSpentError:
            findings.spent = True
        findings.unjudged = explorer.unjudged
        explored = sum(one.rate.responses for one in explorer.experiments)
        left = settings.responses - (1 + settings.baselines) * settings.samples - explored
        batches = min(settings.confirmed, left // settings.samples)
        held = min(settings.controls, max(0, batches - 1))
        plan = planned(findings, batches - held)
    experiments = explorer.experiments
    tests: list[Tested] = []
    if plan:
        baseline, tests = yield from _confirmed(findings, plan, held, settings, len(experiments))
    return Investigation(
        target=target,
        investigator=INVESTIGATOR,
        screened=screened,
        baseline=baseline,
        experiments=(*experiments, *(test for _, test in tests)),
        report=reported(screened, baseline, findings, tests, settings, len(plan) + held),
    )


def can_fall(baseline: Rate, settings: SearchSettings) -> bool:
    """Whether the rate is high enough that an edit could lower it by as much as counts."""
    return baseline.share is not None and baseline.share >= settings.least_change


def _allowance(settings: SearchSettings) -> int:
    """Responses for exploring: what baselines and confirmed edits leave, and at least half of what there is."""
    rest = settings.responses - (1 + settings.baselines) * settings.samples
    reserved = min(settings.confirmed, max(1, rest // settings.samples // 2))
    return rest - reserved * settings.samples


def _confirmed(
    findings: Findings, plan: Sequence[Planned], held: int, settings: SearchSettings, before: int
) -> Steps[tuple[Rate, list[Tested]]]:
    """The baseline, and every planned edit and every control judged against it, all on fresh responses."""
    edits = len(plan) + held
    bases = [
        Request(prompt=findings.prompt, batch=f"baseline.{number}", samples=settings.samples)
        for number in range(1, settings.baselines + 1)
    ]
    requests = _requests(findings, plan, 1, settings)
    rates = yield [*bases, *requests]
    baseline = reduce(add, rates[: len(bases)])
    tests = _judged(plan, requests, rates[len(bases) :], baseline, settings, edits, before)
    tests, controls = with_controls(findings, tests, held)
    if controls:
        requests = _requests(findings, controls, len(plan) + 1, settings)
        tests += _judged(controls, requests, (yield requests), baseline, settings, edits, before + len(plan))
    return baseline, tests


def _requests(findings: Findings, plan: Sequence[Planned], first: int, settings: SearchSettings) -> list[Request]:
    return [
        Request(prompt=edited(findings.prompt, one.edit), batch=f"confirm.{number}", samples=settings.samples)
        for number, one in enumerate(plan, first)
    ]


def _judged(
    plan: Sequence[Planned],
    requests: Sequence[Request],
    rates: Sequence[Rate],
    baseline: Rate,
    settings: SearchSettings,
    edits: int,
    before: int,
) -> list[Tested]:
    """Edits with their experiments; ``edits`` are all that are judged together, whether their batch is drawn or not."""
    return [
        (
            one,
            Experiment(
                number=number,
                edit=one.edit,
                purpose=_purpose(one),
                stage="confirmed",
                batch=request.batch,
                rate=rate,
                decision=decided(baseline, rate, least=settings.least_change, level=settings.level, edits=edits),
                control_of=one.of,
            ),
        )
        for number, (one, request, rate) in enumerate(zip(plan, requests, rates, strict=True), before + 1)
    ]


def _purpose(one: Planned) -> str:
    if one.role != "control":
        return f"Hypothesis: {one.hypothesis}. Edit: {one.done}."
    of = " and ".join(str(number) for number in one.of)
    return f"Control of experiment {of}: would {one.hypothesis} do the same? Edit: {one.done}."
